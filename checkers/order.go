// SPDX-License-Identifier: Apache-2.0

package checkers

import (
	"fmt"

	"github.com/seed-720a3c77/harness/contract"
	"github.com/seed-720a3c77/harness/history"
	"github.com/seed-720a3c77/harness/msg"
)

// order compares first effects of a key with the order of its sends, and first deliveries
// of a partition with the order in which it holds them. It counts adjacent inversions:
// the next is smaller than the one before.
//
// Two sends have an order if one session made them one after another, each once, or if
// one was answered before the other began. A redelivery is no first delivery. On a queue
// that puts back what was not settled, what came back may overtake.
type order struct {
	c        *Case
	keys     [][]line   // by subscription and key
	sessions [][][]last // by subscription, session and producer
	splits   int64
}

// line is what happened to the messages of one key: the latest first effect of each
// producer, and the one that was sent latest.
type line struct {
	one    last // of the first producer that is seen
	others map[uint32]*last
	latest last
}

// last is the latest first effect or delivery of a producer's messages.
type last struct {
	id    msg.ID
	any   bool
	sent  int64
	place uint32
	event int64
}

// of is the latest of a producer's, nil if there is none.
func (l *line) of(producer uint32) *last {
	switch {
	case !l.one.any:
		return nil
	case l.one.id.Producer == producer:
		return &l.one
	}
	return l.others[producer]
}

// put takes the place of before, the producer's latest so far, nil if there is none.
func (l *line) put(before *last, m *Moment) {
	switch {
	case before != nil:
	case !l.one.any:
		before = &l.one
	default:
		if l.others == nil {
			l.others = map[uint32]*last{}
		}
		before = new(last)
		l.others[m.id.Producer] = before
	}
	before.set(m)
	if m.message.sent >= l.latest.sent {
		l.latest.set(m)
	}
}

// set goes field by field: what was just stored is copied slowly as a whole.
func (l *last) set(m *Moment) {
	l.id, l.any, l.sent, l.place, l.event = m.id, true, m.message.sent, m.hold.place, m.Index
}

func (o *order) Kinds() history.KindSet {
	kinds := o.c.successKinds()
	if o.c.profile.Model == contract.Log || o.c.profile.Order == contract.OrderQueue {
		kinds |= history.Only(history.Delivery)
	}
	return kinds
}

func (o *order) Begin(c *Case) {
	o.c = c
	o.keys, o.sessions = make([][]line, len(c.subs)), make([][][]last, len(c.subs))
	c.facts.measure(orderKey)
	if c.profile.Order != contract.OrderNone {
		c.facts.measure(orderPartition)
	}
}

func (o *order) Observe(m *Moment) {
	if !m.known || m.hold == nil || m.place.role != source || m.message.attempts == 0 {
		return
	}
	if m.Kind == history.Delivery {
		o.delivery(m)
		return
	}
	if o.firstSuccess(m) && m.hold.key != 0 && !o.mayOvertake(m) {
		o.effect(m)
	}
}

// firstSuccess tells whether the event is the first success of its message.
func (o *order) firstSuccess(m *Moment) bool {
	if m.message.succeeded(m.sub) {
		return false
	}
	if m.Kind == history.HandlerEnd {
		return !m.sub.effects && !m.Has(history.Failed)
	}
	return m.sub.effects && effectsAfter(m.message.effects, m.Event) > 0
}

// mayOvertake tells whether the broker promises nothing about this delivery's place.
func (o *order) mayOvertake(m *Moment) bool {
	return o.c.profile.Order == contract.OrderQueue && (m.message.received > 1 || m.hold.is(flagged))
}

func (o *order) effect(m *Moment) {
	l := slot(&o.keys[m.sub.index], m.hold.key)
	before := l.of(m.id.Producer)
	if before != nil {
		o.compare(orderKey, m, before)
	}
	if l.latest.any && l.latest.id.Producer != m.id.Producer {
		o.compare(orderKey, m, &l.latest)
	}
	l.put(before, m)
}

// compare looks at two messages with something in common, the earlier one seen first.
func (o *order) compare(r row, m *Moment, before *last) {
	if before.place != m.hold.place {
		o.splits++
		return
	}
	o.c.facts.exposure.orderedPairs[r]++
	if !o.mustPrecede(m, before) {
		return
	}
	if x := o.c.facts.found(r, m); x != nil {
		x.Text = fmt.Sprintf("came after %s, which was sent later", before.id)
		x.Events = []int64{before.event, m.Index}
	}
}

// mustPrecede tells whether the message of a moment was certainly sent before another.
func (o *order) mustPrecede(m *Moment, other *last) bool {
	known := m.message
	answeredBefore := known.acked != 0 && known.acked < other.sent && !known.is(sawUnknown)
	if m.id.Producer != other.id.Producer {
		return answeredBefore
	}
	once := known.attempts == 1 && known.copies <= 1 && !known.is(sawUnknown)
	return m.id.Seq < other.id.Seq && (once || answeredBefore)
}

func (o *order) delivery(m *Moment) {
	if m.extra {
		return
	}
	if m.sub.log {
		o.record(m)
		return
	}
	if o.c.profile.Order != contract.OrderQueue || m.Has(history.Redelivered) {
		return
	}
	before := slot(slot(&o.sessions[m.sub.index], m.Session), min(m.id.Producer, maxProducers))
	if before.any && before.id.Producer == m.id.Producer {
		o.compare(orderPartition, m, before)
	}
	before.set(m)
}

// record looks at the first delivery of a record: nothing that stands behind it may have
// been read, unless somebody moved the position on purpose.
func (o *order) record(m *Moment) {
	p, a := m.sub.partition(m.Event.Place), m.session.claim(m.Event.Place)
	if p.read == 0 {
		return
	}
	o.c.facts.exposure.orderedPairs[orderPartition]++
	if m.Off >= p.read || a.cause == sought || a.cause == positionReset {
		return
	}
	if x := o.c.facts.found(orderPartition, m); x != nil {
		x.Text = fmt.Sprintf("offset %d came after offset %d", m.Off, p.read-1)
	}
}

func (o *order) Finish(f *Facts) { f.counts["key-splits"] = o.splits }
