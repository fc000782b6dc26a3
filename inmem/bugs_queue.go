// SPDX-License-Identifier: Apache-2.0

package inmem

import (
	"time"

	"github.com/seed-720a3c77/harness/broker"
	"github.com/seed-720a3c77/harness/contract"
	"github.com/seed-720a3c77/harness/msg"
)

// identified is a queued message whose id the bugs ask for.
type identified interface {
	queued
	name() msg.ID
}

func (l *leased) name() msg.ID { return l.id }
func (p *pushed) name() msg.ID { return p.id }

// popOf takes the first of the ready, or the second.
func popOf[T identified](m *Machine, r *ready[T]) T {
	first := r.pop()
	if m.bugs == nil || r.len() == 0 || !m.strikes(SwapReady, first.name()) {
		return first
	}
	second := r.pop()
	r.back(first, contract.PlaceHead)
	return second
}

// miscount spoils the count and the flag of a delivery.
func (m *Machine) miscount(id msg.ID, d *broker.Delivery, again bool) {
	if again && m.strikes(UnflaggedRedelivery, id) {
		d.Redelivered = false
		d.Count = max(0, d.Count-1)
	}
	if m.strikes(WrongCount, id) {
		if m.can(contract.DeliveryCount) {
			d.Count++
		}
		d.Redelivered = m.can(contract.RedeliveredFlag)
	}
}

// mislend spoils a delivery of a lease queue that has just been made.
func (q *leaseQueue) mislend(l *leased, d *broker.Delivery) {
	q.m.miscount(l.id, d, l.receives > 1)
	if q.m.strikes(DeliverTwice, l.id) {
		q.copyOf(l)
	}
}

// copyOf stores a message again, as the same one.
func (q *leaseQueue) copyOf(l *leased) {
	again := q.of.take()
	again.payload, again.receives, again.brokerID = l.payload, l.receives, l.brokerID
	q.put(again)
	again.keep(l.stored)
	q.show(again, true)
}

// leaseOf is how long a delivery is really held.
func (q *leaseQueue) leaseOf(l *leased) time.Duration {
	if q.m.strikes(EarlyRedelivery, l.id) {
		return q.lease / 2
	}
	return q.lease
}

// usedUp tells whether a message has to leave instead of being received once more.
func (q *leaseQueue) usedUp(l *leased) bool {
	switch {
	case q.limit == 0 || l.receives < q.limit-1:
		return false
	case l.receives == q.limit-1:
		return l.receives > 0 && q.m.strikes(DeadLetterEarly, l.id)
	case l.receives == q.limit:
		return !q.m.strikes(DeadLetterLate, l.id)
	default:
		return true
	}
}

// misexpire is what happens to a message whose lease is over, instead of coming back.
func (q *leaseQueue) misexpire(l *leased) bool {
	switch {
	case q.m.strikes(LoseDelivered, l.id):
		q.m.tell(OracleEvent{Kind: Dropped, ID: l.id, Where: q.name, Why: string(LoseDelivered)})
		q.forget(l)
		return true
	case q.m.strikes(Stuck, l.id):
		q.count(l, stranded)
		return true
	default:
		return false
	}
}

// misack is what a delete does instead of deleting.
func (q *leaseQueue) misack(l *leased) bool {
	switch {
	case q.m.strikes(AckIgnored, l.id):
		return true
	case q.m.strikes(DuplicateAfterAck, l.id):
		q.hold(l, 0)
		return true
	}
	if q.m.strikes(GhostInFlight, l.id) {
		q.ghosts++
	}
	if dead := q.of.queues[q.deadLetter]; dead != nil && q.m.strikes(DeadLetterDone, l.id) {
		dead.copyOf(l)
	}
	return false
}

// mispush spoils a delivery of a push queue that has just been made.
func (q *pushQueue) mispush(p *pushed) {
	if q.m.strikes(DeliverTwice, p.id) {
		q.ready.back(q.copyOf(p), contract.PlaceHead)
	}
}

func (q *pushQueue) copyOf(p *pushed) *pushed {
	again := q.of.take()
	again.payload, again.q, again.seq, again.route = p.payload, q, p.seq, p.route
	again.returns = p.returns + 1
	return again
}

// usedUp tells whether a message that was given back has to leave.
func (q *pushQueue) usedUp(p *pushed) bool {
	switch {
	case q.limit == unlimited || p.returns < q.limit:
		return false
	case p.returns == q.limit:
		return q.limit > 0 && q.m.strikes(DeadLetterEarly, p.id)
	case p.returns == q.limit+1:
		return !q.m.strikes(DeadLetterLate, p.id)
	default:
		return true
	}
}

// misreturn is what happens to a message of a dead channel, instead of coming back.
func (q *pushQueue) misreturn(p *pushed) bool {
	switch {
	case q.m.strikes(LoseDelivered, p.id):
		q.m.tell(OracleEvent{Kind: Dropped, ID: p.id, Where: q.name, Why: string(LoseDelivered)})
		q.of.give(p)
		return true
	case q.m.strikes(Stuck, p.id):
		q.unacked++
		return true
	default:
		return false
	}
}

// misapply is what a settlement does instead of its own.
func (c *channel) misapply(verb broker.Verb, p *pushed) bool {
	m := c.m
	switch {
	case verb == broker.Requeue && m.strikes(Stuck, p.id):
		c.release(p)
		c.q.unacked++
		return true
	case verb != broker.Ack:
		return false
	case m.strikes(AckIgnored, p.id):
		return true
	case m.strikes(AckUndone, p.id):
		c.held--
		return true
	case m.strikes(DuplicateAfterAck, p.id):
		c.release(p)
		p.returns++
		c.q.ready.back(p, contract.PlaceHead)
		return true
	}
	if m.strikes(GhostInFlight, p.id) {
		c.q.unacked++
	}
	if c.q.deadLetter != "" && m.strikes(DeadLetterDone, p.id) {
		c.q.of.routeDead(p.payload, c.q.deadLetter, p.route, 0)
	}
	return false
}
