// SPDX-License-Identifier: Apache-2.0

package checkers

import (
	"github.com/seed-720a3c77/harness/contract"
	"github.com/seed-720a3c77/harness/history"
)

// ownership finds work and settlements by workers that no longer held what they worked
// on, and settlements that were refused or changed nothing.
type ownership struct{ c *Case }

func (o *ownership) Kinds() history.KindSet {
	return history.Only(history.HandlerStart, history.SettleStart, history.SettleAnswer)
}

func (o *ownership) Begin(c *Case) {
	o.c = c
	c.facts.measure(zombieHandling, zombieSettle, silentSettle, refusedSettle)
}

func (o *ownership) Observe(m *Moment) {
	if m.hold == nil || !m.known || m.place.role == deadLetter {
		return
	}
	switch m.Kind {
	case history.HandlerStart:
		if o.gone(m) {
			o.note(zombieHandling, m, "began to work on it after its ownership had ended")
		}
	case history.SettleStart:
		if o.gone(m) {
			o.note(zombieSettle, m, "settled it after its ownership had ended")
		}
	case history.SettleAnswer:
		o.answer(m)
	}
}

// gone tells whether the worker no longer holds the message.
func (o *ownership) gone(m *Moment) bool {
	if m.sub.log {
		return m.session.claim(m.place.ref).state == revoked || m.sub.partition(m.place.ref).owner != m.Session
	}
	return m.hold.over != noCause || m.hold.until > 0 && m.T >= m.hold.until
}

func (o *ownership) answer(m *Moment) {
	switch {
	case m.Class == contract.Rejected:
		o.note(refusedSettle, m, "was refused")
	case m.Class == contract.OK && isSettle(m.Verb) && !m.sub.log && o.c.silent(m):
		o.note(silentSettle, m, "was told ok with a stale token")
	}
}

func (o *ownership) note(r row, m *Moment, text string) {
	m.cause = m.hold.over
	if x := o.c.facts.found(r, m); x != nil {
		x.Text = m.session.worker + " " + text
	}
}

func (o *ownership) Finish(*Facts) {}
