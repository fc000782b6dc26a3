// SPDX-License-Identifier: Apache-2.0

package checkers

import (
	"fmt"
	"math"

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
	if k.c.outOfSight(m.sub, m.message) > 0 {
		return
	}
	flagged := k.c.profile.FlagTrusted && m.Has(history.Redelivered)
	if flagged || k.c.profile.CountTrusted && m.N > 1 {
		k.note(wrongCount, m, "said to have been delivered before, and nobody can have had it")
	}
}

// outOfSight is how many deliveries of a message there can have been that no client saw. On
// a push queue every session that ended can have had it in its buffer, but for the one that
// is known to have held it; elsewhere an answer that was lost, or is kept back by a fault,
// can have had it any number of times.
func (c *Case) outOfSight(sub *subscription, known *message) int64 {
	switch {
	case c.profile.Model == contract.PushQueue && !sub.missed:
		return sub.left - c.ofHolder(known, func(why Cause) bool { return why != noCause })
	case sub.unseen, c.profile.Model == contract.LeaseQueue && c.faults.struck():
		return math.MaxInt32
	}
	return 0
}

// ofHolder is 1 where the session that had a message last ended in a certain way.
func (c *Case) ofHolder(known *message, way func(Cause) bool) int64 {
	if known.received > 0 && way(c.session(known.hold.session).ended) {
		return 1
	}
	return 0
}

func (k *flagChecks) again(m *Moment) {
	if k.c.profile.FlagTrusted && !m.Has(history.Redelivered) {
		k.note(unflaggedRedelivery, m, "delivered before, and the flag is not set")
	}
	if !k.c.profile.CountTrusted || m.N == 0 || k.c.late(m) {
		return
	}
	before := uint32(m.message.count)
	jumped := m.message.stored <= 1 && int64(m.N)-int64(before)-1 > k.c.outOfSight(m.sub, m.message)
	wrong := m.N <= before || jumped && before > 0
	if before == math.MaxUint8 { // or more: no more is remembered
		wrong = m.N < before
	}
	if wrong {
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
