// SPDX-License-Identifier: Apache-2.0

package drive

import (
	"context"
	"slices"
	"time"

	"github.com/seed-720a3c77/harness/broker"
)

// conn is the connection of a consumer of a push queue, where its ways take time. Settlements
// are written and arrive later, one by one and in order; so do deliveries and the end of the
// channel on the way back. What a client knows is what has arrived. The engine's lock guards it.
type conn struct {
	c *consumer
	// up and down are when the last on each way arrives: nothing overtakes.
	up, down time.Duration
	going    []broker.Settlement
	coming   []coming
	// err is why the session is over, once the client knows it.
	err error
}

// coming is a delivery on its way or in the client's buffer.
type coming struct {
	at time.Duration
	broker.Delivery
}

// write sends settlements. It returns false for what is not only written.
func (p *conn) write(all []broker.Settlement, results []error) bool {
	if slices.ContainsFunc(all, refusable) {
		return false
	}
	p.c.e.mu.Lock()
	defer p.c.e.mu.Unlock()
	for i := range all {
		results[i] = p.sent(all[i])
	}
	return true
}

// refusable: the client itself may have a word against it.
func refusable(s broker.Settlement) bool {
	return s.Delay > 0 || s.Verb != broker.Ack && s.Verb != broker.Requeue && s.Verb != broker.Reject
}

func (p *conn) sent(s broker.Settlement) error {
	c := p.c
	if c.closed || p.err != nil {
		return errSettleClosed
	}
	p.up = max(p.up, c.e.clk.Now()+c.e.opts.Settle.draw(c.settles)+c.e.late(c.spec.Name, true))
	p.going = append(p.going, s)
	c.e.clk.At(context.Background(), p.up, p.arrived)
	return nil
}

// arrived is the first settlement at the broker, whatever became of the client since: events
// of one instant come in any order.
func (p *conn) arrived() {
	p.c.e.mu.Lock()
	defer p.c.e.leave()
	first := p.going[:1]
	p.going = p.going[1:]
	p.c.e.machine.Settle(p.c.e.clk.Now(), p.c.session, first, make([]error, 1))
}

// pull lets everything that the broker has sent by now go on its way.
func (p *conn) pull() {
	var sent [16]broker.Delivery
	for {
		n, err := p.c.e.machine.Receive(p.c.e.clk.Now(), p.c.session, 0, sent[:])
		for i := range sent[:n] {
			p.coming = append(p.coming, coming{p.deliver(), sent[i]})
		}
		if err != nil {
			p.atOnce(func() { p.end(err) })
		}
		if n == 0 || err != nil {
			return
		}
	}
}

// deliver tells when a delivery arrives at the client.
func (p *conn) deliver() time.Duration {
	c := p.c
	p.down = max(p.down, c.e.clk.Now()+c.e.opts.Receive.draw(c.receives)+c.e.late(c.spec.Name, false))
	c.e.clk.At(c.owner, p.down, c.gate.Wake)
	return p.down
}

// atOnce is how the end of a channel arrives: before anything that it gave back can have
// arrived elsewhere.
func (p *conn) atOnce(then func()) {
	c := p.c
	c.e.clk.At(c.owner, c.e.clk.Now()+c.e.opts.Receive.least()+c.e.late(c.spec.Name, false), then)
}

// end is how the client learns that the session is over: it drops what it has buffered.
func (p *conn) end(err error) {
	p.c.e.mu.Lock()
	defer p.c.e.leave()
	p.coming, p.err = nil, err
	p.c.gate.Wake()
}

// take hands out what has arrived.
func (p *conn) take(now time.Duration, into []broker.Delivery) (n int, err error) {
	if p.err != nil {
		return 0, p.err
	}
	for n < len(into) && n < len(p.coming) && p.coming[n].at <= now {
		into[n] = p.coming[n].Delivery
		n++
	}
	p.coming = slices.Delete(p.coming, 0, n)
	return n, nil
}

// flush waits until everything written has arrived: the close comes behind it.
func (p *conn) flush(ctx context.Context) error {
	p.c.e.mu.Lock()
	left := p.up - p.c.e.clk.Now()
	p.c.e.mu.Unlock()
	if left < 0 {
		return nil
	}
	return p.c.e.clk.Sleep(ctx, left+1)
}

// vanish has the connection break behind what was written, and tells whether something was.
func (p *conn) vanish() bool {
	if len(p.going) == 0 {
		return false
	}
	p.c.e.clk.At(context.Background(), p.up+1, func() {
		p.c.e.mu.Lock()
		defer p.c.e.leave()
		p.c.e.machine.Vanish(p.c.e.clk.Now(), p.c.session)
	})
	return true
}
