// SPDX-License-Identifier: Apache-2.0

package inmem

import (
	"time"

	"github.com/seed-720a3c77/harness/broker"
)

// waiters are the long polls at a queue, in the order of their arrival. One message wakes
// one of them.
type waiters struct{ polls ring[*waiter] }

// waiter is one long poll.
type waiter struct {
	of       *poller // nil: the client has gone and the broker does not know
	end      time.Duration
	batch    int
	over     bool // ended
	promised bool // woken, and not yet served
}

func (ws *waiters) add(c *poller, end time.Duration, batch int) *waiter {
	w := &waiter{of: c, end: end, batch: batch}
	ws.polls.push(w)
	return w
}

// signal wakes the first poll if there is something to receive. Whoever is woken and
// leaves something over signals again when it is served.
func (q *leaseQueue) signal() {
	for q.waiters.polls.len() > 0 && q.receivable() {
		w := q.waiters.polls.pop()
		switch {
		case w.over:
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
