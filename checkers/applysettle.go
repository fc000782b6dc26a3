// SPDX-License-Identifier: Apache-2.0

package checkers

import (
	"strings"

	"github.com/seed-720a3c77/harness/contract"
	"github.com/seed-720a3c77/harness/history"
)

func (c *Case) applySettle(m *Moment) {
	if m.hold == nil {
		return
	}
	if m.Verb == history.VerbCommit || m.Verb == history.VerbMark {
		c.applyCommit(m)
		return
	}
	if !m.known {
		return
	}
	known := m.message
	known.last = m.T
	if m.Kind == history.SettleStart {
		c.startSettle(m, known)
	} else {
		c.answerSettle(m, known)
	}
}

func (c *Case) startSettle(m *Moment, known *message) {
	m.hold.verb, m.hold.settleAt = m.Verb, m.T
	switch m.Verb {
	case history.VerbRequeue:
		if !m.hold.is(settledHold) && m.hold.over == noCause {
			c.end(known, ref{m.Session, m.Op}, m.hold, requeued)
		}
	case history.VerbAck, history.VerbReject:
		m.hold.state |= settling
	}
}

func (c *Case) answerSettle(m *Moment, known *message) {
	switch m.Verb {
	case history.VerbExtend:
		c.extend(m, known)
	case history.VerbAck, history.VerbReject:
		m.hold.state &^= settling
		c.settle(m, known)
	}
	c.finish(ref{m.Session, m.Op}, m.hold)
}

// settle judges the answer of an ack or a reject.
func (c *Case) settle(m *Moment, known *message) {
	switch m.Class {
	case contract.OK, contract.AcceptedOnly:
		if c.silent(m) || m.hold.gone() {
			return
		}
		c.settleHold(m.session, m.hold)
		known.marks |= settled
		if m.hold.until == 0 || m.T-m.D < m.hold.until {
			known.marks |= inTime
		}
		if m.hold.until > 0 && m.T >= m.hold.until && m.message.hold == (ref{m.Session, m.Op}) {
			inc(&known.ended) // the lease may have run out before the ack was applied
			known.cause = leaseExpired
		}
		if m.Class == contract.AcceptedOnly {
			m.hold.state |= weak
		}
		if m.Verb == history.VerbReject {
			known.marks |= discarded
		}
	case contract.Rejected:
		c.end(known, ref{m.Session, m.Op}, m.hold, settleRefused)
	default:
		known.marks |= settledMaybe
		if m.Verb == history.VerbReject {
			known.marks |= discarded
		}
		c.end(known, ref{m.Session, m.Op}, m.hold, settleUnknown)
	}
}

// silent tells whether a settlement with a stale token said ok and changed nothing: the
// message was received again since, and only the newest token counts.
func (c *Case) silent(m *Moment) bool {
	stale := m.message.hold != (ref{m.Session, m.Op}) && m.message.hold != (ref{})
	return stale && c.profile.Stale == contract.StaleSilent
}

// extend moves the deadline of the message, whichever holder asked. An extension without
// an answer leaves the earlier of both deadlines.
func (c *Case) extend(m *Moment, known *message) {
	newest := c.hold(known.hold)
	if newest == nil {
		newest = m.hold
	}
	switch {
	case m.Until == 0:
	case m.Class == contract.OK, m.Class == contract.AcceptedOnly:
		newest.until = m.Until
	case m.Class == contract.Unknown:
		newest.until = min(newest.until, m.Until)
	}
}

func (c *Case) applyCommit(m *Moment) {
	if m.sub == nil {
		return
	}
	p := m.sub.partition(m.place.ref)
	if m.Kind == history.SettleStart {
		m.hold.verb, m.hold.settleAt, m.hold.until = m.Verb, m.T, m.Off
		p.maybe = max(p.maybe, m.Off)
		return
	}
	if m.Verb == history.VerbMark || m.Class != contract.OK {
		return
	}
	p.commit(m.hold.until, m.hold.settleAt, m.T)
}

// commit takes a position that was answered with success. One that is lower than the top
// and was asked for after the top was answered moved the group back; one that was asked
// for before leaves both possible.
func (p *partition) commit(position, asked, answered int64) {
	switch {
	case position >= p.top, asked >= p.topAt:
		p.committed, p.top, p.topAt = position, position, answered
	default:
		p.committed = min(p.committed, position)
	}
	p.maybe = max(p.maybe, p.top)
}

func (c *Case) applyPosition(m *Moment) {
	if m.sub == nil {
		return
	}
	p, a := m.sub.partition(m.Event.Place), m.session.claim(m.Event.Place)
	switch m.Kind {
	case history.Revoke:
		a.state = revoked
	case history.Seek:
		m.sub.moved = true
		c.begin(m.session, a, p, m.Off, sought)
	case history.Assign:
		if p.superseded(m) {
			a.state = revoked
			return
		}
		text := c.names(history.Texts, m.Text)
		c.begin(m.session, a, p, m.Off, whyThere(text, p))
		p.ownerGen = m.Gen
		if strings.HasPrefix(text, "committed") && m.Off >= 0 {
			p.committed, p.top, p.maybe, p.topAt = m.Off, m.Off, m.Off, m.T
		}
	}
}

func (c *Case) applyWorker(m *Moment) {
	if m.Kind == history.WorkerStart || !m.Has(history.Crashed) {
		return
	}
	if m.Event.Session != 0 {
		c.closeSession(m.session, sessionDied, true)
		return
	}
	worker := c.names(history.Texts, m.Text)
	for _, s := range c.sessions {
		if s != nil && s.worker == worker {
			c.closeSession(s, sessionDied, true)
		}
	}
}

// closeSession ends what a session still held. An ack without an answer may not have
// arrived if the session did not end politely, so it excuses a redelivery too.
func (c *Case) closeSession(s *session, why Cause, crashed bool) {
	s.open, s.ended = false, why
	s.died = s.died || crashed
	for i := range s.claims {
		if s.claims[i].state == assigned {
			s.claims[i].state = revoked
		}
	}
	sub := c.subAt(s.sub)
	if sub == nil {
		return
	}
	sub.left++
	if why != sessionClosed {
		sub.unseen = true
		sub.died++
	}
	unsettled, unfinished := s.held, int64(0)
	s.holds.each(func(op uint32, h *hold) {
		if h.unfinished() {
			unfinished++
		}
		c.closeHold(sub, ref{s.ref, op}, h, why, crashed)
	})
	if crashed {
		unsettled, unfinished = max(unsettled, sub.uncommitted()), max(unfinished, sub.uncommitted())
	}
	c.struck(unsettled, unfinished)
	s.held = 0
}

func (c *Case) closeHold(sub *subscription, r ref, h *hold, why Cause, crashed bool) {
	doubtful := h.is(weak) && why != sessionClosed
	if h.over != noCause && !h.is(handling) || h.is(settledHold) && !doubtful && !h.is(handling) {
		return
	}
	var e edit
	c.open(&e, sub.index, h.id())
	known := e.message
	if crashed && h.is(handling) {
		h.state = h.state&^handling | handled
		dec(&known.running)
	}
	switch {
	case h.over != noCause, h.is(settledHold) && !doubtful:
	case sub.log:
		h.over = why
	case h.is(settling):
		known.marks |= settledMaybe
		c.end(known, r, h, settleUnknown)
	default:
		h.state &^= weak
		c.end(known, r, h, why)
	}
	known.last = c.now
	c.close(&e)
	c.finish(r, h)
}
