// SPDX-License-Identifier: Apache-2.0

package checkers

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/seed-720a3c77/harness/contract"
	"github.com/seed-720a3c77/harness/history"
)

// causesOf writes the causes of a row's findings: "p0/1 session died".
func causesOf(r *Result, name string) string {
	var all []string
	for _, a := range r.Anomalies {
		for _, x := range a.Examples {
			if a.Name == name {
				all = append(all, x.ID.String()+" "+x.Cause)
			}
		}
	}
	return strings.Join(all, "; ")
}

func TestRedeliveriesHaveCauses(t *testing.T) {
	const lease = time.Second
	for _, row := range []struct {
		name string
		tale *tale
		want string
	}{
		{"session died", tell(rabbitmq).publish("p0/0").deliver("w0", "p0/0").crash("w0").deliver("w1", "p0/0").flagged(), "p0/0 session died"},
		{"session closed", tell(rabbitmq).publish("p0/0").deliver("w0", "p0/0").closed("w0", "").deliver("w1", "p0/0").flagged(), "p0/0 session closed"},
		{"consumer timeout", tell(rabbitmq).publish("p0/0").deliver("w0", "p0/0").closed("w0", "406 delivery acknowledgement timed out").deliver("w1", "p0/0").flagged(), "p0/0 consumer timeout"},
		{"requeued", tell(rabbitmq).publish("p0/0").deliver("w0", "p0/0").nack("w0", "p0/0").deliver("w1", "p0/0").flagged(), "p0/0 requeued"},
		{"lease expired", tell(fifo).lease(lease).publish("p0/0").deliver("w0", "p0/0").at(1100).deliver("w1", "p0/0"), "p0/0 lease expired"},
		{"ack unknown", tell(fifo).lease(lease).publish("p0/0").work0("p0/0", contract.Unknown).deliver("w1", "p0/0"), "p0/0 settle unknown"},
		{"ack refused", tell(fifo).lease(lease).publish("p0/0").work0("p0/0", contract.Rejected).deliver("w1", "p0/0"), "p0/0 settle refused"},
		{"ack without an answer, then the session died", tell(rabbitmq).publish("p0/0").work0("p0/0", contract.Unclassed).crash("w0").deliver("w1", "p0/0").flagged(), "p0/0 settle unknown"},
		{"ack that nothing proves, then the session died", tell(rabbitmq).publish("p0/0").work("w0", "p0/0").crash("w0").deliver("w1", "p0/0").flagged(), "p0/0 session died"},
		{"ack that nothing proves, polite end", tell(rabbitmq).publish("p0/0").work("w0", "p0/0").closed("w0", "").deliver("w1", "p0/0").flagged(), "p0/0 unexplained"},
		{"contract allows it", tell(sqs).publish("p0/0").work("w0", "p0/0").deliver("w1", "p0/0"), "p0/0 contract allowed"},
		{"a fault gave it again", tell(sqs).publish("p0/0").deliver("w0", "p0/0").given("w1", "p0/0"), "p0/0 injected"},
		{"first answer overtaken by the second", tell(fifo).lease(lease).publish("p0/0").deliver("w1", "p0/0").counted(2).overdue("w0", "p0/0").counted(1), "p0/0 lease expired"},
		{"first answer overtaken by the second, which was worked off meanwhile", tell(fifo).lease(lease).publish("p0/0").deliver("w1", "p0/0").counted(2).handle("w1", "p0/0").ack("w1", "p0/0").overdue("w0", "p0/0").counted(1), "p0/0 lease expired"},
		{"overdue and not overtaken", tell(fifo).lease(lease).publish("p0/0").work("w1", "p0/0").overdue("w0", "p0/0").counted(2), "p0/0 unexplained"},
		{"nothing explains it", tell(fifo).publish("p0/0").work("w0", "p0/0").deliver("w1", "p0/0"), "p0/0 unexplained"},
		{"one cause excuses one", tell(rabbitmq).publish("p0/0").deliver("w0", "p0/0").crash("w0").deliver("w1", "p0/0").flagged().deliver("w2", "p0/0").flagged(), "p0/0 session died; p0/0 unexplained"},
		{"a cause must be earlier", tell(rabbitmq).publish("p0/0").deliver("w0", "p0/0").deliver("w1", "p0/0").flagged().crash("w0"), "p0/0 unexplained"},
		{"extended lease", extended(tell(fifo).lease(lease).publish("p0/0").deliver("w0", "p0/0"), contract.OK).at(1100).deliver("w1", "p0/0"), "p0/0 unexplained"},
		{"extension unknown", extended(tell(fifo).lease(lease).publish("p0/0").deliver("w0", "p0/0"), contract.Unknown).at(1100).deliver("w1", "p0/0"), "p0/0 lease expired"},
		{"rewind to committed", tell(kafka).publish(ids(0, 2)...).assign("w0", 0, "earliest").deliver("w0", ids(0, 2)...).handle("w0", ids(0, 1)...).ack("w0", "p0/0").crash("w0").
			assign("w1", 1, "committed").deliver("w1", ids(1, 2)...), "p0/1 rewind to committed; p0/2 rewind to committed"},
		{"rewind excuses once", tell(kafka).publish(ids(0, 1)...).assign("w0", 0, "earliest").deliver("w0", ids(0, 1)...).crash("w0").
			assign("w1", 0, "committed").deliver("w1", "p0/0", "p0/1", "p0/1"), "p0/0 rewind to committed; p0/1 rewind to committed; p0/1 unexplained"},
		{"rewind excuses nothing below committed", tell(kafka).publish(ids(0, 1)...).assign("w0", 0, "earliest").deliver("w0", ids(0, 1)...).handle("w0", ids(0, 1)...).ack("w0", "p0/0").crash("w0").
			assign("w1", 0, "").deliver("w1", ids(0, 1)...), "p0/0 unexplained; p0/1 rewind to committed"},
		{"seek", tell(kafka).publish("p0/0").assign("w0", 0, "earliest").work("w0", "p0/0").seek("w0", 0).deliver("w0", "p0/0"), "p0/0 seek"},
		{"position reset", tell(kafka).publish("p0/0").assign("w0", 0, "earliest").work("w0", "p0/0").crash("w0").assign("w1", 0, "earliest").deliver("w1", "p0/0"), "p0/0 position reset"},
		{"old buffer after the partition moved", tell(kafka).publish(ids(0, 1)...).assign("w0", 0, "earliest").deliver("w0", "p0/0").revoke("w0").assign("w1", 0, "committed").deliver("w1", ids(0, 1)...).deliver("w0", "p0/1"),
			"p0/0 rewind to committed; p0/1 partition moved"},
	} {
		t.Run(row.name, func(t *testing.T) {
			r := row.tale.check()
			if got := causesOf(&r, "redelivered"); got != row.want {
				t.Errorf("redelivered %q, want %q", got, row.want)
			}
		})
	}
}

