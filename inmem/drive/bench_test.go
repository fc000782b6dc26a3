// SPDX-License-Identifier: Apache-2.0

package drive

import (
	"context"
	"testing"
	"time"

	"github.com/seed-720a3c77/harness/broker"
	"github.com/seed-720a3c77/harness/clock"
	"github.com/seed-720a3c77/harness/contract/profiles"
)

// BenchmarkVirtual is a message published, completed, received and settled through the
// port on virtual time, by a producer and a worker that take batches of a hundred.
func BenchmarkVirtual(b *testing.B) {
	for _, profile := range []string{"kafka", "sqs", "rabbitmq"} {
		for name, opts := range map[string]Options{
			"instant": {},
			"latency": {
				Publish: Latency{Base: time.Millisecond, Jitter: time.Millisecond},
				Receive: Latency{Base: time.Millisecond, Jitter: time.Millisecond},
				Settle:  Latency{Base: time.Millisecond, Jitter: time.Millisecond},
			},
		} {
			b.Run(profile+"/"+name, func(b *testing.B) {
				onVirtual(b, 1, func(ctx context.Context, v *clock.Virtual) { pipe(b, ctx, v, profile, opts) })
			})
		}
	}
}

// BenchmarkWall is the same on real time.
func BenchmarkWall(b *testing.B) {
	w := clock.NewWall(1)
	defer w.Close()
	if err := w.Run("main", func(ctx context.Context) { pipe(b, ctx, w, "rabbitmq", Options{}) }); err != nil {
		b.Fatal(err)
	}
}

func pipe(b *testing.B, ctx context.Context, clk clock.Clock, profile string, opts Options) {
	p, err := profiles.Named(profile)
	must(err)
	e := New(clk, p, opts)
	declare(ctx, e, broker.Destination{Name: "q"})
	b.ReportAllocs()
	b.ResetTimer()
	worker := clk.Go(ctx, "worker", func(ctx context.Context) { drain(ctx, e, b.N) })
	producer, err := e.Producer(ctx, broker.ProducerSpec{Name: "p"})
	must(err)
	done := func(_ broker.Receipt, err error) { must(err) }
	m := message("q", 0, "k")
	m.Body = make([]byte, 200)
	for i := range b.N {
		m.ID.Seq = uint64(i)
		must(producer.Publish(ctx, m, done))
	}
	must(producer.Close(ctx))
	must(worker.Join(ctx))
	b.StopTimer()
	must(e.Close(ctx))
}

func drain(ctx context.Context, e *Engine, n int) {
	c, err := e.Consumer(ctx, broker.ConsumerSpec{Name: "w", From: "q", Group: "g", Batch: 100})
	must(err)
	verb := broker.Ack
	if e.Profile().Product == "kafka" {
		verb = broker.Commit
	}
	into, all, results := make([]broker.Delivery, 100), make([]broker.Settlement, 100), make([]error, 100)
	for n > 0 {
		got, err := c.Receive(ctx, into, time.Second)
		must(err)
		for i := range got {
			all[i] = broker.Settlement{Verb: verb, Token: into[i].Token}
		}
		c.Settle(ctx, all[:got], results)
		n -= got
	}
	must(c.Close(ctx))
}
