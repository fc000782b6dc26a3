// SPDX-License-Identifier: Apache-2.0

package checkers

import (
	"time"

	"github.com/seed-720a3c77/harness/contract"
	"github.com/seed-720a3c77/harness/history"
)

// expiries follows the leases of a lease queue that run out. Deadlines near each other
// are one burst: what was not settled by then comes again, once each.
type expiries struct {
	c    *Case
	subs []deadlines
}

// deadlines are the leases of a subscription, by when they end.
type deadlines struct {
	at     map[int64]*deadline
	last   *deadline   // found without a search
	newest *deadline   // kept while it fills
	free   []*deadline // to be used again
}

// deadline is a short time in which leases end.
type deadline struct {
	slot        int64
	held        int64 // not settled
	unknown     int64 // of those: asked to be settled, without an answer
	again       int64
	beyond      int64
	first, last int64 // deadlines
	came        int64 // the first that came again
	sessions    map[uint32]bool
}

// deadlineWidth is how near deadlines must be to be looked at as one.
const deadlineWidth = int64(100 * time.Millisecond)

func (e *expiries) Kinds() history.KindSet {
	if e.c != nil && e.c.profile.Model != contract.LeaseQueue {
		return 0
	}
	return history.Only(history.Delivery, history.SettleStart, history.SettleAnswer)
}

func (e *expiries) Begin(c *Case) {
	e.c, e.subs = c, make([]deadlines, len(c.subs))
	for i := range e.subs {
		e.subs[i].at = map[int64]*deadline{}
	}
	if c.profile.Model == contract.LeaseQueue {
		c.facts.measure(redeliveredBeyond)
	}
}

func (e *expiries) Observe(m *Moment) {
	switch {
	case !m.known || m.hold == nil || m.place.role != source:
	case m.Kind == history.Delivery:
		if m.cameAgain() {
			e.again(m)
		}
		if m.Until > 0 {
			e.subs[m.sub.index].of(m.Until).held++
		}
	case m.Kind == history.SettleStart:
		if m.Verb == history.VerbRequeue && m.hold.running(m.T) {
			e.leave(m)
		}
	default:
		e.settled(m)
	}
}

// running tells whether the lease of a delivery goes on: it is not settled and not over.
func (h *hold) running(now int64) bool {
	return h.until > now && h.over == noCause && !h.is(settledHold)
}

// settled takes out of its deadline what was settled before.
func (e *expiries) settled(m *Moment) {
	asked := m.T - m.D
	switch {
	case !m.hold.running(asked):
	case m.Verb == history.VerbExtend:
		e.extended(m)
	case m.Verb != history.VerbAck && m.Verb != history.VerbReject:
	case m.Class == contract.Unknown, m.Class != contract.Rejected && m.T >= m.hold.until:
		e.subs[m.sub.index].of(m.hold.until).unknown++
	case m.Class == contract.OK, m.Class == contract.AcceptedOnly:
		if !e.c.silent(m) {
			e.leave(m)
		}
	}
}

func (e *expiries) extended(m *Moment) {
	if m.Until == 0 || m.Class != contract.OK && m.Class != contract.AcceptedOnly || m.message.hold != (ref{m.Session, m.Op}) {
		return
	}
	e.leave(m)
	e.subs[m.sub.index].of(m.Until).held++
}

// leave takes a lease out of its deadline.
func (e *expiries) leave(m *Moment) {
	all := &e.subs[m.sub.index]
	d := all.of(m.hold.until)
	d.held--
	if d != all.newest {
		all.forget(d)
	}
}

// again counts what came again after its lease had ended. What is known no more was
// settled; if that comes while leases end it is none of those that were held.
func (e *expiries) again(m *Moment) {
	all := &e.subs[m.sub.index]
	h := e.c.hold(m.message.hold)
	switch {
	case h == nil:
		if d := all.ending(m.T, e.near()); d != nil {
			d.again++
			e.beyond(m, d)
		}
	case h.until > 0 && m.T >= h.until:
		d := all.of(h.until)
		d.cameFrom(m.message.hold.session, m.T)
		if h.is(settledHold) && (m.cause == unexplained || m.cause == contractAllowed) {
			e.beyond(m, d)
		}
	}
}

func (e *expiries) beyond(m *Moment, d *deadline) {
	d.beyond++
	if x := e.c.facts.found(redeliveredBeyond, m); x != nil {
		x.Text = "was settled, and came again while the leases of others ran out"
	}
}

// near is within what time the broker may end leases together.
func (e *expiries) near() int64 { return int64(e.c.profile.Lease.Tick + e.c.profile.Tolerance) }

func (d *deadline) cameFrom(session uint32, now int64) {
	d.again++
	if d.came == 0 {
		d.came = now
	}
	if d.sessions == nil {
		d.sessions = map[uint32]bool{}
	}
	d.sessions[session] = true
}

// ending is a deadline that has just passed with something held.
func (all *deadlines) ending(now, near int64) *deadline {
	for slot := now / deadlineWidth; slot >= (now-near)/deadlineWidth; slot-- {
		if d := all.at[slot]; d != nil && d.first <= now && (d.held > 0 || d.again > 0) {
			return d
		}
	}
	return nil
}

// of finds the deadline of an instant, or makes it.
func (all *deadlines) of(until int64) *deadline {
	slot := until / deadlineWidth
	d := all.last
	if d == nil || d.slot != slot {
		if d = all.at[slot]; d == nil {
			d = all.begin(slot)
		}
		all.last = d
	}
	if d.first == 0 {
		d.first = until
	}
	d.first, d.last = min(d.first, until), max(d.last, until)
	return d
}

func (all *deadlines) begin(slot int64) *deadline {
	d := new(deadline)
	if n := len(all.free); n > 0 {
		d, all.free = all.free[n-1], all.free[:n-1]
	}
	*d = deadline{slot: slot}
	all.at[slot] = d
	if all.newest != nil {
		all.forget(all.newest)
	}
	all.newest = d
	return d
}

// forget lets go of a deadline in which nothing was left.
func (all *deadlines) forget(d *deadline) {
	if d.held > 0 || d.again > 0 {
		return
	}
	delete(all.at, d.slot)
	all.free = append(all.free, d)
	if all.last == d {
		all.last = nil
	}
}

// Finish makes bursts of deadlines that the broker cannot tell apart.
func (e *expiries) Finish(f *Facts) {
	var all []*epoch
	for i := range e.subs {
		var one *epoch
		until := int64(0)
		for _, slot := range sortedKeys(e.subs[i].at) {
			d := e.subs[i].at[slot]
			if d.first > e.c.now || d.held <= 0 && d.again == 0 {
				continue // it never came, or nothing was left
			}
			if one == nil || d.first > until+e.near() {
				one = e.c.newEpoch(e.c.subs[i], KindExpiry, int64(len(all)+1), d.first)
				all = append(all, one)
			}
			until = d.last
			one.expire(d)
		}
	}
	tellEpochs(f, all)
}

func (e *epoch) expire(d *deadline) {
	e.UncommittedMax += max(0, d.held)
	e.UncommittedMin += max(0, d.held-d.unknown)
	e.Redelivered += d.again
	e.Beyond += d.beyond
	for s := range d.sessions {
		e.members[s] = true
	}
	if d.came > 0 {
		e.gap(d.first, d.came)
	}
}