// given delivers what a fault gave again.
func (t *tale) given(worker, text string) *tale {
	why := t.ref(history.Texts, history.Injected)
	return t.deliver(worker, text).edit(func(e *history.Event) { e.Text = why })
}

// overdue delivers when the lease is over already.
func (t *tale) overdue(worker, text string) *tale {
	return t.deliver(worker, text).edit(func(e *history.Event) { e.Until = e.T - 1 })
}

// work0 delivers to w0, handles and asks to ack with an answer of the class.
func (t *tale) work0(text string, class contract.Class) *tale {
	return t.deliver("w0", text).handle("w0", text).settle("w0", text, history.VerbAck, class)
}

func (t *tale) seek(worker string, off int64) *tale {
	t.add(history.Event{Kind: history.Seek, Session: t.session(worker), Place: t.place("orders"), Off: off, Class: contract.OK})
	return t
}

func extended(t *tale, class contract.Class) *tale {
	t.of("w0", "p0/0", history.SettleStart).Verb = history.VerbExtend
	e := t.of("w0", "p0/0", history.SettleAnswer)
	e.Verb, e.Class, e.Until = history.VerbExtend, class, t.now+int64(2*time.Second)
	return t
}

func TestFourKindsOfDuplicate(t *testing.T) { check(t, duplicateStories()) }

