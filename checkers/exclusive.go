// SPDX-License-Identifier: Apache-2.0

package checkers

import (
	"fmt"
	"slices"

	"github.com/seed-720a3c77/harness/history"
)

// exclusive holds a queue with a single active consumer to its word. A consumer that got a
// message after another had it is no evidence: the other may have been cancelled, and what
// was pushed before is still in its buffer. It is evidence when the other then gets one that
// was not even sent when it was succeeded.
type exclusive struct {
	c      *Case
	queues []exclusiveQueue // by subscription
}

// exclusiveQueue is who had the queue before and who has it now.
type exclusiveQueue struct {
	former, active uint32
	since          int64 // when active took over
}

func (x *exclusive) Kinds() history.KindSet {
	if x.c != nil && !slices.ContainsFunc(x.c.subs, func(s *subscription) bool { return s.single }) {
		return 0
	}
	return history.Only(history.Delivery, history.SessionClose)
}

func (x *exclusive) Begin(c *Case) {
	x.c, x.queues = c, make([]exclusiveQueue, len(c.subs))
	for _, sub := range c.subs {
		if sub.single {
			c.facts.measure(twoActive)
		}
	}
}

func (x *exclusive) Observe(m *Moment) {
	if m.sub == nil || !m.sub.single {
		return
	}
	q := &x.queues[m.sub.index]
	switch {
	case m.Kind == history.SessionClose:
		q.ended(m.Session)
	case !m.known || m.place.role != source || m.Session == q.active:
	default:
		if q.active != 0 && m.Session == q.former && m.message.sent > q.since {
			x.note(m, q)
		}
		*q = exclusiveQueue{former: q.active, active: m.Session, since: m.T}
	}
}

// ended forgets a session: who comes after it is its rightful successor.
func (q *exclusiveQueue) ended(session uint32) {
	switch session {
	case q.active:
		q.active = 0
	case q.former:
		q.former = 0
	}
}

func (x *exclusive) note(m *Moment, q *exclusiveQueue) {
	if e := x.c.facts.found(twoActive, m); e != nil {
		e.Text = fmt.Sprintf("%s had been succeeded by %s, and went on getting what was sent later", m.session.worker, x.c.session(q.active).worker)
	}
}

func (x *exclusive) Finish(*Facts) {}
