// SPDX-License-Identifier: Apache-2.0

package checkers

import (
	"testing"
	"time"

	"github.com/seed-720a3c77/harness/contract"
	"github.com/seed-720a3c77/harness/history"
)

// story is one row of a table: what is told and exactly what must be found.
type story struct {
	name string
	tale *tale
	want string
}

func check(t *testing.T, stories []story) {
	t.Helper()
	for _, s := range stories {
		t.Run(s.name, func(t *testing.T) {
			r := s.tale.check()
			wantFindings(t, &r, s.want)
		})
	}
}

const (
	kafka    = "kafka"
	sqs      = "sqs"
	fifo     = "sqs-fifo"
	rabbitmq = "rabbitmq"
)

func TestCleanRunsHaveNoFindings(t *testing.T) {
	for _, p := range []string{kafka, sqs, fifo, rabbitmq} {
		t.Run(p, func(t *testing.T) {
			r := tell(p).publish(ids(0, 4)...).work("w0", ids(0, 4)...).drained().claims(contract.Claims()...).check()
			wantFindings(t, &r, "")
			if r.Counts["done"] != 5 || r.Counts["lost"] != 0 {
				t.Errorf("done %d, lost %d; want 5, 0", r.Counts["done"], r.Counts["lost"])
			}
		})
	}
}

func TestEmptyHistory(t *testing.T) {
	r := tell(kafka).claims(contract.Claims()...).check()
	wantFindings(t, &r, "")
	if r.Verdict != contract.Inconclusive || len(r.Missing) == 0 {
		t.Errorf("verdict %v, missing %v; want inconclusive with a reason", r.Verdict, r.Missing)
	}
}

func TestLoss(t *testing.T) { check(t, lossStories()) }

func lossStories() []story {
	return []story{
		{"never delivered, drained", tell(sqs).publish(ids(0, 2)...).work("w0", "p0/0", "p0/2").drained(), "lost-undelivered p0/1"},
		{"never delivered, not drained", tell(sqs).publish(ids(0, 2)...).work("w0", "p0/0", "p0/2").undrained("limit"), "undrained p0/1"},
		{"never delivered, found stored", tell(sqs).publish(ids(0, 1)...).work("w0", "p0/0").undrained("limit").found("orders", "p0/1").audited("orders"), "undrained p0/1"},
		{"never delivered, hidden from the audit", tell(sqs).publish(ids(0, 1)...).work("w0", "p0/0").undrained("limit").audited("orders"), "undrained p0/1"},
		{"unknown is not lost", tell(sqs).publish("p0/0").work("w0", "p0/0").send("p0/1").answer("p0/1", contract.Unknown).drained(), ""},
		{"unanswered is not lost", tell(sqs).publish("p0/0").work("w0", "p0/0").send("p0/1").drained(), ""},
		{"rejected is not lost", tell(sqs).publish("p0/0").work("w0", "p0/0").send("p0/1").answer("p0/1", contract.Rejected).drained(), ""},
		{"accepted only is not lost", tell(sqs).publish("p0/0").work("w0", "p0/0").send("p0/1").answer("p0/1", contract.AcceptedOnly).drained(), ""},
		{"unknown and delivered is recovered", tell(sqs).send("p0/0").answer("p0/0", contract.Unknown).work("w0", "p0/0").drained(), "recovered p0/0"},
		{"rejected, resent and acked", tell(sqs).send("p0/0").answer("p0/0", contract.Rejected).publish("p0/0").work("w0", "p0/0").drained(), ""},
		{"settled before the handler, crashed", tell(sqs).publish(ids(0, 1)...).work("w0", "p0/0").deliver("w0", "p0/1").ack("w0", "p0/1").start("w0", "p0/1").crash("w0").drained(), "settled-without-success p0/1"},
		{"settled, handler still at work", tell(sqs).publish("p0/0").deliver("w0", "p0/0").ack("w0", "p0/0").start("w0", "p0/0").undrained("limit"), "undrained p0/0"},
		{"settled, handler failed", tell(sqs).publish("p0/0").deliver("w0", "p0/0").ack("w0", "p0/0").fail("w0", "p0/0").drained(), "settled-without-success p0/0"},
		{"crashed and never again", tell(rabbitmq).publish("p0/0").deliver("w0", "p0/0").start("w0", "p0/0").crash("w0").drained(), "lost-after-delivery p0/0"},
		{"crashed, not drained", tell(rabbitmq).publish("p0/0").deliver("w0", "p0/0").start("w0", "p0/0").crash("w0").undrained("limit"), "undrained p0/0"},
		{"effect begun, result unknown", effectCut(tell(rabbitmq).publish("p0/0").deliver("w0", "p0/0").start("w0", "p0/0")).crash("w0").drained(), "undrained p0/0"},
		{"position passed", tell(kafka).publish(ids(0, 2)...).deliver("w0", ids(0, 2)...).handle("w0", "p0/0").ack("w0", "p0/2").crash("w0").drained(), "position-passed p0/1 p0/2"},
		{"position not passed", tell(kafka).publish(ids(0, 2)...).deliver("w0", ids(0, 2)...).handle("w0", "p0/0").ack("w0", "p0/0").crash("w0").undrained("limit"), "undrained p0/1 p0/2"},
		{"position perhaps passed", tell(kafka).publish(ids(0, 1)...).deliver("w0", ids(0, 1)...).handle("w0", "p0/0").settle("w0", "p0/1", history.VerbCommit, contract.Unknown).crash("w0").undrained("limit"), "undrained p0/1"},
		{"skipped by the position", tell(kafka).publish(ids(0, 2)...).work("w0", "p0/0", "p0/2").undrained("limit"), "lost-undelivered p0/1"},
		{"not in the log", tell(kafka).publish(ids(0, 1)...).work("w0", "p0/0").undrained("limit").found("orders", "p0/0").audited("orders"), "lost-undelivered p0/1"},
		{"in the log, not read", tell(kafka).publish(ids(0, 1)...).work("w0", "p0/0").undrained("limit").found("orders", "p0/0").found("orders", "p0/1").audited("orders"), "undrained p0/1"},
	}
}

