// SPDX-License-Identifier: Apache-2.0

package faults

import (
	"context"
	"time"

	"github.com/seed-720a3c77/harness/broker"
	"github.com/seed-720a3c77/harness/contract"
)

// consumer is a consumer whose receives can be hit; settlements are in requests_settle.go.
type consumer struct {
	broker.Consumer
	requests *Requests
	spec     broker.ConsumerSpec
}

// Consumer implements broker.Engine.
func (r *Requests) Consumer(ctx context.Context, spec broker.ConsumerSpec) (broker.Consumer, error) {
	outer := spec
	if heard := spec.Notify; r.onNotice != nil {
		spec.Notify = func(n broker.Notice) {
			if heard != nil {
				heard(n)
			}
			r.onNotice(spec.Name, &n)
		}
	}
	inner, err := r.Engine.Consumer(ctx, spec)
	if err != nil {
		return nil, err
	}
	return &consumer{Consumer: inner, requests: r, spec: outer}, nil
}

// Receive implements broker.Consumer.
func (c *consumer) Receive(ctx context.Context, into []broker.Delivery, wait time.Duration) (int, error) {
	if c.requests.watched.Load() == 0 {
		return c.Consumer.Receive(ctx, into, wait)
	}
	if n := c.requests.give(c, into); n > 0 {
		return n, nil
	}
	call := c.call(Receive)
	hit := c.requests.hit(&call, false)
	if hit == nil {
		return c.receive(ctx, into, wait)
	}
	if err := hit.before(ctx); err != nil {
		return 0, err
	}
	switch act := &hit.Action; {
	case act.Lost && act.Told != nil:
		return 0, act.Told
	case act.Lost:
		return 0, c.requests.clock.Sleep(ctx, wait)
	case act.Most > 0:
		into = into[:min(len(into), act.Most)]
	}
	return c.receive(ctx, into, wait)
}

func (c *consumer) call(operation string) Call {
	return Call{Operation: operation, By: c.spec.Name, To: c.spec.From}
}

// receive receives, and does to the answer what is to be done to it.
func (c *consumer) receive(ctx context.Context, into []broker.Delivery, wait time.Duration) (int, error) {
	n, err := c.Consumer.Receive(ctx, into, wait)
	if n == 0 {
		return n, err
	}
	hit, which := c.struck(ctx, into[:n])
	if hit == nil {
		return n, err
	}
	switch act := &hit.Action; {
	case act.Again != nil:
		c.requests.keep(c, hit, &into[which])
		return n, err
	case act.Silent:
		return 0, c.unheard(ctx)
	}
	return n, c.late(ctx, hit, into[:n], err)
}

// struck finds the rule that an answer is hit by, and the delivery that it matches.
func (c *consumer) struck(ctx context.Context, answer []broker.Delivery) (*Armed, int) {
	call := c.call(Receive)
	for i := range answer {
		call.ID, call.Key, call.Entry = answer[i].ID, answer[i].Key, i+1
		c.requests.tell(ctx, &call)
	}
	return c.requests.hitAnswer(&call, answer)
}

// hitAnswer counts an answer once for every rule that matches one of its deliveries.
func (r *Requests) hitAnswer(call *Call, answer []broker.Delivery) (*Armed, int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, a := range r.rules {
		if !a.Action.late() || a.spent {
			continue
		}
		for i := range answer {
			call.ID, call.Key, call.Entry = answer[i].ID, answer[i].Key, i+1
			if !a.Matches(call) {
				continue
			}
			if a.take() {
				return a, i
			}
			break
		}
	}
	return nil, 0
}

// unheard loses an answer. On a lease queue the poll comes back empty and what it took
// stays leased. Other brokers' answers are lost with their connection alone.
func (c *consumer) unheard(ctx context.Context) error {
	if c.requests.model == contract.LeaseQueue {
		return nil
	}
	c.cut(ctx, "an answer was lost")
	return cutOff(Receive)
}

// late delays an answer; its leases have run meanwhile.
func (c *consumer) late(ctx context.Context, hit *Armed, answer []broker.Delivery, err error) error {
	began := c.requests.clock.Now()
	if waited := hit.after(ctx); waited != nil {
		return waited
	}
	late := c.requests.clock.Now() - began
	for i := range answer {
		answer[i].Requested += late
	}
	return err
}

// cut loses the connection; its end is told before anybody else can get what it held.
func (c *consumer) cut(ctx context.Context, why string) {
	if c.spec.Notify != nil {
		c.spec.Notify(broker.Notice{Kind: broker.SessionClose, Text: "connection cut: " + why})
	}
	// What was written is known to be applied once a later request on it was answered.
	_ = c.Consumer.Pause(ctx)
	c.Consumer.Abandon()
}
