// SPDX-License-Identifier: Apache-2.0

package brokertest

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/seed-720a3c77/harness/broker"
	"github.com/seed-720a3c77/harness/contract"
)

type toyConsumer struct {
	e      *toy
	spec   broker.ConsumerSpec
	epoch  uint32
	closed error
	pushed []broker.Delivery
}

func (e *toy) Consumer(_ context.Context, spec broker.ConsumerSpec) (broker.Consumer, error) {
	if e.queues[spec.From] == nil {
		return nil, broker.ErrNotFound
	}
	err := e.unsupported(map[contract.Capability]bool{contract.AutoCommit: spec.AutoCommit > 0, contract.Prefetch: spec.AutoAck})
	c := &toyConsumer{e: e, spec: spec, epoch: uint32(e.next())}
	if err == nil && e.can(contract.Prefetch) {
		e.pushes = append(e.pushes, c.push)
		c.push()
	}
	return c, err
}

// push fills the client's buffer up to the window.
func (c *toyConsumer) push() {
	for c.closed == nil {
		m := c.takeable()
		if m == nil {
			return
		}
		c.pushed = append(c.pushed, c.hand(m))
	}
}

// pop takes a delivery that was pushed, or pulls one.
func (c *toyConsumer) pop() (d broker.Delivery, ok bool) {
	if c.e.can(contract.Prefetch) {
		c.push()
		if len(c.pushed) == 0 {
			return d, false
		}
		d, c.pushed = c.pushed[0], c.pushed[1:]
		return d, true
	}
	m := c.takeable()
	if m == nil {
		return d, false
	}
	return c.hand(m), true
}

func (c *toyConsumer) window() int {
	if !c.e.can(contract.Prefetch) || c.e.breaks("ignores the window") {
		return 1 << 20
	}
	return cmp.Or(c.spec.Prefetch, c.spec.Batch)
}

func (c *toyConsumer) Receive(_ context.Context, into []broker.Delivery, wait time.Duration) (int, error) {
	for end := c.e.now + wait; ; c.e.now += 10 * time.Millisecond {
		n := 0
		for ; n < len(into) && c.closed == nil; n++ {
			d, ok := c.pop()
			if !ok {
				break
			}
			into[n] = d
		}
		if n > 0 || c.closed != nil || c.e.now >= end {
			return n, c.closed
		}
		if c.e.breaks("returns from empty polls at once") {
			end = 0
		}
	}
}

// takeable is the first message that this consumer may have.
func (c *toyConsumer) takeable() *toyMessage {
	q := c.e.queues[c.spec.From]
	c.e.bury(q)
	blocked, held := map[string]bool{}, 0
	for _, m := range q.messages {
		if m.holder == c {
			held++
		}
	}
	all := slices.Clone(q.messages)
	if c.e.breaks("reverses the order") {
		slices.Reverse(all)
	}
	for _, m := range all {
		free := m.due <= c.e.now && (m.holder == nil || !m.holder.holds(m))
		if free && !blocked[m.Key] && held < c.window() {
			return m
		}
		blocked[m.Key] = c.e.can(contract.FIFOGroups) && m.holder != c && !c.e.breaks("groups do not wait")
	}
	return nil
}

// holds: the lease runs, or the channel lives.
func (c *toyConsumer) holds(m *toyMessage) bool {
	if c.e.profile.Model == contract.LeaseQueue {
		return c.e.now < m.due
	}
	return c.closed == nil || c.e.breaks("keeps the unsettled of the dead")
}

// bury moves what has used up its deliveries.
func (e *toy) bury(q *toyQueue) {
	limit := cmp.Or(q.MaxDeliveries, e.profile.Limit.Default)
	if e.breaks("delivers once too often") {
		limit++
	}
	for _, m := range slices.Clone(q.messages) {
		if limit > 0 && m.count >= limit && m.due <= e.now && (m.holder == nil || !m.holder.holds(m)) {
			e.remove(q, m)
			if dead := e.queues[q.DeadLetter]; dead != nil && !e.breaks("drops dead letters") {
				m.count, m.holder, m.due = 0, nil, 0
				dead.messages = append(dead.messages, m)
			}
		}
	}
}

func (e *toy) remove(q *toyQueue, m *toyMessage) {
	q.messages = slices.DeleteFunc(q.messages, func(other *toyMessage) bool { return other == m })
}

