// SPDX-License-Identifier: Apache-2.0

package inmem

import (
	"fmt"

	"github.com/seed-720a3c77/harness/broker"
	"github.com/seed-720a3c77/harness/contract"
)

// settle sends basic.ack, basic.nack or basic.reject. None has an answer: nil says that it
// was sent. The tag goes out on this channel, wherever the token came from.
func (c *channel) settle(s *broker.Settlement) error {
	switch {
	case s.Verb != broker.Ack && s.Verb != broker.Requeue && s.Verb != broker.Reject:
		return unsettleable(s)
	case s.Verb == broker.Requeue && s.Delay > 0:
		return unsupported(contract.RequeueDelay.String())
	case c.failed != nil:
		return closed(s.Verb.String(), "504")
	}
	c.silence.broken()
	if s.Multiple {
		c.settleUpTo(s)
	} else {
		c.settleOne(s)
	}
	return nil
}

func (c *channel) settleOne(s *broker.Settlement) {
	p := c.find(s.Token.Tag)
	if p == nil {
		c.unknownTag(s.Token.Tag)
		return
	}
	c.apply(s.Verb, p)
	c.q.pump()
}

func (c *channel) settleUpTo(s *broker.Settlement) {
	tag := s.Token.Tag
	if tag == 0 || tag > c.unacked.tail || c.spec.AutoAck || c.unacked.len() == 0 || c.unacked.head >= tag {
		c.unknownTag(tag)
		return
	}
	for n := c.unacked.head; n < tag; n++ {
		if p := c.find(n + 1); p != nil {
			c.apply(s.Verb, p)
		}
	}
	c.q.pump()
}

func (c *channel) find(tag uint64) *pushed {
	if tag == 0 || c.spec.AutoAck || !c.unacked.has(tag-1) {
		return nil
	}
	return *c.unacked.at(tag - 1)
}

// unknownTag closes the channel: https://www.rabbitmq.com/docs/confirms
func (c *channel) unknownTag(tag uint64) {
	c.close("406", fmt.Sprintf("PRECONDITION_FAILED - unknown delivery tag %d", tag))
}

func (c *channel) apply(verb broker.Verb, p *pushed) {
	if c.m.bugs != nil && c.misapply(verb, p) {
		return
	}
	c.release(p)
	switch verb {
	case broker.Ack:
		if c.m.oracle != nil {
			c.m.tell(OracleEvent{Kind: Settled, ID: p.id, Where: c.q.name, Session: c.session, Count: p.returns + 1})
		}
		c.q.of.give(p)
	case broker.Requeue:
		c.q.giveBack(p, c.q.requeue)
	default:
		c.q.bury(p, "rejected")
	}
}
