// SPDX-License-Identifier: Apache-2.0

package checkers

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/seed-720a3c77/harness/contract"
	"github.com/seed-720a3c77/harness/history"
)

func TestOrder(t *testing.T) { check(t, orderStories()) }

func orderStories() []story {
	retried := func() *tale { // p0/0 is sent again after p0/1 was, because its first answer was a refusal
		return tell(fifo).keyed("k").send("p0/0").answer("p0/0", contract.Rejected).publish("p0/1").publish("p0/0")
	}
	return []story{
		{"first effects in order", tell(fifo).keyed("k", ids(0, 2)...).work("w0", ids(0, 2)...).drained(), ""},
		{"one overtaken", tell(fifo).keyed("k", ids(0, 2)...).work("w0", "p0/1", "p0/0", "p0/2").drained(), "order-group p0/1; order-key p0/0"},
		{"adjacent inversions", tell(fifo).keyed("k", ids(0, 5)...).work("w0", "p0/3", "p0/4", "p0/5", "p0/0", "p0/1", "p0/2").drained(), "order-group p0/3 p0/4 p0/5; order-key p0/0"},
		{"without a key", tell(fifo).publish(ids(0, 1)...).work("w0", "p0/1", "p0/0").drained(), ""},
		{"sent again later", retried().work("w0", "p0/1", "p0/0").drained(), ""},
		{"unknown may be applied later", tell(fifo).keyed("k").send("p0/0").answer("p0/0", contract.Unknown).publish("p0/1").work("w0", "p0/1", "p0/0").drained(), "recovered p0/0"},
		{"producers one after another", tell(fifo).keyed("k", "p0/0").publish("p1/0").work("w0", "p1/0", "p0/0").drained(), "order-group p1/0; order-key p0/0"},
		{"producers at the same time", tell(fifo).keyed("k").send("p0/0").send("p1/0").answer("p0/0", contract.OK).answer("p1/0", contract.OK).work("w0", "p1/0", "p0/0").drained(), ""},
		{"second effect is no first", tell(fifo).lease(time.Second).keyed("k", ids(0, 1)...).deliver("w0", "p0/0").handle("w0", "p0/0").work("w0", "p0/1").at(2000).work("w1", "p0/0").drained(), "effect-duplicates p0/0; group-blocked p0/1; redelivered p0/0"},
		{"requeued on a queue", tell(rabbitmq).keyed("k", ids(0, 1)...).deliver("w0", "p0/0").nack("w0", "p0/0").work("w0", "p0/1").redelivered("w0", "p0/0").drained(), "redelivered p0/0"},
		{"a queue gives out of order", tell(rabbitmq).publish(ids(0, 2)...).work("w0", "p0/0", "p0/2", "p0/1").drained(), "order-partition p0/1"},
		{"a queue's two consumers", tell(rabbitmq).publish(ids(0, 2)...).work("w0", "p0/0", "p0/2").work("w1", "p0/1").drained(), ""},
		{"flagged on a queue", tell(rabbitmq).publish(ids(0, 1)...).work("w0", "p0/1").redelivered("w0", "p0/0").drained(), "wrong-count p0/0"},
		{"a log goes back", tell(kafka).publish(ids(0, 2)...).assign("w0", 0, "earliest").work("w0", "p0/0", "p0/2", "p0/1").drained(), "commit-regression p0/1; order-partition p0/1"},
		{"a log after a seek", tell(kafka).publish(ids(0, 2)...).assign("w0", 0, "earliest").work("w0", "p0/0", "p0/2").seek("w0", 1).work("w0", "p0/1").drained(), ""},
		{"key in two partitions", splitKey(), ""},
	}
}

// splitKey is two messages of one key in two partitions: their order is undecided.
func splitKey() *tale {
	t := tell(kafka).keyed("k", ids(0, 1)...)
	t.deliver("w0", "p0/1").edit(func(e *history.Event) { e.Place = t.place("orders|1") }).handle("w0", "p0/1")
	return t.work("w0", "p0/0").drained()
}

func TestDeadLetters(t *testing.T) { check(t, deadLetterStories()) }

