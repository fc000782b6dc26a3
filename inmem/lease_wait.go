// SPDX-License-Identifier: Apache-2.0

package inmem

import (
	"time"

	"github.com/seed-720a3c77/harness/broker"
)

// waiters are the long polls at a queue, in the order of their arrival. One message wakes
// one of them.
type waiters struct {
	polls ring[*waiter]
	// pruneAt is how many there may be before those that are over are looked for.
	pruneAt int
	// free are polls to be used again.
	free []*waiter
}

// waiter is one long poll.
type waiter struct {
	of       *poller // nil: the client has gone and the broker does not know
	end      time.Duration
	batch    int
	over     bool // ended
	promised bool // woken, and not yet served
}

func (ws *waiters) add(c *poller, end time.Duration, batch int) *waiter {
	if ws.polls.len() >= ws.pruneAt {
		ws.prune(c.m.now)
	}
	w := ws.take()
	*w = waiter{of: c, end: end, batch: batch}
	ws.polls.push(w)
	return w
}

func (ws *waiters) take() *waiter {
	last := len(ws.free) - 1
	if last < 0 {
		return new(waiter)
	}
	w := ws.free[last]
	ws.free = ws.free[:last]
	return w
}

// give keeps a poll that is out of the line and that nobody knows of any more.
func (ws *waiters) give(w *waiter) { ws.free = append(ws.free, w) }

// prune drops the polls that are over, and makes room for as many as are left.
func (ws *waiters) prune(now time.Duration) {
	for range ws.polls.len() {
		if w := ws.polls.pop(); !w.over && (w.of != nil || w.end > now) {
			ws.polls.push(w)
		} else {
			ws.give(w)
		}
	}
	ws.pruneAt = 2*ws.polls.len() + 4
}

// signal wakes the first poll if there is something to receive. Whoever is woken and
// leaves something over signals again when it is served.
func (q *leaseQueue) signal() {
	for q.waiters.polls.len() > 0 && q.receivable() {
		w := q.waiters.polls.pop()
		switch {
		case w.over:
			q.waiters.give(w)
		case w.of != nil:
			w.promised = true
			q.m.wake(w.of.session)
			return
		case w.end > q.m.now:
			q.swallow(w)
		}
	}
}

// swallow serves a poll whose client has gone: the messages are in flight, for nobody.
func (q *leaseQueue) swallow(w *waiter) {
	if q.groups != nil {
		q.groups.swallow(w.batch)
		return
	}
	for range w.batch {
		if q.ready.len() == 0 || q.full() {
			return
		}
		if _, err := q.lend(q.ready.pop(), nil, &broker.Delivery{}); err != nil {
			return // the answer would have gone to the one who left
		}
	}
}

// receivable tells whether a receive would bring, or move, something.
func (q *leaseQueue) receivable() bool {
	if q.groups != nil {
		return q.groups.open() && !q.full()
	}
	return q.ready.len() > 0 && !q.full()
}

func (ws *waiters) wakeAll(m *Machine) {
	for ws.polls.len() > 0 {
		if w := ws.polls.pop(); w.of != nil && !w.over {
			m.wake(w.of.session)
		}
	}
}
