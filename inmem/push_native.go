// SPDX-License-Identifier: Apache-2.0

package inmem

import (
	"fmt"
	"strconv"
	"time"

	"github.com/seed-720a3c77/harness/broker"
)

// The raw arguments of a queue that the model has.
// https://www.rabbitmq.com/docs/queues#optional-arguments
const (
	singleActive = "x-single-active-consumer"
	messageTTL   = "x-message-ttl" // ms
)

// nativeOf reads a queue's raw arguments; one that the model does not have is refused.
func nativeOf(d *broker.Destination) (single bool, ttl time.Duration, err error) {
	for name, value := range d.Native {
		switch name {
		case singleActive:
			single, err = strconv.ParseBool(value)
		case messageTTL:
			var ms int64
			ms, err = strconv.ParseInt(value, 10, 32)
			ttl = time.Duration(ms) * time.Millisecond
		default:
			return false, 0, unsupported("native argument " + name)
		}
		if err != nil || ttl < 0 {
			return false, 0, unsupported(fmt.Sprintf("native argument %s: %q", name, value))
		}
	}
	return single, ttl, nil
}

// active is the channel that a queue with a single active consumer pushes to: the one that
// is there the longest. It has the queue until its channel ends.
func (q *pushQueue) active() *channel {
	if len(q.channels) == 0 {
		return nil
	}
	c := q.channels[0]
	if q.m.bugs != nil && len(q.channels) > 1 && q.m.strikes(TwoActive, q.ready.next().id) {
		c = q.channels[1]
	}
	if !c.room() {
		return nil
	}
	return c
}

// expiry drops messages whose time to live is over. Only the head of a queue expires: all
// wait equally long, and what was given back is looked at then.
type expiry struct {
	of    *pushQueue
	after time.Duration // 0: messages live forever
	end   deadline
}

// watch arms the deadline for the head.
func (e *expiry) watch() {
	if e.after > 0 && !e.end.armed() && e.of.ready.len() > 0 {
		e.of.m.agenda.arm(&e.end, max(e.of.ready.next().stored+e.after, e.of.m.now))
	}
}

func (e *expiry) expire(time.Duration) {
	for e.of.ready.len() > 0 && e.over(e.of.ready.next()) {
		e.of.bury(e.of.ready.pop(), "expired")
	}
	e.watch()
}

// over tells whether a message's time is up. With the bug it never is.
func (e *expiry) over(p *pushed) bool {
	if e.after == 0 || p.stored+e.after > e.of.m.now {
		return false
	}
	if e.of.m.strikes(DeliverExpired, p.id) {
		p.stored = e.of.m.now + forever
		return false
	}
	return true
}

// forever is longer than any run.
const forever = 100 * 365 * 24 * time.Hour
