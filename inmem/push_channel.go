// SPDX-License-Identifier: Apache-2.0

package inmem

import (
	"cmp"
	"slices"
	"time"

	"github.com/seed-720a3c77/harness/broker"
	"github.com/seed-720a3c77/harness/contract"
)

// channel is a consumer's connection and its one channel. Tags are dense from 1; what is
// unacked is found by its tag, and the client's buffer is the tags not yet handed out.
type channel struct {
	m       *Machine
	q       *pushQueue
	session Session
	spec    broker.ConsumerSpec
	reader  reader
	epoch   uint32
	opened  time.Duration
	window  int // unacked messages that may be out; 0 is unlimited

	// unacked holds the message of tag n+1 at n, nil where it is settled.
	unacked ring[*pushed]
	held    int
	// handed is the last tag that was handed to the application.
	handed  uint64
	waiting bool
	failed  error

	timeout consumerTimeout
	silence silence
}

func (qs *pushQueues) open(s Session, spec broker.ConsumerSpec) (consumer, error) {
	q := qs.queues[spec.From]
	if q == nil {
		return nil, notFound(spec.From)
	}
	qs.epochs++
	c := &channel{
		m: qs.m, q: q, session: s, spec: spec, reader: reader{run: spec.Run}, epoch: qs.epochs, opened: qs.m.now,
		window: cmp.Or(spec.Prefetch, spec.Batch, qs.m.rules.prefetchCap),
	}
	c.timeout.start(c)
	c.silence.start(c, cmp.Or(spec.Session, qs.m.rules.Session.Floor))
	q.channels = append(q.channels, c)
	qs.m.notify(s, broker.Notice{Kind: broker.SessionOpen, Epoch: c.epoch})
	q.pump()
	return c, nil
}

func (c *channel) room() bool { return c.window == 0 || c.held < c.window }

// push sends a message. With automatic acks the broker forgets it at once.
func (c *channel) push(p *pushed) {
	p.tag, p.at = c.unacked.push(p)+1, c.m.now
	if c.m.oracle != nil {
		c.m.tell(OracleEvent{Kind: Delivered, ID: p.id, Where: c.q.name, Session: c.session, Count: p.returns + 1})
	}
	if c.spec.AutoAck {
		c.m.tell(OracleEvent{Kind: Settled, ID: p.id, Where: c.q.name, Session: c.session, Why: "auto-ack"})
	} else {
		c.held++
		c.q.unacked++
		c.timeout.watch(p)
	}
	if c.m.bugs != nil {
		c.q.mispush(p)
	}
	c.wake()
}

func (c *channel) wake() {
	if c.waiting {
		c.waiting = false
		c.m.wake(c.session)
	}
}

func (c *channel) receive(_ time.Duration, into []broker.Delivery) (int, error) {
	c.waiting = false
	if c.failed != nil {
		return 0, c.failed
	}
	n := 0
	for n < len(into) && c.buffered() {
		if p := *c.unacked.at(c.handed); p != nil {
			c.hand(p, &into[n])
			n++
		} else {
			c.handed++
		}
	}
	c.waiting = n == 0
	return n, nil
}

func (c *channel) hand(p *pushed, d *broker.Delivery) {
	c.handed++
	p.deliver(d, &c.reader, c.q.name)
	d.Token.Epoch, d.Token.Tag = c.epoch, p.tag
	header := p.returns
	if header == 0 {
		header = p.carried
	}
	d.Redelivered = header > 0
	if c.m.can(contract.DeliveryCount) {
		d.Count = header + 1
	}
	if c.m.bugs != nil {
		c.m.miscount(p.id, d, header > 0)
	}
	if c.spec.AutoAck {
		c.clear(p)
		c.q.of.give(p)
	}
}

func (c *channel) buffered() bool { return c.handed < c.unacked.tail }

// clear takes a message out of the unacked.
func (c *channel) clear(p *pushed) {
	*c.unacked.at(p.tag - 1) = nil
	for c.unacked.len() > 0 && *c.unacked.first() == nil {
		c.unacked.pop()
	}
	c.handed = max(c.handed, c.unacked.head)
}

// release ends the channel's hold on a message.
func (c *channel) release(p *pushed) {
	c.clear(p)
	c.held--
	c.q.unacked--
}

// close ends the channel: everything unacked comes back, what the client has buffered is
// dropped, and the consumer is dead.
func (c *channel) close(code, why string) {
	if c.end() {
		c.failed = &broker.Error{Op: "receive", Answer: contract.Closed, Class: contract.Unknown, Code: code, Err: broker.ErrClosed}
		c.m.notify(c.session, broker.Notice{Kind: broker.SessionClose, Epoch: c.epoch, Code: code, Text: why})
		c.wake()
	}
}

// end gives everything back, in the order of the tags, and then serves others.
func (c *channel) end() bool {
	if c.failed != nil {
		return false
	}
	c.failed = closed("receive", "504")
	c.timeout.stop()
	c.silence.stop()
	c.q.channels = slices.DeleteFunc(c.q.channels, func(other *channel) bool { return other == c })
	for c.unacked.len() > 0 {
		if p := *c.unacked.first(); p == nil || c.spec.AutoAck {
			c.lose(p)
			c.unacked.pop()
		} else {
			c.release(p)
			if c.m.bugs != nil && c.q.misreturn(p) {
				continue
			}
			c.q.giveBack(p, c.m.rules.Return)
		}
	}
	c.handed = c.unacked.tail
	c.q.pump()
	return true
}

// lose drops what was acked as it was sent, and has not been handed out.
func (c *channel) lose(p *pushed) {
	if p != nil {
		c.m.tell(OracleEvent{Kind: Dropped, ID: p.id, Where: c.q.name, Session: c.session, Why: "auto-ack"})
		c.q.of.give(p)
	}
}

func (c *channel) unwait(bool)             { c.waiting = false }
func (c *channel) seek(int32, int64) error { return unsupported("seek") }
func (c *channel) pause(bool) error        { return unsupported("pause-consumer") }
func (c *channel) heartbeat()              { c.silence.broken() }
func (c *channel) autoCommit()             {}
func (c *channel) leave()                  { c.end() }
func (c *channel) vanish()                 { c.end() }