func duplicateStories() []story {
	twice := func(profile string) *tale { return tell(profile).publish("p0/0").publish("p0/0") }
	return []story{
		{"two stored copies in a log", twice(kafka).deliverAt("w0", "p0/0", 0).deliverAt("w0", "p0/0", 1).drained().found("orders", "p0/0"), "stored-twice p0/0; undrained p0/0"},
		{"one acked send, two stored copies", tell(kafka).publish("p0/0").work("w0", "p0/0").deliverAt("w0", "p0/0", 1).drained(), "duplicate-unexplained p0/0; stored-twice p0/0"},
		{"two stored copies in a queue", twice(rabbitmq).work("w0", "p0/0").deliver("w0", "p0/0").handle("w0", "p0/0").ack("w0", "p0/0").drained(), "effect-duplicates p0/0; stored-twice p0/0"},
		{"unanswered and acked send", tell(rabbitmq).send("p0/0").publish("p0/0").work("w0", "p0/0").deliver("w1", "p0/0").drained(), "stored-twice p0/0"},
		{"rejected and acked send", tell(fifo).send("p0/0").answer("p0/0", contract.Rejected).publish("p0/0").work("w0", "p0/0").deliver("w1", "p0/0").drained(), "duplicate-after-ack p0/0; redelivered p0/0"},
		{"redelivered, effect once", tell(rabbitmq).publish("p0/0").deliver("w0", "p0/0").crash("w0").deliver("w1", "p0/0").flagged().handle("w1", "p0/0").ack("w1", "p0/0").drained(), "redelivered p0/0"},
		{"redelivered, effect twice", tell(rabbitmq).publish("p0/0").deliver("w0", "p0/0").handle("w0", "p0/0").crash("w0").deliver("w1", "p0/0").flagged().handle("w1", "p0/0").ack("w1", "p0/0").drained(), "effect-duplicates p0/0; redelivered p0/0"},
		{"overlapping", tell(fifo).lease(30*time.Millisecond).publish("p0/0").deliver("w0", "p0/0").start("w0", "p0/0").at(50).deliver("w1", "p0/0").start("w1", "p0/0").
			effect("w0", "p0/0").end("w0", "p0/0").effect("w1", "p0/0").end("w1", "p0/0").ack("w1", "p0/0").drained(), "effect-duplicates p0/0; overlapping p0/0; redelivered p0/0; zombie-effect p0/0"},
		{"a dead worker does not overlap", tell(rabbitmq).publish("p0/0").deliver("w0", "p0/0").start("w0", "p0/0").crash("w0").deliver("w1", "p0/0").flagged().handle("w1", "p0/0").ack("w1", "p0/0").drained(), "redelivered p0/0"},
		{"sent twice in one window", tell(fifo).publish("p0/0").publish("p0/0").work("w0", "p0/0").deliver("w0", "p0/0").counted(1).drained(), "dedup-violation p0/0; stored-twice p0/0"},
		{"sent again after the window", tell(fifo).publish("p0/0").work("w0", "p0/0").at(400_000).publish("p0/0").deliver("w0", "p0/0").counted(1).drained(), "stored-twice p0/0"},
		{"a holder that fell silent", tell(rabbitmq).publish("p0/0").deliver("w0", "p0/0").at(5000).deliver("w1", "p0/0").flagged().handle("w1", "p0/0").ack("w1", "p0/0").drained(), "redelivered p0/0"},
		{"premature", tell(fifo).lease(time.Second).publish("p0/0").deliver("w0", "p0/0").deliver("w1", "p0/0").handle("w1", "p0/0").ack("w1", "p0/0").drained(), "premature-redelivery p0/0; redelivered p0/0"},
	}
}

