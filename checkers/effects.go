// SPDX-License-Identifier: Apache-2.0

package checkers

import (
	"github.com/seed-720a3c77/harness/history"
)

// effects counts what the handlers did to the outside: effects that happened again,
// handlers that overlapped, effects nobody had a message for. Where a subscription has no
// store, a handler that ended well is its effect.
type effects struct {
	c      *Case
	total  []int64 // by subscription
	first  []int64
	again  [][causes]int64
	intent int64
}

func (x *effects) Kinds() history.KindSet {
	return history.Only(history.HandlerStart, history.HandlerEnd, history.EffectIntent, history.EffectResult, history.EffectFound)
}

func (x *effects) Begin(c *Case) {
	x.c = c
	n := len(c.subs)
	x.total, x.first, x.again = make([]int64, n), make([]int64, n), make([][causes]int64, n)
	c.facts.measure(effectDuplicate, effectFromNowhere)
	if c.seesWork() {
		c.facts.measure(overlapping)
	}
}

func (x *effects) Observe(m *Moment) {
	if m.opaque() {
		x.opaque(m)
		return
	}
	if m.Kind == history.EffectFound {
		x.found(m)
		return
	}
	if m.hold == nil {
		x.stray(m)
		return
	}
	if !m.known || m.place.role == deadLetter {
		return
	}
	switch m.Kind {
	case history.HandlerStart:
		x.c.facts.exposure.handlers++
		x.overlap(m)
	case history.HandlerEnd:
		if !m.sub.effects && !m.Has(history.Failed) {
			x.effect(m, m.message.done, m.message.done+1)
		}
	case history.EffectIntent:
		x.intent++
	case history.EffectResult:
		x.intent--
		x.effect(m, m.message.effects, effectsAfter(m.message.effects, m.Event))
	}
}

// found lets a store decide an effect whose result is not known. One of an id that nobody
// published has no message to belong to.
func (x *effects) found(m *Moment) {
	switch {
	case !m.known || m.message.attempts == 0:
		if e := x.c.facts.found(effectFromNowhere, m); e != nil {
			e.Text = "the store has it, and nobody published it"
		}
	case m.message.is(intended):
		x.intent--
		x.effect(m, m.message.effects, uint8(min(m.N, 255)))
	}
}

// stray is an effect of a worker that had no such delivery.
func (x *effects) stray(m *Moment) {
	if m.Kind != history.EffectResult || m.Has(history.Skipped) || m.Has(history.Refused) {
		return
	}
	if e := x.c.facts.found(effectFromNowhere, m); e != nil {
		e.Text = m.session.worker + " had no such delivery"
	}
}

func (x *effects) overlap(m *Moment) {
	if m.message.running == 0 {
		return
	}
	m.cause = m.hold.cause
	if e := x.c.facts.found(overlapping, m); e != nil {
		e.Text = m.session.worker + " began while another handler was at it"
	}
}

// effect counts effects that stand after an event and did not before.
func (x *effects) effect(m *Moment, before, after uint8) {
	if after <= before {
		return
	}
	sub := m.sub.index
	x.total[sub]++
	x.c.facts.exposure.effects++
	x.c.succeededAt(m.T)
	if before == 0 && after == 1 {
		x.first[sub]++
		return
	}
	m.cause = x.c.why(m)
	x.again[sub][m.cause]++
	if e := x.c.facts.found(effectDuplicate, m); e != nil {
		e.Text = "effect again by " + m.session.worker
	}
}

// why is what caused a second effect: what brought the delivery, what ended the hold of
// the other one, or what ended this one.
func (c *Case) why(m *Moment) Cause {
	if m.hold == nil {
		return c.whyOpaque(m)
	}
	if m.hold.cause != noCause {
		return m.hold.cause
	}
	if m.message.cause != noCause {
		return m.message.cause
	}
	if m.hold.over != noCause {
		return m.hold.over // its worker went on when somebody else had the message
	}
	if other := c.hold(m.message.hold); other != nil && other.cause != noCause {
		return other.cause // and had not heard of it yet
	}
	return unexplained
}

func (x *effects) Finish(f *Facts) {
	for i, sub := range x.c.subs {
		lines := []Line{{"First effects", x.first[i], "good"}}
		shade := f.shade(effectDuplicate)
		for cause := range causes {
			lines = lineOf(lines, "Effect again, ", cause, x.again[i][cause], shade)
		}
		f.result.Ledger = append(f.result.Ledger, balance("Effects", sub.Name, "Effects", x.total[i], lines...))
		f.counts["effects"] += x.total[i]
	}
	f.counts["effects-unknown"] = max(x.intent, 0)
}
