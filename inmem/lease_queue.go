// SPDX-License-Identifier: Apache-2.0

package inmem

import (
	"cmp"
	"errors"
	"maps"
	"slices"
	"time"

	"github.com/seed-720a3c77/harness/broker"
	"github.com/seed-720a3c77/harness/contract"
	"github.com/seed-720a3c77/harness/msg"
)

// leaseQueues is the lease queue model, that of SQS: a message that is received stays in
// the queue, hidden until its lease ends, and is gone once it is deleted.
//
//	delayed --due--> ready --receive--> in flight --delete--> gone
//	                   ^                    |
//	                   +--- lease over, or released ---+--> dead-letter queue, at a receive
type leaseQueues struct {
	m      *Machine
	queues map[string]*leaseQueue
	made   uint64
	// free are messages to be used again.
	free []*leased
}

// leaseQueue is one queue.
type leaseQueue struct {
	of         *leaseQueues
	m          *Machine
	name       string
	number     uint64
	lease      time.Duration
	delay      time.Duration
	retention  time.Duration // 0: messages live forever
	limit      int           // receives before the dead-letter queue; 0 is without
	deadLetter string
	removed    bool

	next     uint64
	messages map[uint64]*leased // by seq, all that are not gone
	ready    ready[*leased]     // standard queues
	groups   *messageGroups     // FIFO queues
	dedup    *dedup             // FIFO queues
	waiters  waiters
	// visible, inFlight and delayed count the messages by state.
	visible, inFlight, delayed int
	// ghosts are counted as in flight by a planted bug.
	ghosts int
}

type leaseState uint8

const (
	gone leaseState = iota
	delayed
	visible
	inFlight
	// stranded is in flight for ever: its dead-letter queue was missing.
	stranded
)

// leased is a stored message.
type leased struct {
	payload
	place
	q        *leaseQueue
	group    *messageGroup
	state    leaseState
	receives int
	brokerID string
	// until is the end of the lease or delay; a broker with a sweep applies it later.
	until  time.Duration
	expiry deadline
	// stored is when it was sent, of a standard queue also if that was to another one.
	stored   time.Duration
	retained retention
}

func (l *leased) stand() *place { return &l.place }

func newLeaseQueues(m *Machine) *leaseQueues {
	return &leaseQueues{m: m, queues: map[string]*leaseQueue{}}
}

var errNoDeadLetter = errors.New("a limit of deliveries needs a dead-letter queue")

func (qs *leaseQueues) check(d *broker.Destination) error {
	if d.MaxDeliveries > 0 && d.DeadLetter == "" {
		return errors.Join(unsupported("max-deliveries"), errNoDeadLetter)
	}
	_, err := qs.retentionOf(d)
	return err
}

func (qs *leaseQueues) declare(d broker.Destination) {
	qs.made++
	kept, _ := qs.retentionOf(&d) // checked before
	q := &leaseQueue{
		of: qs, m: qs.m, name: d.Name, number: qs.made,
		lease: cmp.Or(d.Lease, qs.m.rules.Lease.Default), delay: d.Delay, retention: kept,
		limit: max(0, cmp.Or(d.MaxDeliveries, qs.m.rules.Limit.Default)), deadLetter: d.DeadLetter,
		messages: map[uint64]*leased{},
	}
	if qs.m.can(contract.FIFOGroups) {
		q.groups = &messageGroups{q: q, byKey: map[string]*messageGroup{}}
		q.dedup = newDedup(cmp.Or(d.DedupWindow, qs.m.rules.DedupWindow))
	}
	qs.queues[d.Name] = q
}

func (qs *leaseQueues) has(name string) bool { return qs.queues[name] != nil }

func (qs *leaseQueues) remove(name string) {
	q := qs.queues[name]
	delete(qs.queues, name)
	q.clear("removed")
	q.removed = true
	q.waiters.wakeAll(qs.m)
}

func (qs *leaseQueues) purge(name string) { qs.queues[name].clear("purged") }

// clear forgets everything, in flight or not.
func (q *leaseQueue) clear(why string) {
	for _, seq := range slices.Sorted(maps.Keys(q.messages)) {
		l := q.messages[seq]
		q.m.tell(OracleEvent{Kind: Dropped, ID: l.id, Where: q.name, Why: why})
		q.forget(l)
	}
	if q.dedup != nil {
		q.dedup = newDedup(q.dedup.window)
	}
}

func (qs *leaseQueues) depth(name, _ string) broker.Depth {
	q := qs.queues[name]
	return broker.Depth{
		Ready: int64(q.visible), InFlight: int64(q.inFlight + q.ghosts), Delayed: int64(q.delayed),
		Start: broker.Unmeasured, End: broker.Unmeasured, Stable: broker.Unmeasured, Committed: broker.Unmeasured,
	}
}