func TestEffectsThatDoNotCount(t *testing.T) {
	again := func(change func(*history.Event)) *tale {
		s := tell(rabbitmq).publish("p0/0").deliver("w0", "p0/0").handle("w0", "p0/0").crash("w0").deliver("w1", "p0/0").flagged().start("w1", "p0/0")
		return s.effect("w1", "p0/0").edit(change).end("w1", "p0/0").ack("w1", "p0/0").drained()
	}
	check(t, []story{
		{"skipped", again(func(e *history.Event) { e.Flags |= history.Skipped }), "redelivered p0/0"},
		{"refused", again(func(e *history.Event) { e.Flags |= history.Refused }), "redelivered p0/0"},
		{"store still has one", again(func(e *history.Event) { e.N = 1 }), "redelivered p0/0"},
		{"store has two", again(func(e *history.Event) { e.N = 2 }), "effect-duplicates p0/0; redelivered p0/0"},
	})
}

// TestMutations drops, repeats or moves one event of a clean run: exactly the anomaly
// that it makes is found, with exactly its id.
func TestMutations(t *testing.T) {
	clean := func() *tale {
		return tell(fifo).publish(ids(0, 2)...).work("w0", ids(0, 2)...).drained()
	}
	for _, m := range []struct {
		what string
		kind history.Kind
		drop bool
		want string
	}{
		{"drop", history.Delivery, true, "effect-from-nowhere p0/1; lost-undelivered p0/1"},
		{"repeat", history.Delivery, false, "duplicate-unexplained p0/1; redelivered p0/1; stale-accepted p0/1"},
		{"drop", history.EffectResult, true, "undrained p0/1"},
		{"repeat", history.EffectResult, false, "effect-duplicates p0/1"},
		{"drop", history.PublishAnswer, true, "recovered p0/1"},
		{"drop", history.HandlerEnd, true, ""},
	} {
		t.Run(m.what+" "+m.kind.String(), func(t *testing.T) {
			s := clean()
			i := slices.IndexFunc(s.events, func(e history.Event) bool { return e.Kind == m.kind && e.Seq == 1 })
			if m.drop {
				s.events = slices.Delete(s.events, i, i+1)
			} else {
				s.ops["w0"]++
				again := s.events[i]
				if m.kind == history.Delivery {
					again.Op = s.ops["w0"]
				}
				s.events = slices.Insert(s.events, i+1, again)
			}
			r := s.check()
			wantFindings(t, &r, m.want)
		})
	}
}

func TestLedgerAlwaysBalances(t *testing.T) {
	r := tell(rabbitmq).publish(ids(0, 9)...).work("w0", ids(0, 3)...).deliver("w0", ids(4, 7)...).handle("w0", "p0/4").crash("w0").
		deliver("w1", "p0/4").flagged().handle("w1", "p0/4").ack("w1", "p0/4").send("p0/10").send("p0/11").answer("p0/11", contract.Rejected).undrained("limit").check()
	for i := range r.Ledger {
		if b := &r.Ledger[i]; b.Difference != 0 {
			t.Errorf("%s: difference %d: %+v", b.Title, b.Difference, b.Lines)
		}
	}
	want := map[string]int64{"published": 12, "acked": 10, "unknown": 1, "rejected": 1, "done": 5, "undrained": 5, "deliveries": 9, "redelivered": 1,
		"redelivered.session-died": 1, "handlers-never-started": 3, "effects": 6, "effect-duplicates": 1, "lost": 0}
	for _, name := range slices.Sorted(maps.Keys(want)) {
		if r.Counts[name] != want[name] {
			t.Errorf("%s = %d, want %d", name, r.Counts[name], want[name])
		}
	}
	if testing.Verbose() {
		fmt.Println(r.Sentence)
	}
}
