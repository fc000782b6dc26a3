// SPDX-License-Identifier: Apache-2.0

package inmem

import (
	"cmp"
	"time"

	"github.com/seed-720a3c77/harness/broker"
	"github.com/seed-720a3c77/harness/contract"
	"github.com/seed-720a3c77/harness/msg"
)

// pushQueues is the push queue model, that of RabbitMQ: messages are pushed over a channel
// up to its prefetch window and belong to it until they are settled or it dies.
//
//	ready --push--> unacked --ack--> gone
//	  ^                |--reject, or given back too often--> dead letter, or dropped
//	  +--- requeue, channel closed
type pushQueues struct {
	m         *Machine
	queues    map[string]*pushQueue
	exchanges map[string]*exchange
	epochs    uint32
	free      []*pushed
}

// pushQueue is one queue.
type pushQueue struct {
	of         *pushQueues
	m          *Machine
	name       string
	timeout    time.Duration
	limit      int // times a message may be given back; -1 is without limit
	deadLetter string
	requeue    contract.Place
	single     bool // only the oldest channel is pushed to
	ttl        expiry

	next     uint64
	ready    ready[*pushed]
	channels []*channel
	turn     int
	unacked  int
}

// unlimited is the limit of a queue without one.
const unlimited = -1

// pushed is a stored message.
type pushed struct {
	payload
	place
	q     *pushQueue
	route string
	// returns is how often it was given back, carried what it brought from another queue.
	returns, carried int
	tag              uint64
	at               time.Duration // of the push
	stored           time.Duration
}

func (p *pushed) stand() *place { return &p.place }

func newPushQueues(m *Machine) *pushQueues {
	return &pushQueues{m: m, queues: map[string]*pushQueue{}, exchanges: map[string]*exchange{}}
}

func (qs *pushQueues) check(d *broker.Destination) error {
	_, _, err := nativeOf(d)
	return err
}

func (qs *pushQueues) declare(d broker.Destination) {
	if d.Kind == broker.Exchange {
		qs.exchanges[d.Name] = newExchange(d.Bindings)
		return
	}
	q := &pushQueue{
		of: qs, m: qs.m, name: d.Name, deadLetter: d.DeadLetter,
		timeout: cmp.Or(d.Lease, qs.m.rules.Lease.Default), limit: unlimited, requeue: qs.m.rules.Requeue,
	}
	q.single, q.ttl.after, _ = nativeOf(&d) // check took them
	q.ttl.of, q.ttl.end.of = q, &q.ttl
	if deliveries := cmp.Or(d.MaxDeliveries, qs.m.rules.Limit.Default); deliveries > 0 {
		q.limit = deliveries - 1
		q.requeue = qs.m.rules.requeueWithLimit
	}
	qs.queues[d.Name] = q
}

func (qs *pushQueues) has(name string) bool {
	return qs.queues[name] != nil || qs.exchanges[name] != nil
}

func (qs *pushQueues) remove(name string) {
	delete(qs.exchanges, name)
	q := qs.queues[name]
	if q == nil {
		return
	}
	delete(qs.queues, name)
	for len(q.channels) > 0 {
		q.channels[0].close("404", "queue was deleted")
	}
	q.drop("removed")
}

func (qs *pushQueues) purge(name string) {
	if q := qs.queues[name]; q != nil {
		q.drop("purged")
	}
}

// drop forgets what is ready.
func (q *pushQueue) drop(why string) {
	for q.ready.len() > 0 {
		p := q.ready.pop()
		q.m.tell(OracleEvent{Kind: Dropped, ID: p.id, Where: q.name, Why: why})
		q.of.give(p)
	}
}

func (qs *pushQueues) depth(name, _ string) broker.Depth {
	d := broker.Depth{Start: broker.Unmeasured, End: broker.Unmeasured, Stable: broker.Unmeasured, Committed: broker.Unmeasured}
	if q := qs.queues[name]; q != nil {
		d.Ready, d.InFlight = int64(q.ready.len()), int64(q.unacked)
	}
	d.Delayed = broker.Unmeasured
	return d
}

func (qs *pushQueues) publish(p *producer, _ uint64, one *msg.Message) (broker.Receipt, error) {
	receipt := broker.Receipt{Offset: -1}
	stored := qs.route(p.writer.payload(one), one.To, cmp.Or(one.Route, one.To), p.session, "")
	switch {
	case stored > 0:
		return receipt, nil
	case p.spec.Mandatory:
		// The frame comes before an ack of the same message, which changes nothing.
		return receipt, &broker.Error{Op: "publish", Answer: contract.Returned, Class: contract.Rejected, Code: "312 NO_ROUTE"}
	default:
		qs.m.tell(OracleEvent{Kind: Dropped, ID: one.ID, Where: one.To, Session: p.session, Why: "unroutable"})
		return receipt, nil
	}
}

// store puts a message last.
func (q *pushQueue) store(content payload, route string, from Session, why string) *pushed {
	p := q.of.take()
	q.next++
	p.payload, p.q, p.route, p.seq, p.stored = content, q, route, q.next, q.m.now
	if q.m.oracle != nil {
		q.m.tell(OracleEvent{Kind: Stored, ID: p.id, Where: q.name, Session: from, Why: why})
	}
	q.ready.add(p)
	q.ttl.watch()
	return p
}

// pump pushes what is ready to the channels that have room, each in turn.
func (q *pushQueue) pump() {
	for q.ready.len() > 0 {
		c := q.roomy()
		if c == nil {
			return
		}
		c.push(popOf(q.m, &q.ready))
	}
}

func (q *pushQueue) roomy() *channel {
	if q.single {
		return q.active()
	}
	for range q.channels {
		q.turn++
		if c := q.channels[q.turn%len(q.channels)]; c.room() {
			return c
		}
	}
	return nil
}

func (qs *pushQueues) take() *pushed {
	if n := len(qs.free); n > 0 {
		p := qs.free[n-1]
		qs.free = qs.free[:n-1]
		return p
	}
	return &pushed{}
}

// give keeps a message's memory for the next one, with the count of its entries.
func (qs *pushQueues) give(p *pushed) {
	*p = pushed{place: place{entries: p.entries}}
	qs.free = append(qs.free, p)
}
