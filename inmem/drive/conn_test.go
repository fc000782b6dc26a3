// SPDX-License-Identifier: Apache-2.0

package drive

import (
	"context"
	"testing"
	"time"

	"github.com/seed-720a3c77/harness/broker"
	"github.com/seed-720a3c77/harness/clock"
)

// written: every way takes from one to two milliseconds.
var written = Options{
	Written: true,
	Receive: Latency{Base: time.Millisecond, Jitter: time.Millisecond},
	Settle:  Latency{Base: time.Millisecond, Jitter: time.Millisecond},
}

// TestAcksBehindAClosedChannelAreWritten: twenty acks of one call, the third of them twice.
// RabbitMQ closes the channel at it, and the client, which has written them all, learns it
// when the close arrives. Before that was so, the model gave 380 redeliveries and 380 refused
// acks where 20 channels were closed, in every seed, and the broker about 260 and 140.
func TestAcksBehindAClosedChannelAreWritten(t *testing.T) {
	onVirtual(t, 1, func(ctx context.Context, v *clock.Virtual) {
		e := New(v, profileOf(t, "rabbitmq"), written)
		declare(ctx, e, broker.Destination{Name: "q"})
		send(ctx, e, 20)
		c, batch := takeAll(ctx, e, "w", 20)
		var acks []broker.Settlement
		for i, d := range batch {
			acks = append(acks, broker.Settlement{Verb: broker.Ack, Token: d.Token})
			if i == 2 {
				acks = append(acks, acks[2])
			}
		}
		results := make([]error, len(acks))
		c.Settle(ctx, acks, results)
		for i, err := range results {
			if err != nil {
				t.Errorf("ack %d: %v; it was written", i, err)
			}
		}
		into := make([]broker.Delivery, 1)
		if n, err := c.Receive(ctx, into, time.Second); n != 0 || err == nil {
			t.Errorf("%d deliveries, %v; want the end of the channel", n, err)
		}
		if c.Settle(ctx, acks[:1], results[:1]); results[0] == nil {
			t.Error("an ack was written on a channel that is known to be closed")
		}
		if _, again := takeAll(ctx, e, "next", 17); again[0].ID.Seq != 3 || !again[0].Redelivered {
			t.Errorf("first of 17 that come again: %v", again[0])
		}
	})
}

// TestPushesTrickleIn: a client that asks as soon as something is there has no full batch.
func TestPushesTrickleIn(t *testing.T) {
	onVirtual(t, 1, func(ctx context.Context, v *clock.Virtual) {
		e := New(v, profileOf(t, "rabbitmq"), written)
		declare(ctx, e, broker.Destination{Name: "q"})
		send(ctx, e, 20)
		c, err := e.Consumer(ctx, broker.ConsumerSpec{Name: "w", From: "q", Batch: 20})
		must(err)
		into := make([]broker.Delivery, 20)
		n, err := c.Receive(ctx, into, time.Second)
		must(err)
		if n == 0 || n == 20 || v.Now() < time.Millisecond {
			t.Errorf("%d of 20 at %v", n, v.Now())
		}
		for i := range into[:n] {
			if into[i].ID.Seq != uint64(i) {
				t.Errorf("message %d came as number %d", into[i].ID.Seq, i)
			}
		}
	})
}

// TestALeaveFollowsItsAcks, polite or not: what was written before it counts.
func TestALeaveFollowsItsAcks(t *testing.T) {
	for _, polite := range []bool{true, false} {
		onVirtual(t, 1, func(ctx context.Context, v *clock.Virtual) {
			e := New(v, profileOf(t, "rabbitmq"), written)
			declare(ctx, e, broker.Destination{Name: "q"})
			send(ctx, e, 20)
			c, batch := takeAll(ctx, e, "w", 20)
			acks := make([]broker.Settlement, 5)
			for i := range acks {
				acks[i] = broker.Settlement{Verb: broker.Ack, Token: batch[i].Token}
			}
			c.Settle(ctx, acks, make([]error, len(acks)))
			if polite {
				must(c.Close(ctx))
			} else {
				c.Abandon()
			}
			must(v.Sleep(ctx, time.Second))
			if depth, err := e.Depth(ctx, "q", ""); err != nil || depth.Ready != 15 {
				t.Errorf("polite %v: %+v, %v; want the 15 that were not acked", polite, depth, err)
			}
		})
	}
}

// takeAll opens a consumer and receives n.
func takeAll(ctx context.Context, e *Engine, name string, n int) (broker.Consumer, []broker.Delivery) {
	c, err := e.Consumer(ctx, broker.ConsumerSpec{Name: name, From: "q", Batch: 20})
	must(err)
	all := make([]broker.Delivery, n)
	for got := 0; got < n; {
		more, err := c.Receive(ctx, all[got:], time.Second)
		must(err)
		got += more
	}
	return c, all
}