func effectCut(t *tale) *tale {
	t.of("w0", "p0/0", history.EffectIntent)
	return t
}

func TestLossIsSplitByPlace(t *testing.T) {
	r := tell(sqs).publish(ids(0, 6)...).work("w0", "p0/2", "p0/4").drained().check()
	wantFindings(t, &r, "lost-undelivered p0/0 p0/1 p0/3 p0/5 p0/6")
	for name, want := range map[string]int64{"lost.prefix": 2, "lost.middle": 1, "lost.tail": 2, "lost": 5} {
		if r.Counts[name] != want {
			t.Errorf("%s = %d, want %d", name, r.Counts[name], want)
		}
	}
}

func TestMessagesThatShouldNotExist(t *testing.T) { check(t, strangeStories()) }

func strangeStories() []story {
	return []story{
		{"phantom", tell(sqs).send("p0/0").answer("p0/0", contract.Rejected).work("w0", "p0/0").drained(), "phantom p0/0"},
		{"phantom, answer after delivery", tell(sqs).send("p0/0").work("w0", "p0/0").answer("p0/0", contract.Rejected).drained(), "phantom p0/0"},
		{"from nowhere", tell(sqs).publish("p0/0").work("w0", "p0/0", "p0/7").drained(), "from-nowhere p0/7"},
		{"corrupt", tell(sqs).publish("p0/0").deliver("w0", "p0/0").edit(func(e *history.Event) { e.Flags |= history.Corrupt }).handle("w0", "p0/0").ack("w0", "p0/0").drained(), "corrupt p0/0"},
		{"effect from nowhere", tell(sqs).publish("p0/0").work("w0", "p0/0").effect("w1", "p0/0").drained(), "effect-from-nowhere p0/0"},
		{"foreign", tell(sqs).publish("p0/0").work("w0", "p0/0").deliver("w0", "p0/0").edit(func(e *history.Event) { e.Flags |= history.Foreign; e.Producer, e.Seq = 0, 0 }).drained(), "foreign p0/0"},
		{"a call that overran", tell(sqs).publish("p0/0").work("w0", "p0/0").with(history.Event{Kind: history.CallOverrun}).drained(), "call-overrun p0/0"},
	}
}

func TestDeadLetterPlaces(t *testing.T) { check(t, deadLetterPlaces()) }

func deadLetterPlaces() []story {
	failing := func() *tale {
		t := tell(sqs).deadLetters(3).lease(time.Second).publish("p0/0")
		for range 3 {
			t.deliver("w0", "p0/0").fail("w0", "p0/0").nack("w0", "p0/0")
		}
		return t
	}
	return []story{
		{"found there", failing().drained().found("orders-dlq", "p0/0").audited("orders-dlq"), "dead-lettered p0/0; redelivered p0/0 p0/0"},
		{"not there", failing().drained().audited("orders-dlq"), "lost-in-dead-lettering p0/0; redelivered p0/0 p0/0"},
		{"nobody looked", failing().drained(), "redelivered p0/0 p0/0; undrained p0/0"},
		{"rejected without a dead-letter queue", tell(rabbitmq).publish("p0/0").deliver("w0", "p0/0").fail("w0", "p0/0").reject("w0", "p0/0").drained(), "policy-drop p0/0"},
	}
}