func deadLetterStories() []story {
	limited := func() *tale { return tell(fifo).deadLetters(2).lease(time.Second).publish("p0/0") }
	times := func(n int) *tale {
		t := limited()
		for range n {
			t.deliver("w0", "p0/0").fail("w0", "p0/0").nack("w0", "p0/0")
		}
		return t
	}
	dead := func(t *tale) *tale { return t.drained().found("orders-dlq", "p0/0").audited("orders-dlq") }
	return []story{
		{"justified", dead(times(2)), "dead-lettered p0/0; redelivered p0/0"},
		{"seen by a consumer", times(2).read("orders-dlq", "p0/0").drained(), "dead-lettered p0/0; redelivered p0/0"},
		{"after its ack", dead(limited().deliver("w0", "p0/0").handle("w0", "p0/0").ack("w0", "p0/0")), "dead-letter-after-ack p0/0; dead-letter-false p0/0; dead-lettered p0/0"},
		{"premature", dead(limited().deliver("w0", "p0/0").at(2000).deliver("w0", "p0/0")), "dead-letter-premature p0/0; dead-lettered p0/0; redelivered p0/0"},
		{"false", dead(limited().deliver("w0", "p0/0").handle("w0", "p0/0").at(2000).deliver("w0", "p0/0")), "dead-letter-false p0/0; dead-lettered p0/0; redelivered p0/0"},
		{"too early", dead(times(1)), "dead-letter-early p0/0; dead-lettered p0/0"},
		{"a delivery may have been unseen", dead(times(1).pollFailed("w0")), "dead-lettered p0/0"},
		{"too late", dead(times(3)), "dead-letter-late p0/0; dead-lettered p0/0; redelivered p0/0 p0/0"},
		{"rejected by its consumer", dead(limited().deliver("w0", "p0/0").fail("w0", "p0/0").reject("w0", "p0/0")), "dead-lettered p0/0"},
		{"twice", dead(times(2).drained().found("orders-dlq", "p0/0")), "dead-letter-twice p0/0; dead-lettered p0/0; redelivered p0/0"},
		{"written by the client", forwarded(contract.OK), "dead-lettered p0/0"},
		{"write refused, acked anyway", forwarded(contract.Rejected), "lost-in-dead-lettering p0/0"},
		{"write unknown, nobody looked", forwarded(contract.Unknown), "undrained p0/0"},
		{"write unknown, not there", forwarded(contract.Unknown).audited("orders-dlq"), "lost-in-dead-lettering p0/0"},
		{"write unknown, there", forwarded(contract.Unknown).found("orders-dlq", "p0/0").audited("orders-dlq"), "dead-lettered p0/0"},
	}
}

// forwarded is a log's message that its worker wrote to the dead-letter topic itself.
func forwarded(class contract.Class) *tale {
	t := tell(kafka).deadLetters(0).publish("p0/0").deliver("w0", "p0/0").fail("w0", "p0/0")
	return t.sendTo("p0/0", "orders-dlq").answerFrom("p0/0", "orders-dlq", class, 0).ack("w0", "p0/0").drained()
}

// read delivers a message from another destination.
func (t *tale) read(destination, text string) *tale {
	t.ops["reader"]++
	t.add(history.Event{Kind: history.Delivery, Producer: id(text).Producer, Seq: id(text).Seq, Op: t.ops["reader"], Off: -1,
		Session: t.ref(history.Sessions, "reader||"+destination+"|9"), Place: t.place(destination)})
	return t
}

func (t *tale) pollFailed(worker string) *tale {
	t.add(history.Event{Kind: history.Receive, Session: t.session(worker), Class: contract.Unknown})
	return t
}

func (t *tale) polled(worker string) *tale {
	t.add(history.Event{Kind: history.Receive, Session: t.session(worker), Class: contract.OK})
	return t
}

func TestCommits(t *testing.T) { check(t, commitStories()) }

