// SPDX-License-Identifier: Apache-2.0

package inmem

import (
	"time"

	"github.com/seed-720a3c77/harness/broker"
	"github.com/seed-720a3c77/harness/contract"
)

// poller is a client of a lease queue. It holds nothing: deliveries belong to whoever has
// their receipt handle.
type poller struct {
	m       *Machine
	q       *leaseQueue
	session Session
	batch   int
	reader  reader
	wait    *waiter // its long poll at the broker, nil while there is none
}

func (qs *leaseQueues) open(s Session, spec broker.ConsumerSpec) (consumer, error) {
	batch := qs.m.rules.BatchMax
	if spec.Batch > 0 && (batch == 0 || spec.Batch < batch) {
		batch = spec.Batch
	}
	return &poller{m: qs.m, q: qs.queues[spec.From], session: s, batch: batch, reader: reader{run: spec.Run}}, nil
}

func (c *poller) receive(wait time.Duration, into []broker.Delivery) (int, error) {
	c.endWait()
	if c.q.removed {
		return 0, notFound(c.q.name)
	}
	if c.batch > 0 && len(into) > c.batch {
		into = into[:c.batch]
	}
	n, err := c.q.receive(c, into)
	if n == 0 && err == nil && wait > 0 {
		c.wait = c.q.waiters.add(c, c.m.now+wait, len(into))
	}
	c.q.signal()
	return n, err
}

// receive lends what is ready, and moves what has used up its receives to the
// dead-letter queue: SQS does that at a receive, not when a lease ends.
func (q *leaseQueue) receive(c *poller, into []broker.Delivery) (int, error) {
	if q.groups != nil {
		return q.groups.receive(c, into)
	}
	n := 0
	for n < len(into) && q.ready.len() > 0 && !q.full() {
		lent, err := q.lend(popOf(q.m, &q.ready), c, &into[n])
		if err != nil {
			return n, err
		}
		if lent {
			n++
		}
	}
	return n, nil
}

// full: a cap on deliveries in flight makes receives come back empty.
func (q *leaseQueue) full() bool {
	limit := q.m.rules.maxInFlight
	return limit > 0 && q.inFlight >= limit
}

// lend hands a message out, unless its receives are used up.
func (q *leaseQueue) lend(l *leased, c *poller, d *broker.Delivery) (bool, error) {
	if q.usedUp(l) {
		return false, q.bury(l)
	}
	l.receives++
	if l.group != nil {
		l.group.inFlight++
	}
	q.hide(l, inFlight, q.leaseOf(l))
	if c != nil {
		l.deliver(d, &c.reader, q.name)
		d.BrokerID, d.Lease = l.brokerID, q.lease
		d.Token.Handle = q.m.text3(q.number, l.seq, uint64(l.receives))
		if q.m.can(contract.DeliveryCount) {
			d.Count = l.receives
		}
	}
	if q.m.bugs != nil {
		q.mislend(l, d)
	}
	if q.m.oracle != nil {
		q.m.tell(OracleEvent{Kind: Delivered, ID: l.id, Where: q.name, Session: c.number(), Count: l.receives})
	}
	return true, nil
}

func (c *poller) number() Session {
	if c == nil {
		return 0
	}
	return c.session
}

// bury moves a message to the dead-letter queue. If that is missing, the receive fails
// and the message stays in flight for good.
func (q *leaseQueue) bury(l *leased) error {
	to := q.of.queues[q.deadLetter]
	if to == nil {
		q.count(l, stranded)
		if l.group != nil {
			l.group.inFlight++
		}
		return refused("receive", "NonExistentQueue", notFound(q.deadLetter))
	}
	q.m.tell(OracleEvent{Kind: DeadLettered, ID: l.id, Where: q.name, Count: l.receives})
	if q.m.strikes(DeadLetterLost, l.id) {
		q.forget(l)
		return nil
	}
	if q.m.strikes(DeadLetterTwice, l.id) {
		to.copyOf(l)
	}
	dead := q.of.take()
	dead.payload, dead.receives, dead.brokerID = l.payload, l.receives, l.brokerID
	stored := l.stored
	if to.groups != nil { // a FIFO queue counts from when the message was moved
		stored = q.m.now
	}
	q.forget(l)
	to.put(dead)
	dead.keep(stored)
	q.m.tell(OracleEvent{Kind: Stored, ID: dead.id, Where: to.name, Why: "dead-letter"})
	to.show(dead, false)
	return nil
}

func (c *poller) buffered() bool { return false }

// unwait ends a long poll. Where a poll that was cancelled lives on at the broker, it
// still takes the next message, for nobody.
func (c *poller) unwait(cancelled bool) {
	if w := c.wait; w != nil && cancelled && c.m.rules.swallows && !w.promised {
		w.of, c.wait = nil, nil
		return
	}
	c.endWait()
	c.q.signal()
}

// endWait takes back the poll; a wake that was promised to it is free for another.
func (c *poller) endWait() {
	if c.wait != nil {
		c.wait.over = true
		c.wait = nil
	}
}

func (c *poller) seek(int32, int64) error { return unsupported("seek") }
func (c *poller) pause(bool) error        { return unsupported("pause-consumer") }
func (c *poller) heartbeat()              {}
func (c *poller) autoCommit()             {}
func (c *poller) leave()                  { c.unwait(false) }
func (c *poller) vanish()                 { c.unwait(true) }