func (c *toyConsumer) hand(m *toyMessage) broker.Delivery {
	q, e := c.e.queues[c.spec.From], c.e
	m.holder, m.count, m.handle = c, m.count+1, fmt.Sprint(m.id(), "#", e.next())
	d := broker.Delivery{
		Token:   broker.Token{Handle: m.handle, Epoch: c.epoch, Tag: uint64(e.serial)},
		Foreign: m.run != c.spec.Run && !e.breaks("takes foreign for own"),
		Attempt: m.Attempt, Intended: m.Intended, Source: c.spec.From, Key: m.Key, BrokerID: m.id(), Body: m.Body,
	}
	if !d.Foreign {
		d.ID = m.ID
	}
	if e.breaks("loses the key") {
		d.Key = ""
	}
	if e.can(contract.DeliveryCount) && !e.breaks("never raises the count") {
		d.Count = m.count
	}
	d.Redelivered = e.can(contract.RedeliveredFlag) && m.count > 1 && !e.breaks("never raises the flag")
	if e.profile.Model == contract.LeaseQueue {
		d.Lease = cmp.Or(q.Lease, e.profile.Lease.Default)
		m.due = e.now + c.leaseOf(d.Lease)
	}
	if c.spec.AutoAck {
		e.remove(q, m)
	}
	return d
}

func (c *toyConsumer) leaseOf(lease time.Duration) time.Duration {
	switch {
	case c.e.breaks("ends leases early"):
		return lease / 2
	case c.e.breaks("never ends leases"):
		return 1000 * time.Hour
	}
	return lease
}

func (c *toyConsumer) Settle(_ context.Context, all []broker.Settlement, results []error) {
	for i, s := range all {
		err := c.settle(s)
		if c.e.breaks("swallows settle errors") {
			err = nil
		}
		if i == 0 && c.e.breaks("leaves results unwritten") {
			continue
		}
		results[i] = err
	}
}

var toyVerbs = map[broker.Verb]contract.Capability{
	broker.Ack: contract.Acks, broker.Requeue: contract.Requeue, broker.Reject: contract.Reject,
	broker.Extend: contract.Extend, broker.Commit: contract.OffsetCommit, broker.Mark: contract.AutoCommit,
}

func (c *toyConsumer) settle(s broker.Settlement) error {
	if c.closed != nil {
		return c.closed
	}
	capability, known := toyVerbs[s.Verb]
	if !known {
		return &broker.Error{Op: "settle", Answer: contract.Refused, Class: contract.Rejected}
	}
	if err := c.e.unsupported(map[contract.Capability]bool{
		capability: true, contract.AckMultiple: s.Multiple, contract.RequeueDelay: s.Verb == broker.Requeue && s.Delay > 0,
	}); err != nil {
		return err
	}
	q := c.e.queues[c.spec.From]
	i := slices.IndexFunc(q.messages, func(m *toyMessage) bool { return m.handle == s.Token.Handle && m.holder == c })
	if i < 0 && c.e.breaks("obeys stale handles") {
		i = 0
	}
	if i < 0 {
		return c.stale()
	}
	c.apply(q, q.messages[i], s)
	return nil
}

func (c *toyConsumer) stale() error {
	if c.e.profile.Stale == contract.StaleCloses && !c.e.breaks("survives stale tags") {
		c.closed = &broker.Error{Op: "receive", Answer: contract.Closed, Class: contract.Unknown}
		return nil
	}
	return &broker.Error{Op: "settle", Answer: contract.Refused, Class: contract.Rejected, Err: broker.ErrStale}
}

func (c *toyConsumer) apply(q *toyQueue, m *toyMessage, s broker.Settlement) {
	e := c.e
	switch s.Verb {
	case broker.Ack:
		if e.breaks("ack does nothing") {
			return
		}
		for _, other := range slices.Clone(q.messages) {
			multiple := s.Multiple && other.holder == c && other.number <= m.number && !e.breaks("multiple acks one")
			if other == m || multiple || e.breaks("ack takes all") {
				e.remove(q, other)
			}
		}
	case broker.Reject:
		e.remove(q, m)
		if dead := e.queues[q.DeadLetter]; dead != nil {
			m.holder, m.count = nil, 0
			dead.messages = append(dead.messages, m)
		}
	case broker.Extend:
		if !e.breaks("extend does nothing") {
			m.due = e.now + s.Delay
		}
	case broker.Requeue:
		c.requeue(q, m, s.Delay)
	}
}

func (c *toyConsumer) requeue(q *toyQueue, m *toyMessage, delay time.Duration) {
	m.holder, m.due = nil, c.e.now+delay
	if c.e.breaks("requeues without the delay") {
		m.due = c.e.now
	}
	if c.e.breaks("requeues at the wrong end") {
		c.e.remove(q, m)
		q.messages = append(q.messages, m)
	}
	if c.e.breaks("requeue drops") {
		c.e.remove(q, m)
	}
}

func (c *toyConsumer) Seek(context.Context, int32, int64) error { return broker.ErrUnsupported }
func (c *toyConsumer) Pause(context.Context) error              { return broker.ErrUnsupported }
func (c *toyConsumer) Resume(context.Context) error             { return broker.ErrUnsupported }
func (c *toyConsumer) Close(context.Context) error              { c.Abandon(); return nil }

func (c *toyConsumer) Abandon() {
	if c.e.breaks("lives on after abandon") {
		return
	}
	c.closed = broker.ErrClosed
}
