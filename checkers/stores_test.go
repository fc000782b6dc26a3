// SPDX-License-Identifier: Apache-2.0

package checkers

import (
	"testing"

	"github.com/seed-720a3c77/harness/contract"
	"github.com/seed-720a3c77/harness/history"
)

// inStore is what a store held of a message at the end.
func (t *tale) inStore(text string, n uint32) *tale {
	t.add(history.Event{Kind: history.EffectFound, Producer: id(text).Producer, Seq: id(text).Seq, Session: t.theStore(), N: n})
	return t
}

// storeRead ends it; class is unknown if the store could not be read.
func (t *tale) storeRead(class contract.Class) *tale {
	t.add(history.Event{Kind: history.EffectsRead, Session: t.theStore(), Class: class})
	return t
}

func (t *tale) theStore() uint32 { return t.ref(history.Sessions, "store|billing|orders|9") }

// effectDone is a message that went as it should, effectBegun one whose worker died between an effect
// and its record, after which another was at it.
func effectDone() *tale {
	return tell(sqs).claims(contract.EffectivelyOnce).publish("p0/0").deliver("w0", "p0/0").handle("w0", "p0/0").ack("w0", "p0/0").drained()
}

func effectBegun() *tale {
	t := tell(sqs).claims(contract.EffectivelyOnce).publish("p0/0").deliver("w0", "p0/0").start("w0", "p0/0")
	t.of("w0", "p0/0", history.EffectIntent)
	return t.crash("w0").deliver("w1", "p0/0").start("w1", "p0/0").end("w1", "p0/0").ack("w1", "p0/0").drained()
}

// storeStories: the store has the last word where nothing was recorded, and is an anomaly
// where something else was.
func storeStories() []story {
	const differs, again = "effect-store-differs p0/0", "redelivered p0/0"
	return []story{
		{"the same", effectDone().inStore("p0/0", 1).storeRead(contract.OK), ""},
		{"more", effectDone().inStore("p0/0", 2).storeRead(contract.OK), differs},
		{"none", effectDone().storeRead(contract.OK), differs},
		{"not read", effectDone().storeRead(contract.Unknown), ""},
		{"told in the other order", tell(rabbitmq).publish("p0/0").deliver("w0", "p0/0").start("w0", "p0/0").crash("w0").deliver("w1", "p0/0").flagged().counted(2).
			effectOf("w1", "p0/0", 2).effectOf("w0", "p0/0", 1).inStore("p0/0", 2).storeRead(contract.OK), "effect-duplicates p0/0; " + again},
		{"not asked", effectDone(), ""},
		{"of nobody", effectDone().inStore("p0/0", 1).inStore("p0/5", 1).storeRead(contract.OK), "effect-from-nowhere p0/5"},
		{"a gap that was an effect", effectBegun().inStore("p0/0", 1).storeRead(contract.OK), again},
		{"a gap that was two", effectBegun().inStore("p0/0", 2).storeRead(contract.OK), "effect-duplicates p0/0; " + again},
	}
}

func TestStores(t *testing.T) { check(t, storeStories()) }

func TestAStoreThatDiffersBreaksIntegrity(t *testing.T) {
	if r := effectDone().inStore("p0/0", 2).storeRead(contract.OK).check(); r.Verdict != contract.Violated {
		t.Errorf("%s: %s", r.Verdict, r.Sentence)
	}
}

// effectOf is an effect whose store says how many it holds.
func (t *tale) effectOf(worker, text string, n uint32) *tale {
	t.of(worker, text, history.EffectIntent)
	e := t.of(worker, text, history.EffectResult)
	e.Class, e.N = contract.OK, n
	return t
}
