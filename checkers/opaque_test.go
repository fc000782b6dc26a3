// SPDX-License-Identifier: Apache-2.0

package checkers

import (
	"testing"

	"github.com/seed-720a3c77/harness/contract"
	"github.com/seed-720a3c77/harness/history"
)

func TestOpaque(t *testing.T) { check(t, opaqueStories()) }

// program is a tale of a consumer that is a program of its own.
func program(profile string) *tale {
	t := tell(profile).claims(contract.EffectivelyOnce)
	t.header.Subscriptions[0].Opaque = true
	return t
}

// done is an effect of a program: n is how many there are now.
func (t *tale) done(worker, text string, n uint32) *tale {
	t.add(history.Event{Kind: history.EffectResult, Producer: id(text).Producer, Seq: id(text).Seq, Session: t.session(worker),
		Place: t.place("orders"), N: n, Class: contract.OK})
	return t
}

// struck is a fault at an instant at which a program had so many messages in hand.
func (t *tale) struck(held uint32, waiting uint64) *tale {
	t.fault(history.FaultRequested, 1).edit(func(e *history.Event) { e.Class, e.N, e.Seq = contract.OK, held, waiting })
	return t.fault(history.FaultActive, 1).fault(history.FaultHealed, 1)
}

// depth is a sample of the queue, position one of the log and its group.
func (t *tale) depth(ready uint64, inFlight int64) *tale {
	t.add(history.Event{Kind: history.DepthQueue, Place: t.place("orders"), Seq: ready, Off: inFlight})
	return t
}

func (t *tale) position(committed uint64, end int64) *tale {
	t.add(history.Event{Kind: history.DepthLog, Place: t.ref(history.Places, "orders|"), Session: t.ref(history.Sessions, "|billing|orders|0"),
		Seq: committed, Off: end, Until: end})
	return t
}

func opaqueStories() []story {
	return []story{
		{"each once", program(sqs).publish(ids(0, 1)...).done("w0", "p0/0", 1).done("w1", "p0/1", 1).drained(), ""},
		{"twice", program(sqs).publish("p0/0").done("w0", "p0/0", 1).done("w1", "p0/0", 2).drained(), "effect-duplicates p0/0"},
		{"told again", program(sqs).publish("p0/0").done("w0", "p0/0", 1).done("w0", "p0/0", 1).drained(), ""},
		{"gone without an effect", program(sqs).publish(ids(0, 1)...).done("w0", "p0/0", 1).drained(), "lost-without-effect p0/1"},
		{"a log's position is past", program(kafka).publish(ids(0, 1)...).done("w0", "p0/1", 1).drained(), "lost-without-effect p0/0"},
		{"still stored", program(sqs).publish("p0/0").undrained("nothing moved").found("orders", "p0/0"), "undrained p0/0"},
		{"not drained", program(kafka).publish("p0/0").undrained("nothing moved"), "undrained p0/0"},
		{"done and never settled", program(sqs).publish("p0/0").done("w0", "p0/0", 1).depth(0, 1).undrained("nothing moved"), ""},
		{"positions are its own", program(kafka).publish(ids(0, 1)...).done("w0", "p0/0", 1).done("w0", "p0/1", 1).position(2, 2).position(1, 2).position(2, 2).drained(), ""},
		{"dead-lettered", program(sqs).deadLetters(2).publish("p0/0").drained().found("orders-dlq", "p0/0").audited("orders-dlq"), "dead-lettered p0/0"},
		{"of nobody", program(sqs).publish("p0/0").done("w0", "p0/0", 1).done("w0", "p0/7", 1).drained(), "effect-from-nowhere p0/7; from-nowhere p0/7"},
		{"unknown and done", program(sqs).send("p0/0").answer("p0/0", contract.Unknown).done("w0", "p0/0", 1).drained(), "recovered p0/0"},
	}
}

func TestOpaqueVerdicts(t *testing.T) {
	for _, test := range []struct {
		name string
		tale *tale
		want contract.Verdict
	}{
		{"pass", program(sqs).publish("p0/0").done("w0", "p0/0", 1).drained(), contract.Pass},
		{"twice", program(sqs).publish("p0/0").done("w0", "p0/0", 1).done("w0", "p0/0", 2).drained(), contract.Violated},
		{"lost", program(sqs).publish("p0/0").drained(), contract.Violated},
		{"killed with work in hand", program(sqs).publish("p0/0").struck(1, 0).done("w0", "p0/0", 1).drained(), contract.Pass},
		{"killed with work waiting", program(sqs).publish("p0/0").struck(0, 1).done("w0", "p0/0", 1).drained(), contract.Pass},
		{"killed with nothing in hand", program(sqs).publish("p0/0").struck(0, 0).done("w0", "p0/0", 1).drained(), contract.Inconclusive},
		{"twice, with nothing in hand", program(sqs).publish("p0/0").struck(0, 0).done("w0", "p0/0", 1).done("w0", "p0/0", 2).drained(), contract.Violated},
		{"never connected", program(sqs).publish("p0/0").undrained("nothing moved"), contract.Inconclusive},
	} {
		if r := test.tale.check(); r.Verdict != test.want {
			t.Errorf("%s: %s (%s), want %s", test.name, r.Verdict, r.Sentence, test.want)
		}
	}
}

func TestOpaqueCauses(t *testing.T) {
	copied := program(sqs).publish("p0/0").publish("p0/0").done("w0", "p0/0", 1).done("w0", "p0/0", 2).check()
	if got := copied.Counts["effect-duplicates.producer-copy"]; got != 1 {
		t.Errorf("sent twice, done twice: counts %v", copied.Counts)
	}
	again := program(sqs).publish("p0/0").done("w0", "p0/0", 1).done("w0", "p0/0", 2).check()
	if got := again.Counts["effect-duplicates.deliveries-not-seen"]; got != 1 {
		t.Errorf("sent once, done twice: counts %v", again.Counts)
	}
	killed := program(sqs).publish("p0/0").done("w0", "p0/0", 1).crash("w0").done("w1", "p0/0", 2).check()
	if got := killed.Counts["effect-duplicates.a-worker-died-in-between"]; got != 1 {
		t.Errorf("done, killed, done again: counts %v", killed.Counts)
	}
	if _, measured := again.Counts["redelivered"]; measured {
		t.Error("redeliveries are counted though none can be seen")
	}
}

// TestAttemptsOfTheClientAreCopies: a client that says it made one attempt stored one copy.
func TestAttemptsOfTheClientAreCopies(t *testing.T) {
	for attempts, want := range []string{"deliveries-not-seen", "deliveries-not-seen", "producer-copy"} {
		tale := program(sqs).publish("p0/0")
		tale.events[len(tale.events)-1].N = uint32(attempts)
		r := tale.done("w0", "p0/0", 1).done("w0", "p0/0", 2).check()
		if r.Counts["effect-duplicates."+want] != 1 {
			t.Errorf("%d attempts, done twice: counts %v, want it to be %s", attempts, r.Counts, want)
		}
	}
}
