// SPDX-License-Identifier: Apache-2.0

package checkers

import (
	"testing"
	"time"

	"github.com/seed-720a3c77/harness/contract"
	"github.com/seed-720a3c77/harness/history"
)

func TestGroups(t *testing.T) { check(t, groupStories()) }

func groupStories() []story {
	three := func() *tale { return tell(fifo).lease(time.Second).keyed("g", ids(0, 2)...) }
	return []story{
		{"one after another", three().work("w0", ids(0, 2)...).drained(), ""},
		{"a batch", three().batch("w0", ids(0, 2)...).handle("w0", ids(0, 2)...).ack("w0", ids(0, 2)...).drained(), ""},
		{"goes on behind a leased one", three().deliver("w0", "p0/0").deliver("w1", "p0/1").handle("w1", "p0/1").ack("w1", "p0/1").handle("w0", "p0/0").ack("w0", "p0/0").work("w0", "p0/2").drained(),
			"group-blocked p0/1; order-key p0/0"},
		{"the first is passed over", three().deliver("w0", "p0/1").handle("w0", "p0/1").ack("w0", "p0/1").work("w0", "p0/0", "p0/2").drained(), "order-group p0/1; order-key p0/0"},
		{"the first is passed over and lost", three().work("w0", "p0/1", "p0/2").drained(), "lost-undelivered p0/0"},
		{"the first is passed over, and then the run breaks off", three().work("w0", "p0/1", "p0/2").undrained("limit"), "undrained p0/0"},
		{"the first is passed over, and nobody looked for the rest", three().work("w0", "p0/1", "p0/2"), "order-group p0/1; undrained p0/0"},
		{"a batch comes back in another order", three().batch("w0", ids(0, 2)...).at(2000).batch("w0", "p0/1", "p0/0", "p0/2").handle("w0", ids(0, 2)...).ack("w0", ids(0, 2)...).drained(),
			"order-group p0/1; redelivered p0/1 p0/0 p0/2"},
		{"a dead worker's lease goes on", three().deliver("w0", "p0/0").crash("w0").deliver("w1", "p0/1").handle("w1", "p0/1").ack("w1", "p0/1").at(2000).work("w1", "p0/0", "p0/2").drained(),
			"order-key p0/0; redelivered p0/0"},
		{"the lease is over", three().deliver("w0", "p0/0").at(2000).deliver("w1", "p0/1").handle("w1", "p0/1").ack("w1", "p0/1").work("w1", "p0/0", "p0/2").drained(),
			"order-group p0/1; order-key p0/0; redelivered p0/0"},
		{"sends that overlapped", tell(fifo).keyed("g").send("p0/0").send("p0/1").answer("p0/1", 1).answer("p0/0", 1).work("w0", "p0/1", "p0/0").drained(), "order-key p0/0"},
		{"the first may be gone", tell(fifo).deadLetters(1).lease(time.Second).keyed("g", ids(0, 1)...).deliver("w0", "p0/0").fail("w0", "p0/0").at(2000).work("w0", "p0/1").drained().found("orders-dlq", "p0/0").audited("orders-dlq"),
			"dead-lettered p0/0"},
		{"no promise", tell(sqs).keyed("g", ids(0, 1)...).work("w0", "p0/1", "p0/0").drained(), "order-key p0/0"},
	}
}

// batch delivers messages in one answer.
func (t *tale) batch(worker string, all ...string) *tale {
	at := t.now + millisecond
	for _, text := range all {
		t.now = at - millisecond
		t.deliver(worker, text)
	}
	return t
}

func TestBacklog(t *testing.T) { check(t, backlogStories()) }

func backlogStories() []story {
	done := func() *tale { return tell(rabbitmq).publish("p0/0").work("w0", "p0/0") }
	begun := func() *tale {
		return tell(kafka).publish(ids(0, 2)...).assign("w0", 0, "earliest").work("w0", ids(0, 1)...)
	}
	return []story{
		{"empty", done().ready(0, 0).at(60_000).ready(0, 0).drained(), ""},
		{"counted and not there", done().at(120_000).ready(0, 1).undrained("limit"), "not-empty p0/0"},
		{"counted for a moment", done().ready(0, 1).drained(), ""},
		{"counted and there", done().publish("p0/1").at(60_000).ready(1, 0).undrained("limit"), "undrained p0/1"},
		{"the end goes back", begun().sampled(2, 3).sampled(2, 2).work("w0", "p0/2").drained(), "end-offset-regression p0/0"},
		{"the position goes back", begun().sampled(2, 3).sampled(1, 3).work("w0", "p0/2").drained(), "commit-regression p0/0"},
		{"the position goes back after a seek", begun().sampled(2, 3).seek("w0", 1).sampled(1, 3).undrained("limit"), "undrained p0/2"},
		{"the position is ahead", begun().sampled(3, 3).work("w0", "p0/2").drained(), "commit-ahead p0/0"},
	}
}

// TestForeignRecordsAreReadPast: a record of somebody else moves readers and positions on
// like any other.
func TestForeignRecordsAreReadPast(t *testing.T) {
	foreign := func(e *history.Event) { e.Flags |= history.Foreign; e.Producer, e.Seq = 0, 0 }
	behind := func() *tale {
		return tell(kafka).publish("p0/0").assign("w0", 0, "earliest").work("w0", "p0/0").deliverAt("w0", "p0/1", 1).edit(foreign)
	}
	first := func() *tale {
		return behind().sampled(1, 2).revoke("w0").assign("w1", -1, "committed").deliverAt("w1", "p0/1", 1).edit(foreign)
	}
	check(t, []story{
		{"committed behind it", behind().sampled(2, 2).drained(), "foreign p0/0"},
		{"and before it", behind().sampled(1, 2).drained(), "foreign p0/0"},
		{"and further", behind().sampled(3, 3).drained(), "commit-ahead p0/0; foreign p0/0"},
		{"with a commit of its own", behind().settleAt("w0", "p0/1", 2).edit(foreign).sampled(2, 2).drained(), "foreign p0/0"},
		{"the first that a new owner reads", first().send("p0/1").answerFrom("p0/1", "orders", contract.OK, 2).deliverAt("w1", "p0/1", 2).handle("w1", "p0/1").settleAt("w1", "p0/1", 3).drained(), "foreign p0/0 p0/0"},
	})
}

func (t *tale) ready(ready, inFlight int64) *tale {
	t.add(history.Event{Kind: history.DepthQueue, Place: t.place("orders|"), Seq: uint64(ready), Off: inFlight, Until: -1})
	return t
}

func (t *tale) sampled(committed, end int64) *tale {
	t.add(history.Event{Kind: history.DepthLog, Place: t.place("orders|"), Session: t.ref(history.Sessions, "|billing|orders|0"), Seq: uint64(committed), Off: end, Until: end})
	return t
}