func commitStories() []story {
	begun := func(n int) *tale { return tell(kafka).publish(ids(0, n)...).assign("w0", 0, "earliest") }
	commit := func(t *tale, text string, class contract.Class) *tale {
		return t.settle("w0", text, history.VerbCommit, class)
	}
	late := func() *tale {
		t := begun(2).deliver("w0", ids(0, 2)...).handle("w0", ids(0, 2)...)
		t.of("w0", "p0/0", history.SettleStart).Verb = history.VerbCommit
		t.edit(func(e *history.Event) { e.Off = 1 }).ack("w0", "p0/2")
		answer := t.of("w0", "p0/0", history.SettleAnswer)
		answer.Verb, answer.Class = history.VerbCommit, contract.OK
		return t
	}
	return []story{
		{"ahead of what was delivered", begun(1).work("w0", "p0/0").settleAt("w0", "p0/0", 5).drained(), "commit-ahead p0/0; lost-undelivered p0/1"},
		{"backwards", begun(1).deliver("w0", ids(0, 1)...).handle("w0", ids(0, 1)...).ack("w0", "p0/1", "p0/0").drained(), "commit-regression p0/0"},
		{"backwards, not answered", commit(begun(1).deliver("w0", ids(0, 1)...).handle("w0", ids(0, 1)...).ack("w0", "p0/1"), "p0/0", contract.Unknown).drained(), ""},
		{"a late answer proves nothing", late().drained(), ""},
		{"the next owner proves it", late().crash("w0").assign("w1", 1, "committed").redeliver("w1", ids(1, 2)...).drained(), "commit-regression p0/0; effect-duplicates p0/1 p0/2; redelivered p0/1 p0/2"},
		{"begins behind committed", begun(1).work("w0", ids(0, 1)...).crash("w0").assign("w1", 1, "committed").redeliver("w1", "p0/1").drained(),
			"behind-committed p0/0; duplicate-unexplained p0/1; effect-duplicates p0/1; redelivered p0/1; redelivered-beyond-uncommitted p0/1"},
		{"begins beyond committed", begun(2).work("w0", "p0/0").crash("w0").assign("w1", 2, "committed").work("w1", "p0/2").drained(), "hole-after-takeover p0/0; lost-undelivered p0/1"},
		{"begins where an unknown commit may have put it", commit(begun(2).work("w0", "p0/0").deliver("w0", "p0/1").handle("w0", "p0/1"), "p0/1", contract.Unknown).crash("w0").
			assign("w1", 2, "committed").work("w1", "p0/2").drained(), ""},
	}
}

func (t *tale) redeliver(worker string, all ...string) *tale {
	return t.deliver(worker, all...).handle(worker, all...).ack(worker, all[len(all)-1])
}

// settleAt commits a position.
func (t *tale) settleAt(worker, text string, position int64) *tale {
	start := t.of(worker, text, history.SettleStart)
	start.Verb, start.Off = history.VerbCommit, position
	end := t.of(worker, text, history.SettleAnswer)
	end.Verb, end.Class = history.VerbCommit, contract.OK
	return t
}

func TestOwnership(t *testing.T) { check(t, ownershipStories()) }

