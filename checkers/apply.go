// SPDX-License-Identifier: Apache-2.0

package checkers

import (
	"math"

	"github.com/seed-720a3c77/harness/contract"
	"github.com/seed-720a3c77/harness/history"
)

// apply brings the case up to date with an event, after every checker has seen it.
func (c *Case) apply(m *Moment) {
	switch m.Kind {
	case history.PublishStart, history.PublishAnswer:
		c.applyPublish(m)
	case history.Delivery:
		c.applyDelivery(m)
	case history.HandlerStart, history.HandlerEnd, history.EffectIntent, history.EffectResult:
		c.applyWork(m)
	case history.EffectFound:
		applyFound(m)
	case history.SettleStart, history.SettleAnswer:
		c.applySettle(m)
	case history.Audit:
		c.applyAudit(m)
	case history.SessionOpen:
		m.session.open = true
	case history.SessionClose:
		if m.sub != nil && m.Has(history.Crashed) {
			m.sub.diedAt = m.T
		}
		c.closeSession(m.session, deathCause(c.names(history.Texts, m.Text), m.Has(history.Crashed)), m.Has(history.Crashed))
	case history.WorkerStart, history.WorkerEnd:
		c.applyWorker(m)
	case history.Assign, history.Revoke, history.Seek:
		c.applyPosition(m)
	case history.Receive:
		applyReceive(m)
	case history.FaultRequested, history.FaultActive, history.FaultHealed, history.FaultRecovered:
		c.applyFault(m.Event)
	default:
		c.applyRun(m)
	}
}

func applyReceive(m *Moment) {
	switch {
	case m.sub == nil:
	case m.Class == contract.Unknown:
		m.sub.unseen, m.sub.missed = true, true
	case m.N == 0:
		m.sub.idleAt = m.T
	}
}

func (c *Case) applyRun(m *Moment) {
	switch m.Kind {
	case history.Drained:
		c.ends.drainSeen, c.ends.drained = true, m.Class == contract.OK
		c.ends.drainText = c.names(history.Texts, m.Text)
	case history.AuditEnd:
		c.ends.audited[m.Event.Place] = m.Class == contract.OK
	case history.Interrupted:
		c.ends.interrupted = true
	case history.Dropped:
		c.ends.dropped += int64(m.N)
	case history.Phase:
		switch c.names(history.Texts, m.Text) {
		case "warm-up":
			c.ends.loadAt = math.MaxInt64
		case "load":
			c.ends.loadAt = m.T
		}
	}
}

func (c *Case) applyPublish(m *Moment) {
	if m.forward {
		c.applyForward(m)
		return
	}
	c.attempt(m, m.message)
	for _, sub := range c.feedsOf(m) {
		if m.known && sub != m.sub.index {
			var e edit
			c.open(&e, sub, m.id)
			c.attempt(m, e.message)
			c.close(&e)
		}
	}
}

func (c *Case) attempt(m *Moment, known *message) {
	switch {
	case !m.known:
	case m.Kind == history.PublishStart:
		startAttempt(known, m.Event)
	default:
		c.answerAttempt(known, m)
	}
}

func startAttempt(known *message, e *history.Event) {
	if known.attempts == 0 {
		known.due, known.sent = e.T-e.D, e.T
	}
	known.last = e.T
	inc(&known.attempts)
}

func (c *Case) answerAttempt(known *message, m *Moment) {
	inc(&known.answered)
	known.last = m.T
	if m.Class == contract.Rejected {
		known.marks |= sawRejected
		return
	}
	own := max(m.N, 1) - 1 // beyond the one that was asked for
	again := known.acked != 0 && c.swallowed(known, m)
	if !again && (m.Class == contract.OK || m.Class == contract.AcceptedOnly) {
		known.acked = m.T
	}
	switch m.Class {
	case contract.OK:
		known.marks |= sawOK
		c.stand(known, m)
	case contract.AcceptedOnly:
		known.marks |= sawAccepted
	default:
		known.marks |= sawUnknown
		own = max(own, uint32(c.copiesOfUnknown(m.id.Producer)-1))
	}
	if p := c.producerOf(m.id.Producer); p != nil && c.storedOnce(p) {
		own = 0
	}
	if !c.swallowed(known, m) {
		add(&known.copies, 1+own)
	}
}

// stand remembers where the broker said that the first copy stands.
func (c *Case) stand(known *message, m *Moment) {
	if c.profile.Model == contract.Log && m.Off >= 0 && known.received == 0 && m.Event.Place != 0 {
		known.place, known.off = m.Event.Place, m.Off
	}
}

// applyForward follows a client's own write to a dead-letter or retry destination.
func (c *Case) applyForward(m *Moment) {
	if !m.known {
		return
	}
	known := m.message
	known.last = m.T
	if m.Kind == history.PublishAnswer {
		switch {
		case m.Class == contract.Rejected:
			known.marks |= forwardLost
		case m.Class == contract.Unknown:
			known.marks |= forwardMaybe
		case m.place.role == deadLetter:
			inc(&known.forwarded)
		default:
			known.place, known.off = m.Event.Place, m.Off
		}
	}
}

