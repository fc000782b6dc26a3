// SPDX-License-Identifier: Apache-2.0

package checkers

import (
	"fmt"
	"slices"

	"github.com/seed-720a3c77/harness/contract"
	"github.com/seed-720a3c77/harness/history"
)

// expired finds messages that were handed out although their time to live was over. A
// client's buffer keeps what was pushed in time, so only a delivery counts that the broker
// must have pushed later: on a session that opened when the time was over, or after a hold
// that ended when it was. A lease queue hands out what it is asked for: when the request began
// is when that can have been at the earliest.
type expired struct {
	c *Case
	// since is when what a session gets can have been handed out at the earliest.
	since map[uint32]int64
}

func (x *expired) Kinds() history.KindSet {
	if x.c != nil && !slices.ContainsFunc(x.c.subs, func(s *subscription) bool { return s.ttl > 0 }) {
		return 0
	}
	return history.Only(history.Delivery, history.Receive, history.SessionOpen)
}

func (x *expired) Begin(c *Case) {
	x.c, x.since = c, map[uint32]int64{}
	for _, sub := range c.subs {
		if sub.ttl > 0 {
			c.facts.measure(expiredDelivered)
		}
	}
}

func (x *expired) Observe(m *Moment) {
	switch {
	case m.sub == nil || m.sub.ttl == 0:
	case m.Kind == history.SessionOpen:
		x.since[m.Session] = m.T
	case m.Kind == history.Receive:
		if x.c.profile.Model == contract.LeaseQueue {
			x.since[m.Session] = m.T - m.D
		}
	case m.known && m.place.role == source:
		x.delivery(m)
	}
}

// delivery looks when the message can have been pushed at the earliest.
func (x *expired) delivery(m *Moment) {
	if m.message.acked == 0 {
		return // nobody knows when it was stored
	}
	pushed := x.since[m.Session]
	if m.extra {
		pushed = max(pushed, m.message.last)
	}
	over := m.message.acked + m.sub.ttl + int64(x.c.profile.Tolerance)
	if pushed <= over {
		return
	}
	if e := x.c.facts.found(expiredDelivered, m); e != nil {
		e.Text = fmt.Sprintf("its time to live had been over for %s", span(pushed-m.message.acked-m.sub.ttl))
	}
}

func (x *expired) Finish(*Facts) {}

// expires tells whether a message's time to live was over when the run ended.
func (c *Case) expires(sub *subscription, known *message) bool {
	return sub.ttl > 0 && c.now > known.sent+sub.ttl
}

// fateExpired is of a message that was not done in time.
func (c *Case) fateExpired(sub *subscription) fate {
	if sub.deadLetter == "" {
		return isDropped
	}
	return c.fateForwarded(sub)
}
