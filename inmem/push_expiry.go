// SPDX-License-Identifier: Apache-2.0

package inmem

import "time"

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
