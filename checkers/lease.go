// SPDX-License-Identifier: Apache-2.0

package checkers

import (
	"github.com/seed-720a3c77/harness/contract"
	"github.com/seed-720a3c77/harness/history"
	"github.com/seed-720a3c77/harness/msg"
)

// leases looks for messages that were free again and were not given to consumers that
// polled in vain long after. (A delivery that comes too early is found by duplicates.)
type leases struct{ c *Case }

func (l *leases) Kinds() history.KindSet { return 0 }

func (l *leases) Begin(c *Case) {
	l.c = c
	if c.profile.Model != contract.Log {
		c.facts.measure(stuck)
	}
}

func (l *leases) Observe(*Moment) {}

func (l *leases) Finish(f *Facts) {
	for _, sub := range l.c.subs {
		if sub.log {
			continue
		}
		for producer, t := range l.c.tablesOf(sub.index) {
			t.each(func(seq uint64, known *message) {
				l.judge(f, sub, msg.ID{Producer: producer, Seq: seq}, known)
			})
		}
	}
}

func (l *leases) judge(f *Facts, sub *subscription, id msg.ID, known *message) {
	if known.received == 0 || known.through(sub) || known.class() != contract.OK {
		return
	}
	if what := l.c.fate(sub, known); what != isUndrained && what != isStored && what != isHeld {
		return
	}
	free, is := l.freeSince(known)
	if !is || sub.idleAt <= free+l.bound(known.cause) {
		return
	}
	if x := f.concluded(stuck, sub, id, known); x != nil {
		x.Text = "free again since " + span(free) + ", and the last empty poll was at " + span(sub.idleAt)
	}
}

// freeSince is when the latest hold ended. A message that was given back on purpose may
// have been asked to stay away, so it is not judged.
func (l *leases) freeSince(known *message) (int64, bool) {
	h := l.c.hold(known.hold)
	if h == nil {
		return known.last, known.ended > 0 && known.cause != requeued
	}
	switch {
	case h.is(handling), h.is(settledHold), h.is(settling), h.over == requeued:
		return 0, false
	case h.over != noCause:
		return max(known.last, h.until), true
	}
	return h.until, h.until > 0 && h.until < l.c.now
}

// bound is how late a broker may be. The sweep that ends leases has no part in what a
// dead session gives back, unless the session had nothing but a lease.
func (l *leases) bound(why Cause) int64 {
	p := l.c.profile
	late := p.TakeOver + p.Tolerance + p.Session.Default
	if p.Model == contract.LeaseQueue || why != sessionDied && why != sessionClosed {
		late += p.Lease.Tick
	}
	return int64(late)
}
