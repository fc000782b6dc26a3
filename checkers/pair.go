// SPDX-License-Identifier: Apache-2.0

package checkers

import (
	"strings"

	"github.com/seed-720a3c77/harness/contract"
	"github.com/seed-720a3c77/harness/history"
)

// This file pairs every extra delivery with what caused it. One cause excuses one extra
// delivery of each message that it held, and must be earlier in time.

// pair decides whether a delivery is an extra one, of which kind, and why it came.
func (c *Case) pair(m *Moment) {
	if m.sub.log {
		c.pairLog(m)
		return
	}
	c.pairQueue(m)
}

// pairQueue looks for an earlier hold that ended unsettled, then for a second stored
// copy. Where the broker's count or flag is evidence, a delivery that says it is the
// first is taken for a copy before it is taken for a redelivery.
func (c *Case) pairQueue(m *Moment) {
	known := m.message
	if known.received == 0 {
		return
	}
	m.extra = true
	live := c.expire(m)
	mayCopy := int(known.stored) < c.mayStore(m.id, known)
	switch {
	case m.Text != 0 && c.names(history.Texts, m.Text) == history.Injected:
		m.cause = injected
	case c.late(m):
		dec(&known.ended)
		m.cause = leaseExpired
	case c.saysFirst(m) && mayCopy:
		m.copy, m.cause = true, producerCopy
	case m.place.role == retry && known.place != m.Place:
		m.copy, m.cause = true, retryDestination
	case known.ended > 0:
		known.ended--
		m.cause = known.cause
	case mayCopy:
		m.copy, m.cause = true, producerCopy
	case c.profile.CountTrusted && m.N == 1:
		m.copy, m.cause = true, unexplained
	case c.fellSilent(m):
		m.cause = sessionDied
	case c.spontaneous():
		m.cause = contractAllowed
		m.premature = live
	default:
		m.cause = unexplained
		m.premature = live
	}
}

// late tells whether an answer that brings a delivery was so long under way that its lease
// is over, and somebody else may have had the message first.
func (c *Case) late(m *Moment) bool {
	overtaken := !c.profile.CountTrusted || m.N == 0 || m.N < uint32(m.message.count)
	return c.profile.Model == contract.LeaseQueue && m.Until > 0 && m.Until <= m.T && overtaken
}

// expire ends the holds of a message whose lease is over, and tells whether one has time left.
func (c *Case) expire(m *Moment) (live bool) {
	for r := m.message.hold; ; {
		h := c.hold(r)
		if h == nil || h.seq != m.id.Seq || h.producer != m.id.Producer {
			return live
		}
		if h.over == noCause && !h.is(settledHold) && h.until > 0 {
			if m.T >= h.until {
				c.end(m.message, r, h, leaseExpired)
			} else {
				live = true
			}
		}
		if h.prev == r {
			return live
		}
		r = h.prev
	}
}

// fellSilent tells whether the holder on a push queue said nothing for so long that the
// broker may have given its session up, which it learns of later.
func (c *Case) fellSilent(m *Moment) bool {
	h := c.hold(m.message.hold)
	if c.profile.Model != contract.PushQueue || h == nil || h.over != noCause || h.is(settledHold) {
		return false
	}
	silence := m.T - c.session(m.message.hold.session).last
	return c.profile.Session.Floor > 0 && silence >= int64(c.profile.Session.Floor)
}

// end notes that a hold ended unsettled; on a queue that excuses one more delivery.
func (c *Case) end(known *message, r ref, h *hold, why Cause) {
	if h.over != noCause {
		return
	}
	if !h.is(settledHold) {
		c.hand(c.scene.session(r.session), -1)
	}
	h.over = why
	inc(&known.ended)
	known.cause = why
	c.finish(r, h)
}

// saysFirst tells whether the broker itself says that this is a first delivery, where
// its word is evidence.
func (c *Case) saysFirst(m *Moment) bool {
	if c.profile.CountTrusted && m.N > 0 {
		return m.N == 1
	}
	return c.profile.FlagTrusted && !m.Has(history.Redelivered)
}

// pairLog excuses a second reading of exactly [where the reader began, what had been read
// then), once each. An offset that nobody had read is a new stored copy.
func (c *Case) pairLog(m *Moment) {
	p, a := c.reads(m)
	if m.message.received == 0 {
		return
	}
	m.extra = true
	switch {
	case m.Off >= p.read && m.place.role == retry:
		m.copy, m.cause = true, retryDestination
	case m.Off >= p.read && int(m.message.stored) < c.mayStore(m.id, m.message):
		m.copy, m.cause = true, producerCopy
	case m.Off >= p.read:
		m.copy, m.cause = true, unexplained
	case a.state == assigned && p.owner == m.Session && m.Off >= a.from && m.Off >= a.next && m.Off < a.end:
		m.cause = a.cause
	case a.state != assigned || p.owner != m.Session:
		m.cause = partitionMoved
	default:
		m.cause = unexplained
	}
}

// reads begins the reading of a partition that was not begun yet.
func (c *Case) reads(m *Moment) (*partition, *assignment) {
	p, a := m.sub.partition(m.Event.Place), m.session.claim(m.Event.Place)
	if a.state == unassigned || a.state == assigned && a.from < 0 {
		c.begin(m.session, a, p, m.Off, rewound)
		m.began = true
	}
	return p, a
}

// begin starts a session's reading of a partition. What lies below the committed position
// is not excused by a rewind to it.
func (c *Case) begin(s *session, a *assignment, p *partition, off int64, why Cause) {
	*a = assignment{state: assigned, from: off, next: off, end: p.read, cause: why}
	if why == rewound && off >= 0 {
		a.from = max(off, p.committed)
	}
	p.owner, p.since, p.ownerGen = s.ref, c.now, 0
	if p.start < 0 {
		p.start = off
	}
}

// whyThere reads the text of an assignment.
func whyThere(text string, p *partition) Cause {
	switch {
	case strings.HasPrefix(text, "seek"):
		return sought
	case strings.HasPrefix(text, "earliest"), strings.HasPrefix(text, "latest"):
		if p.committed >= 0 {
			return positionReset
		}
	}
	return rewound
}
