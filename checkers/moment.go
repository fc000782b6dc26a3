// SPDX-License-Identifier: Apache-2.0

package checkers

import (
	"github.com/seed-720a3c77/harness/history"
	"github.com/seed-720a3c77/harness/msg"
)

// Moment is one event, joined with what it is about. The message is as it was before the
// event; what a delivery is paired with is known already.
type Moment struct {
	*history.Event
	// Index is the event's place in the merged history, from 0.
	Index int64

	id      msg.ID
	sub     *subscription // nil: of nobody
	session *session
	place   *place
	hold    *hold
	known   bool // id, sub and message mean something
	message *message
	edit    *edit // the session's, so that what it goes on with need not be looked up

	// Of a publish: it writes to a dead-letter or retry destination.
	forward bool
	// Of a delivery: it is not the first (extra), a new stored copy of the id (copy),
	// before the end of a lease (premature); why it came; the session's first of a partition (began).
	extra, copy, premature, began bool
	cause                         Cause
}

// begin forgets the event before.
func (m *Moment) begin(e *history.Event, index int64) {
	m.Event, m.Index = e, index
	m.sub, m.session, m.place, m.hold, m.message = nil, nil, nil, nil, &nothing
	m.id = msg.ID{}
	m.known, m.forward, m.extra, m.copy, m.premature, m.began = false, false, false, false, false, false
	m.cause = noCause
}

// nothing is the message of a moment that is about none. It is never changed.
var nothing message

// join finds out what an event is about.
func (c *Case) join(m *Moment, e *history.Event) {
	m.begin(e, c.index)
	c.now = e.T
	switch e.Kind {
	case history.PublishAccepted: // the client's buffer: no message is nearer to anywhere
	case history.PublishStart, history.PublishAnswer, history.Decision:
		c.joinPublish(m)
	case history.Delivery:
		c.joinDelivery(m)
	case history.HandlerStart, history.HandlerEnd, history.EffectIntent, history.EffectResult,
		history.SettleStart, history.SettleAnswer:
		c.joinHold(m)
	case history.Audit:
		m.place = c.scene.place(e.Place)
		m.id = e.ID()
		c.about(m, m.place.owner)
	case history.EffectFound:
		m.session, m.id = c.scene.session(e.Session), e.ID()
		c.about(m, m.session.sub)
	case history.EffectsRead, history.Receive, history.SessionOpen, history.SessionClose, history.WorkerStart, history.WorkerEnd:
		m.session = c.scene.session(e.Session)
		m.sub = c.subAt(m.session.sub)
	case history.Assign, history.Revoke, history.Seek:
		m.session, m.place = c.scene.session(e.Session), c.scene.place(e.Place)
		m.sub = c.subAt(m.session.sub)
	}
}

func (c *Case) subAt(i int) *subscription {
	if i == nobody {
		return nil
	}
	return c.subs[i]
}

// about opens the message of a subscription.
func (c *Case) about(m *Moment, sub int) {
	if sub == nobody {
		return
	}
	m.edit = &c.edit
	if m.session != nil {
		m.edit = &m.session.edit
	}
	m.message = c.openFor(m.edit, sub, m.id, m.Kind)
	m.sub, m.known = c.subs[sub], true
}

func (c *Case) joinPublish(m *Moment) {
	m.id = m.Event.ID()
	m.session = c.scene.session(m.Session)
	m.place = c.publishPlace(m)
	m.forward = m.place.role != source
	if m.forward {
		c.about(m, m.place.owner)
		return
	}
	if feeds := c.feedsOf(m); len(feeds) > 0 {
		c.about(m, feeds[0])
	}
}

// publishPlace is where a publish goes. An answer may tell nothing; then it goes where
// the attempt of the same number went, if that was a dead-letter or retry destination.
func (c *Case) publishPlace(m *Moment) *place {
	p := c.scene.place(m.Place)
	if m.Kind == history.PublishStart && p.role != source {
		if m.session.forward == nil {
			m.session.forward = map[uint32]uint32{}
		}
		m.session.forward[m.Op] = m.Place
	}
	if m.session.forward == nil {
		return p
	}
	if at, found := m.session.forward[m.Op]; found && m.Kind != history.PublishStart {
		if m.Kind == history.PublishAnswer {
			delete(m.session.forward, m.Op)
		}
		return c.scene.place(at)
	}
	return p
}

// feedsOf lists the subscriptions that a publish is owed to.
func (c *Case) feedsOf(m *Moment) []int {
	if len(m.place.feeds) > 0 {
		return m.place.feeds
	}
	if p := c.producerOf(m.id.Producer); p != nil && m.Kind != history.PublishStart {
		return c.feedsTo(p.To)
	}
	return nil
}

func (c *Case) joinDelivery(m *Moment) {
	m.id = m.Event.ID()
	m.session, m.place = c.scene.session(m.Session), c.scene.place(m.Place)
	m.hold = m.session.holds.open(m.Op, c.memory)
	if m.Has(history.Foreign) {
		m.sub = c.subAt(m.session.sub)
		*m.hold = hold{state: used | handled | settledHold, place: m.Event.Place, off: m.Off, at: m.T}
		if m.passes() {
			c.reads(m)
		}
		return
	}
	*m.hold = hold{
		state: used, seq: m.id.Seq, producer: m.id.Producer, place: m.Event.Place, key: m.Key, off: m.Off,
		at: m.T, until: m.Until, due: m.T - m.D,
	}
	if m.Has(history.Redelivered) {
		m.hold.state |= flagged
	}
	sub := m.session.sub
	if sub == nobody {
		sub = m.place.owner
	}
	c.about(m, sub)
	if !m.known || m.place.role == deadLetter {
		return
	}
	c.pair(m)
	m.hold.cause = m.cause
	m.hold.prev = m.message.hold
}

func (c *Case) joinHold(m *Moment) {
	m.session = c.scene.session(m.Session)
	m.hold = m.session.holds.at(m.Op)
	if m.hold == nil {
		m.id = m.Event.ID()
		m.sub = c.subAt(m.session.sub)
		m.place = c.scene.place(m.Place)
		if m.opaque() {
			c.about(m, m.session.sub)
		}
		return
	}
	m.id = msg.ID{Producer: m.hold.producer, Seq: m.hold.seq}
	m.place = c.scene.place(m.hold.place)
	sub := m.session.sub
	if sub == nobody {
		sub = m.place.owner
	}
	c.about(m, sub)
}
