// SPDX-License-Identifier: Apache-2.0

package checkers

import (
	"slices"

	"github.com/seed-720a3c77/harness/history"
)

// This file is about consumers whose deliveries and settlements are not seen: programs of
// their own, of which only the effects are known. An effect proves a delivery; how many
// more there were, and why, nobody can tell from outside.

// opaque tells whether the event is an effect of such a consumer.
func (m *Moment) opaque() bool {
	return m.hold == nil && m.sub != nil && m.sub.Opaque && m.Kind == history.EffectResult
}

// seesWork tells whether the deliveries of some subscription are recorded.
func (c *Case) seesWork() bool {
	return slices.ContainsFunc(c.subs, func(s *subscription) bool { return !s.Opaque })
}

// hasOpaque tells whether those of some are not.
func (c *Case) hasOpaque() bool {
	return slices.ContainsFunc(c.subs, func(s *subscription) bool { return s.Opaque })
}

func applyOpaque(m *Moment) {
	known := m.message
	known.last = m.T
	if effectsAfter(known.effects, m.Event) > known.effects {
		known.well = m.T
		inc(&known.received)
	}
	applyEffect(known, m.Event)
}

// opaque counts an effect. One of an id that nobody published has no message to belong to.
func (x *effects) opaque(m *Moment) {
	if !m.known || m.message.attempts == 0 {
		x.stray(m)
		return
	}
	x.c.facts.exposure.delivered++
	x.effect(m, m.message.effects, effectsAfter(m.message.effects, m.Event))
}

// whyOpaque is as much as can be told of a second effect: the producer stored the message
// more often than it had effects, or a worker died since the effect before, or else its
// deliveries would tell.
func (c *Case) whyOpaque(m *Moment) Cause {
	switch {
	case m.message.copies > m.message.effects:
		return producerCopy
	case m.sub.diedAt > m.message.well:
		return workerDied
	}
	return outOfSight
}

// fateOpaque is of an acked message without an effect that is not stored any more: lost
// once nothing is left that could bring it.
func (c *Case) fateOpaque(sub *subscription) fate {
	switch {
	case !c.ends.drained:
		return isUndrained
	case sub.deadLetter != "" && !c.audited(sub, deadLetter):
		return isDoubtful
	}
	return isLostWithoutEffect
}

// due is when the message of an event was intended.
func (m *Moment) due() int64 {
	if m.hold == nil {
		return m.message.due
	}
	return m.hold.due
}

// traffic says how much went through.
func (f *Facts) traffic() string {
	if !f.c.seesWork() {
		return counted(f.exposure.delivered, "effect", "effects")
	}
	return counted(f.exposure.delivered, "delivery", "deliveries")
}

// nothing says that nothing arrived, as far as that is seen.
func (f *Facts) nothing() string {
	if !f.c.seesWork() {
		return "no effect was seen"
	}
	return "no message was delivered"
}
