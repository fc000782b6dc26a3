// SPDX-License-Identifier: Apache-2.0

package checkers

import (
	"fmt"

	"github.com/seed-720a3c77/harness/contract"
	"github.com/seed-720a3c77/harness/history"
)

// flagChecks holds the redelivered flag and the delivery count to their word, where the
// profile says that they are evidence. A delivery that no client saw counts too, so that
// a count may jump where there can have been one; it must always grow.
type flagChecks struct{ c *Case }

func (k *flagChecks) Kinds() history.KindSet {
	if !k.c.profile.FlagTrusted && !k.c.profile.CountTrusted {
		return 0
	}
	return history.Only(history.Delivery)
}

func (k *flagChecks) Begin(c *Case) {
	k.c = c
	if c.profile.FlagTrusted {
		c.facts.measure(unflaggedRedelivery, wrongCount)
	}
	if c.profile.CountTrusted {
		c.facts.measure(wrongCount, innocentVictim)
	}
}

func (k *flagChecks) Observe(m *Moment) {
	switch {
	case !m.known || m.copy || m.place.role != source:
	case m.extra:
		k.again(m)
	default:
		k.first(m)
	}
}

// first is the first delivery that is recorded of a message.
func (k *flagChecks) first(m *Moment) {
	if k.outOfSight(m.sub) {
		return
	}
	flagged := k.c.profile.FlagTrusted && m.Has(history.Redelivered)
	if flagged || k.c.profile.CountTrusted && m.N > 1 {
		k.note(wrongCount, m, "said to have been delivered before, and nobody can have had it")
	}
}

// outOfSight tells whether there can have been deliveries that no client saw: one ended, or
// a fault keeps an answer back that comes after others.
func (k *flagChecks) outOfSight(sub *subscription) bool {
	switch k.c.profile.Model {
	case contract.PushQueue:
		return sub.unseen || sub.left
	case contract.LeaseQueue:
		return sub.unseen || k.c.faults.struck()
	}
	return sub.unseen
}

func (k *flagChecks) again(m *Moment) {
	if k.c.profile.FlagTrusted && !m.Has(history.Redelivered) {
		k.note(unflaggedRedelivery, m, "delivered before, and the flag is not set")
	}
	if !k.c.profile.CountTrusted || m.N == 0 || k.c.late(m) {
		return
	}
	before := uint32(m.message.count)
	jumped := m.N > before+1 && m.message.stored <= 1 && !k.outOfSight(m.sub)
	if m.N <= before || jumped && before > 0 {
		k.note(wrongCount, m, fmt.Sprintf("count %d after %d", m.N, before))
		return
	}
	if h := k.c.hold(m.message.hold); h != nil && h.over != noCause && h.began == 0 {
		k.note(innocentVictim, m, fmt.Sprintf("count %d, and the handler had not begun: %s", m.N, h.over))
	}
}

func (k *flagChecks) note(r row, m *Moment, text string) {
	if x := k.c.facts.found(r, m); x != nil {
		x.Text = text
	}
}

func (k *flagChecks) Finish(*Facts) {}