func ownershipStories() []story {
	const lease = 50 * time.Millisecond
	moved := func() *tale {
		return tell(kafka).publish("p0/0").assign("w0", 0, "earliest").deliver("w0", "p0/0").revoke("w0").assign("w1", 0, "committed")
	}
	return []story{
		{"handled after the partition moved", moved().handle("w0", "p0/0").work("w1", "p0/0").drained(), "effect-duplicates p0/0; redelivered p0/0; zombie-effect p0/0; zombie-handling p0/0"},
		{"committed after the partition moved", moved().work("w1", "p0/0").settle("w0", "p0/0", history.VerbCommit, contract.Rejected).drained(), "redelivered p0/0; refused-settle p0/0; zombie-settle p0/0"},
		{"handled after the session ended", tell(rabbitmq).publish("p0/0").deliver("w0", "p0/0").closed("w0", "320 connection forced").handle("w0", "p0/0").redelivered("w1", "p0/0").drained(),
			"effect-duplicates p0/0; redelivered p0/0; zombie-effect p0/0; zombie-handling p0/0"},
		{"a poll as long as the lease: it may have begun at its end", tell(sqs).lease(lease).publish("p0/0").deliver("w0", "p0/0").edit(func(e *history.Event) { e.Until = e.T }).
			handle("w0", "p0/0").ack("w0", "p0/0").drained(), ""},
		{"settled after the lease, newest token", tell(sqs).lease(lease).publish("p0/0").deliver("w0", "p0/0").handle("w0", "p0/0").at(100).ack("w0", "p0/0").drained(), "zombie-settle p0/0"},
		{"settled after the lease, stale token", tell(sqs).lease(lease).publish("p0/0").deliver("w0", "p0/0").start("w0", "p0/0").at(100).deliver("w1", "p0/0").
			effect("w0", "p0/0").end("w0", "p0/0").ack("w0", "p0/0").at(200).work("w1", "p0/0").drained(), "effect-duplicates p0/0; redelivered p0/0 p0/0; silent-settle p0/0; zombie-effect p0/0; zombie-settle p0/0"},
		{"stale token that should not work", tell(fifo).lease(lease).publish("p0/0").deliver("w0", "p0/0").at(100).deliver("w1", "p0/0").handle("w1", "p0/0").ack("w0", "p0/0").drained(),
			"redelivered p0/0; stale-accepted p0/0; zombie-settle p0/0"},
		{"commit of an old generation", moved().edit(gen(2)).work("w1", "p0/0").settle("w0", "p0/0", history.VerbCommit, contract.OK).edit(gen(1)).drained(),
			"redelivered p0/0; stale-accepted p0/0; zombie-settle p0/0"},
		{"two owners", twoOwners(20_000), "double-ownership p0/2; undrained p0/1 p0/2"},
		{"two owners for a moment", twoOwners(5_000), "undrained p0/1 p0/2"},
		{"stale token that works", tell("localstack").lease(lease).publish("p0/0").deliver("w0", "p0/0").handle("w0", "p0/0").at(100).deliver("w1", "p0/0").ack("w0", "p0/0").drained(), "redelivered p0/0; zombie-settle p0/0"},
	}
}

func gen(n uint32) func(*history.Event) { return func(e *history.Event) { e.Gen = n } }

// twoOwners is a log whose first owner is still given records so long after a second took over.
func twoOwners(ms int64) *tale {
	t := tell(kafka).assign("w0", 0, "earliest").publish("p0/0").work("w0", "p0/0").assign("w1", 1, "committed").publish("p0/1")
	return t.deliver("w0", "p0/1").at(ms).publish("p0/2").deliver("w0", "p0/2")
}

func TestFlagsAndCounts(t *testing.T) { check(t, flagStories()) }

// TestManyDeliveriesAreNoWrongCount: of a message that comes back for ever, not every count is
// remembered, and the broker is not blamed for that.
func TestManyDeliveriesAreNoWrongCount(t *testing.T) {
	told := tell(fifo).publish("p0/0")
	for n := uint32(1); n <= 600; n++ {
		told.deliver("w0", "p0/0").counted(n).fail("w0", "p0/0").nack("w0", "p0/0")
	}
	r := told.deliver("w0", "p0/0").counted(7).handle("w0", "p0/0").ack("w0", "p0/0").drained().check()
	if r.Counts["redelivered"] != 600 || r.Counts["wrong-count"] != 1 {
		t.Errorf("%d redelivered, %d wrong counts; want 600 and the 1 that fell", r.Counts["redelivered"], r.Counts["wrong-count"])
	}
}

