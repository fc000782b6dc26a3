// SPDX-License-Identifier: Apache-2.0

package inmem

import (
	"fmt"
	"time"
)

// consumerTimeout closes a channel whose oldest delivery has been unacked for too long. It
// is looked at in ticks from the channel's opening, so it is late by up to one.
type consumerTimeout struct {
	of  *channel
	end deadline
}

func (t *consumerTimeout) start(c *channel) { t.of, t.end.of = c, t }

func (t *consumerTimeout) stop() { t.of.m.agenda.disarm(&t.end) }

// watch arms the timeout for a new delivery, unless it is armed for an older one.
func (t *consumerTimeout) watch(p *pushed) {
	if !t.end.armed() {
		t.arm(p)
	}
}

func (t *consumerTimeout) arm(p *pushed) {
	c := t.of
	c.m.agenda.arm(&t.end, nextTick(p.at+c.q.timeout, c.opened, c.m.rules.Lease.Tick))
}

// expire looks at the delivery that is the oldest now.
func (t *consumerTimeout) expire(at time.Duration) {
	c := t.of
	if c.unacked.len() == 0 || c.spec.AutoAck {
		return
	}
	oldest := *c.unacked.first()
	if oldest.at+c.q.timeout > at {
		t.arm(oldest)
		return
	}
	c.close("406", fmt.Sprintf("PRECONDITION_FAILED - delivery acknowledgement on channel 1 timed out. Timeout value used: %d ms",
		c.q.timeout.Milliseconds()))
}

// silence closes a connection whose client is not heard of: the server looks at every
// heartbeat interval from the opening, and the second look in a row without anything heard
// since the one before is the end. So it takes between two and three intervals.
type silence struct {
	of       *channel
	interval time.Duration
	heard    time.Duration
	end      deadline
}

func (s *silence) start(c *channel, interval time.Duration) {
	s.of, s.interval, s.end.of = c, interval, s
	s.broken()
	s.arm()
}

func (s *silence) broken() { s.heard = s.of.m.now }

func (s *silence) arm() {
	s.of.m.agenda.arm(&s.end, nextTick(s.heard, s.of.opened, s.interval)+2*s.interval)
}

func (s *silence) stop() { s.of.m.agenda.disarm(&s.end) }

func (s *silence) expire(at time.Duration) {
	if nextTick(s.heard, s.of.opened, s.interval)+2*s.interval > at {
		s.arm()
		return
	}
	s.of.close("501", "missed heartbeats from client")
}
