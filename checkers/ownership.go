// SPDX-License-Identifier: Apache-2.0

package checkers

import (
	"github.com/seed-720a3c77/harness/contract"
	"github.com/seed-720a3c77/harness/history"
)

// ownership finds work and settlements by workers that no longer held what they worked
// on, settlements that were refused, changed nothing or should have been refused, and
// partitions that were given to two at a time.
type ownership struct {
	c *Case
	// late is when a former owner was first given a record after another had taken over.
	late map[formerOwner]int64
}

// formerOwner is a session that lost a partition to one that took over at an instant.
type formerOwner struct {
	session, place uint32
	lost           int64
}

func (o *ownership) Kinds() history.KindSet {
	kinds := []history.Kind{history.HandlerStart, history.SettleStart, history.SettleAnswer, history.EffectResult}
	if o.c != nil && o.c.profile.Model == contract.Log {
		kinds = append(kinds, history.Delivery)
	}
	return history.Only(kinds...)
}

func (o *ownership) Begin(c *Case) {
	o.c, o.late = c, map[formerOwner]int64{}
	c.facts.measure(zombieHandling, zombieSettle, zombieEffect, silentSettle, refusedSettle)
	if c.profile.Stale == contract.StaleRefused {
		c.facts.measure(staleAccepted)
	}
	if c.profile.Model == contract.Log {
		c.facts.measure(doubleOwnership)
	}
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
	case history.EffectResult:
		if effectsAfter(m.message.effects, m.Event) > m.message.effects && o.gone(m) {
			o.note(zombieEffect, m, "did its effect after its ownership had ended")
		}
	case history.SettleStart:
		if o.gone(m) {
			o.note(zombieSettle, m, "settled it after its ownership had ended")
		}
	case history.SettleAnswer:
		o.answer(m)
	case history.Delivery:
		o.delivery(m)
	}
}

// gone tells whether the worker no longer holds the message.
func (o *ownership) gone(m *Moment) bool {
	if m.sub.log {
		return m.session.claim(m.place.ref).state == revoked || m.sub.partition(m.place.ref).owner != m.Session
	}
	return m.hold.over != noCause || m.hold.until > 0 && m.T >= leaseEnd(m)
}

// leaseEnd is when the lease of what is held is certainly over: it begins between the poll and
// its answer, and a long poll may take as long as the lease.
func leaseEnd(m *Moment) int64 { return max(m.hold.until, m.hold.at+int64(m.sub.Lease)) }

func (o *ownership) answer(m *Moment) {
	switch {
	case m.Class == contract.Rejected:
		o.note(refusedSettle, m, "was refused")
	case m.Class != contract.OK:
	case o.c.profile.Stale == contract.StaleRefused && o.stale(m):
		o.note(staleAccepted, m, "was told ok with a stale token")
	case isSettle(m.Verb) && !m.sub.log && o.c.silent(m):
		o.note(silentSettle, m, "was told ok with a stale token")
	}
}

// stale tells whether a settlement was certainly asked for with a token that somebody
// else's had replaced.
func (o *ownership) stale(m *Moment) bool {
	asked := m.T - m.D
	if m.sub.log {
		p := m.sub.partition(m.place.ref)
		return m.Verb == history.VerbCommit && p.owner != m.Session && p.ownerGen > m.Gen && m.Gen > 0 && p.since < asked
	}
	newest := o.c.hold(m.message.hold)
	left := gone(m.sub, m.message) || newest != nil && newest != m.hold && newest.is(settling)
	if left || m.message.stored > 1 {
		return false // it may have left before, or the other token is of another copy
	}
	if m.hold.until > 0 && asked >= leaseEnd(m)+o.slack() && o.c.profile.Knobs["stale-after-expiry"] == string(contract.StaleRefused) {
		return true
	}
	return newest != nil && newest != m.hold && newest.at < asked
}

// delivery finds a partition with two owners: the former one goes on being given records
// that were published after the other took over, for longer than it may take until it
// hears of it.
func (o *ownership) delivery(m *Moment) {
	p := m.sub.partition(m.place.ref)
	if p.owner == m.Session || p.owner == 0 || m.session.claim(m.place.ref).state == unassigned {
		return
	}
	key := formerOwner{m.Session, m.place.ref, p.since}
	first, before := o.late[key]
	if !before {
		o.late[key] = m.T
		return
	}
	if m.T-first > o.bound() && m.message.sent > p.since {
		o.note(doubleOwnership, m, "was given it although another had taken the partition over")
	}
}

// slack is how late the broker may apply the end of a lease.
func (o *ownership) slack() int64 { return int64(o.c.profile.Lease.Tick + o.c.profile.Tolerance) }

// bound is how long a former owner may go on without having heard that it is one.
func (o *ownership) bound() int64 {
	p := o.c.profile
	return int64(p.Session.Default + p.TakeOver + p.Tolerance)
}

func (o *ownership) note(r row, m *Moment, text string) {
	m.cause = m.hold.over
	if x := o.c.facts.found(r, m); x != nil {
		x.Text = m.session.worker + " " + text
	}
}

func (o *ownership) Finish(*Facts) {}