func flagStories() []story {
	again := func(profile string, count uint32) *tale {
		return tell(profile).publish("p0/0").deliver("w0", "p0/0").counted(1).fail("w0", "p0/0").nack("w0", "p0/0").deliver("w0", "p0/0").counted(count)
	}
	done := func(t *tale) *tale { return t.handle("w0", "p0/0").ack("w0", "p0/0").drained() }
	return []story{
		{"flag not set", done(again(rabbitmq, 2)), "redelivered p0/0; unflagged-redelivery p0/0"},
		{"flag not evidence", done(again(sqs, 2)), "redelivered p0/0"},
		{"count did not grow", done(again(fifo, 1)), "redelivered p0/0; wrong-count p0/0"},
		{"count grew by more", done(again(fifo, 3)), "redelivered p0/0; wrong-count p0/0"},
		{"count grew by more, a poll had failed", done(tell(fifo).pollFailed("w0").publish("p0/0").deliver("w0", "p0/0").counted(1).fail("w0", "p0/0").nack("w0", "p0/0").deliver("w0", "p0/0").counted(3)), "redelivered p0/0"},
		{"first delivery counted as the second", done(tell(fifo).publish("p0/0").deliver("w0", "p0/0").counted(2)), "wrong-count p0/0"},
		{"first delivery counted as the second, a link had stalled", done(tell(fifo).fault(history.FaultRequested, 1).fault(history.FaultActive, 1).publish("p0/0").deliver("w0", "p0/0").counted(2)), ""},
		{"first delivery flagged", done(tell(rabbitmq).publish("p0/0").deliver("w0", "p0/0").flagged()), "wrong-count p0/0"},
		{"flagged, a session had ended", done(tell(rabbitmq).publish("p0/0").closed("w1", "left").deliver("w0", "p0/0").flagged()), ""},
		{"charged without a handler", done(tell(rabbitmq).publish("p0/0").deliver("w1", "p0/0").counted(1).crash("w1").deliver("w0", "p0/0").counted(2).flagged()), "innocent-victim p0/0; redelivered p0/0"},
		{"count not evidence", done(again(sqs, 1)), "redelivered p0/0"},
		{"another stored copy", tell(rabbitmq).publish("p0/0").publish("p0/0").work("w0", "p0/0").deliver("w0", "p0/0").counted(1).ack("w0", "p0/0").drained(), "stored-twice p0/0"},
	}
}

func TestLeases(t *testing.T) { check(t, leaseStories()) }

func leaseStories() []story {
	held := func() *tale { return tell(sqs).lease(time.Second).publish("p0/0").deliver("w0", "p0/0") }
	return []story{
		{"free and not given", held().at(100_000).polled("w0").undrained("limit"), "stuck p0/0; undrained p0/0"},
		{"free and nobody polled", held().at(100_000).undrained("limit"), "undrained p0/0"},
		{"free for a moment", held().at(1_100).polled("w0").undrained("limit"), "undrained p0/0"},
		{"still at work", held().start("w0", "p0/0").at(100_000).polled("w1").undrained("limit"), "undrained p0/0"},
		{"given back with a delay", held().fail("w0", "p0/0").nack("w0", "p0/0").at(100_000).polled("w0").undrained("limit"), "undrained p0/0"},
		{"session died", tell(rabbitmq).publish("p0/0").deliver("w0", "p0/0").crash("w0").at(1_000_000).polled("w1").undrained("limit"), "stuck p0/0; undrained p0/0"},
	}
}

// TestEveryRowHasAStory keeps the table honest: a row that no test finds may not exist.
func TestEveryRowHasAStory(t *testing.T) {
	var told []string
	for _, stories := range [][]story{lossStories(), strangeStories(), deadLetterPlaces(), duplicateStories(), orderStories(), deadLetterStories(),
		commitStories(), ownershipStories(), flagStories(), leaseStories(), groupStories(), backlogStories(), exactStories(), opaqueStories(), storeStories(), generationStories(),
		singleActiveStories(), mortalStories()} {
		for _, s := range stories {
			for finding := range strings.SplitSeq(s.want, "; ") {
				name, _, _ := strings.Cut(finding, " ")
				told = append(told, name)
			}
		}
	}
	for _, r := range Rows() {
		if !slices.Contains(told, r.Name) {
			t.Errorf("no story finds %q", r.Name)
		}
	}
}

func TestRowsAreWhole(t *testing.T) {
	seen := map[string]bool{}
	h := &tell(kafka).header
	for _, r := range Rows() {
		if r.Name == "" || r.Doc == "" || r.Severity < 1 || r.Severity > 4 || r.Kind == nil || seen[r.Name] {
			t.Errorf("row %+v", r)
			continue
		}
		seen[r.Name] = true
		if k := r.Kind(h); k != KindError && k != KindLegal && k != KindStatistic {
			t.Errorf("%s: kind %q", r.Name, k)
		}
	}
}