func (c *Case) applyDelivery(m *Moment) {
	c.hand(m.session, +1)
	if m.passes() {
		c.advance(m)
		p := m.sub.partition(m.Event.Place)
		p.maybe = max(p.maybe, p.read) // its own settlement is not followed
	}
	if !m.known || m.Has(history.Foreign) {
		c.drop(m)
		return
	}
	if !m.session.counted {
		m.session.counted = true
		m.sub.workers[m.session.worker] = true
	}
	known := m.message
	known.last = m.T
	if m.place.role == deadLetter {
		known.marks |= deadSeen
		c.drop(m)
		return
	}
	inc(&known.received)
	if m.copy || known.stored == 0 {
		inc(&known.stored)
	}
	known.hold = ref{m.Session, m.Op}
	known.place, known.off = m.Event.Place, m.Off
	known.count = uint8(min(m.N, 255))
	if known.due == 0 {
		known.due = m.hold.due
	}
	if m.sub.log {
		c.advance(m)
	}
}

// drop finishes a hold that the ledger does not follow.
func (c *Case) drop(m *Moment) {
	m.hold.state |= handled | settledHold
	c.finish(ref{m.Session, m.Op}, m.hold)
	c.hand(m.session, -1)
}

// passes tells whether a reader goes past a record of a log that is not of this run.
func (m *Moment) passes() bool {
	return m.Has(history.Foreign) && m.sub != nil && m.sub.log && m.place.role == source && m.Off >= 0
}

// advance moves the reader and its group past a record.
func (c *Case) advance(m *Moment) {
	p, a := m.sub.partition(m.Event.Place), m.session.claim(m.Event.Place)
	a.next = m.Off + 1
	p.read = max(p.read, m.Off+1)
	if p.owner != m.Session && p.owner != 0 {
		owner := c.scene.session(p.owner).claim(m.Event.Place)
		owner.end = max(owner.end, m.Off+1)
	}
}

func (c *Case) hand(s *session, by int64) {
	s.held += by
	s.peak = max(s.peak, s.held)
}

func (c *Case) applyWork(m *Moment) {
	if m.opaque() {
		applyOpaque(m)
		return
	}
	if m.hold == nil || !m.known {
		return
	}
	known := m.message
	known.last = m.T
	switch m.Kind {
	case history.HandlerStart:
		m.hold.state |= handling
		m.hold.began = m.T
		inc(&known.runs)
		inc(&known.running)
	case history.HandlerEnd:
		c.endHandler(m, known)
	case history.EffectIntent:
		known.marks |= intended
	case history.EffectResult:
		if effectsAfter(known.effects, m.Event) > known.effects {
			known.well = m.T
		}
		applyEffect(known, m.Event)
	}
}

func (c *Case) endHandler(m *Moment, known *message) {
	if m.hold.is(handling) {
		dec(&known.running)
	}
	m.hold.state = m.hold.state&^handling | handled
	if !m.Has(history.Failed) {
		m.hold.state |= succeeded
		inc(&known.done)
		if !m.sub.effects {
			known.well = m.T
		}
	}
	if m.sub.log {
		c.settleHold(m.session, m.hold)
	}
	c.finish(ref{m.Session, m.Op}, m.hold)
}

func applyEffect(known *message, e *history.Event) {
	known.marks &^= intended
	if e.Class == contract.Unknown {
		known.marks |= intended
	}
	known.effects = effectsAfter(known.effects, e)
}

// applyFound lets a store decide an effect whose result is not known.
func applyFound(m *Moment) {
	if m.known && m.message.is(intended) {
		m.message.effects = uint8(min(m.N, 255))
		m.message.marks &^= intended
	}
}

// effectsAfter is how many effects stand after a result. Where the store says how many it
// has for the id, its word counts; answers to two workers may be recorded in the other order.
func effectsAfter(before uint8, e *history.Event) uint8 {
	switch {
	case e.Has(history.Skipped), e.Has(history.Refused), e.Class == contract.Rejected, e.Class == contract.Unknown:
		return before
	case e.N > 0:
		return max(before, uint8(min(e.N, 255)))
	}
	inc(&before)
	return before
}

func (c *Case) applyAudit(m *Moment) {
	if !m.known {
		return
	}
	known := m.message
	switch {
	case m.place.role == deadLetter:
		inc(&known.dead)
	default:
		inc(&known.audits)
		if known.place == 0 {
			known.place, known.off = m.Event.Place, m.Off
		}
	}
}

// finish lets go of a hold that nothing more is expected of.
func (c *Case) finish(r ref, h *hold) {
	if h.finished() {
		c.scene.session(r.session).holds.close(r.op, c.memory)
	}
}

// settleHold takes a hold out of what its session holds.
func (c *Case) settleHold(s *session, h *hold) {
	if !h.is(settledHold) && h.over == noCause {
		c.hand(s, -1)
	}
	h.state |= settledHold
}