var errNoGroupID = errors.New("MessageGroupId is missing")

func (qs *leaseQueues) publish(p *producer, _ uint64, one *msg.Message) (broker.Receipt, error) {
	q := qs.queues[one.To]
	switch {
	case q == nil:
		return broker.Receipt{Offset: -1}, refused("publish", "NonExistentQueue", notFound(one.To))
	case q.groups == nil:
		return broker.Receipt{Offset: -1, BrokerID: q.send(p, one).brokerID}, nil
	case one.Key == "":
		return broker.Receipt{Offset: -1}, refused("publish", "MissingParameter", errNoGroupID)
	}
	return broker.Receipt{Offset: -1, BrokerID: q.sendOnce(p, one)}, nil
}

// send stores a message.
func (q *leaseQueue) send(p *producer, one *msg.Message) *leased {
	l := q.of.take()
	l.payload = p.writer.payload(one)
	q.put(l)
	l.keep(q.m.now)
	l.brokerID = q.m.text2("m", q.number, l.seq)
	q.m.tell(OracleEvent{Kind: Stored, ID: l.id, Where: q.name, Session: p.session})
	if delay := cmp.Or(one.Delay, q.delay); delay > 0 {
		q.hide(l, delayed, delay)
		return l
	}
	q.show(l, false)
	return l
}

// put gives a message a place in the queue, in no state yet.
func (q *leaseQueue) put(l *leased) {
	q.next++
	l.q, l.seq, l.state = q, q.next, gone
	q.messages[l.seq] = l
	if q.groups != nil {
		l.group = q.groups.of(l.key)
	}
}

// show makes a message ready, again or for the first time.
func (q *leaseQueue) show(l *leased, again bool) {
	q.count(l, visible)
	switch {
	case q.groups != nil:
		q.groups.show(l, again)
	case again:
		q.ready.back(l, q.m.rules.Requeue)
	default:
		q.ready.add(l)
	}
	q.signal()
}

// hide keeps a message from receivers for a time.
func (q *leaseQueue) hide(l *leased, state leaseState, d time.Duration) {
	q.count(l, state)
	l.until = q.m.now + d
	q.m.agenda.arm(&l.expiry, nextTick(l.until, q.m.sweep, q.m.rules.Lease.Tick))
}

// count moves a message to a state and keeps the counts.
func (q *leaseQueue) count(l *leased, to leaseState) {
	if n := q.counter(l.state); n != nil {
		*n--
	}
	l.state = to
	if n := q.counter(to); n != nil {
		*n++
	}
}

func (q *leaseQueue) counter(s leaseState) *int {
	switch s {
	case visible:
		return &q.visible
	case delayed:
		return &q.delayed
	case inFlight, stranded:
		return &q.inFlight
	default:
		return nil
	}
}

// expire ends a lease or a delay.
func (l *leased) expire(time.Duration) {
	q := l.q
	again := l.state == inFlight
	if again {
		q.m.tell(OracleEvent{Kind: Expired, ID: l.id, Where: q.name, Count: l.receives})
		if q.m.bugs != nil && q.misexpire(l) {
			return
		}
	}
	q.takeBack(l)
	q.show(l, again || q.groups == nil)
}

// takeBack ends a message's flight without showing it yet.
func (q *leaseQueue) takeBack(l *leased) {
	q.m.agenda.disarm(&l.expiry)
	if l.group != nil && (l.state == inFlight || l.state == stranded) {
		l.group.inFlight--
	}
}

// forget takes a message out of the queue for good.
func (q *leaseQueue) forget(l *leased) {
	q.takeBack(l)
	q.m.agenda.disarm(&l.retained.end)
	q.count(l, gone)
	delete(q.messages, l.seq)
	if l.group != nil {
		q.groups.forget(l)
	} else {
		q.ready.remove(l)
	}
	q.of.give(l)
	q.signal()
}

func (qs *leaseQueues) take() *leased {
	if n := len(qs.free); n > 0 {
		l := qs.free[n-1]
		qs.free = qs.free[:n-1]
		return l
	}
	l := &leased{}
	l.expiry.of = l
	l.retained.of, l.retained.end.of = l, &l.retained
	return l
}

// give keeps a message's memory for the next one. Its place goes on counting entries, so
// that old spots do not come alive again.
func (qs *leaseQueues) give(l *leased) {
	l.payload, l.group, l.brokerID, l.receives = payload{}, nil, "", 0
	qs.free = append(qs.free, l)
}
