// SPDX-License-Identifier: Apache-2.0

package drive

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/seed-720a3c77/harness/broker"
	"github.com/seed-720a3c77/harness/broker/brokertest"
	"github.com/seed-720a3c77/harness/clock"
	"github.com/seed-720a3c77/harness/contract"
	"github.com/seed-720a3c77/harness/contract/profiles"
	"github.com/seed-720a3c77/harness/msg"
)

// onVirtual runs body as the main task of a virtual clock.
func onVirtual(t testing.TB, seed uint64, body func(ctx context.Context, v *clock.Virtual)) {
	t.Helper()
	v := clock.NewVirtual(seed)
	defer v.Close()
	if err := v.Run("main", func(ctx context.Context) { body(ctx, v) }); err != nil {
		t.Fatal(err)
	}
}

func profileOf(t testing.TB, name string) contract.Profile {
	t.Helper()
	p, err := profiles.Named(name)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// must ends the test; on virtual time a panic ends the run with an error.
func must(err error) {
	if err != nil {
		panic(err)
	}
}

func message(to string, seq uint64, key string) *msg.Message {
	return &msg.Message{To: to, ID: msg.ID{Producer: 1, Seq: seq}, Attempt: 1, Key: key, Partition: msg.AnyPartition, Body: []byte("body")}
}

func declare(ctx context.Context, e *Engine, all ...broker.Destination) {
	must(e.Declare(ctx, broker.Topology{Destinations: all}))
}

// TestConformance holds every profile to the suite that every engine passes, on virtual time.
func TestConformance(t *testing.T) {
	for _, p := range profiles.All() {
		t.Run(p.Name, func(t *testing.T) {
			t.Parallel()
			brokertest.Run(t, func(t *testing.T) *brokertest.Bench { return virtualBench(t, p, Options{}) })
		})
	}
}

// TestConformanceWithLatency is the same with everything on its way for a while.
func TestConformanceWithLatency(t *testing.T) {
	slow := Options{
		Publish: Latency{Base: time.Millisecond, Jitter: 2 * time.Millisecond},
		Receive: Latency{Jitter: 3 * time.Millisecond},
		Settle:  Latency{Base: time.Millisecond, Jitter: time.Millisecond},
	}
	written := slow
	written.Written = true
	for _, p := range profiles.All() {
		t.Run(p.Name, func(t *testing.T) {
			t.Parallel()
			brokertest.Run(t, func(t *testing.T) *brokertest.Bench { return virtualBench(t, p, slow) })
		})
		if p.Model != contract.PushQueue {
			continue
		}
		t.Run(p.Name+", written", func(t *testing.T) {
			t.Parallel()
			brokertest.Run(t, func(t *testing.T) *brokertest.Bench { return virtualBench(t, p, written) })
		})
	}
}

func virtualBench(t *testing.T, p contract.Profile, opts Options) *brokertest.Bench {
	v := clock.NewVirtual(7)
	t.Cleanup(v.Close)
	return &brokertest.Bench{
		Engine: New(v, p, opts),
		Run: func(body func(context.Context)) {
			if err := v.Run("conformance", body); err != nil {
				t.Fatal(err)
			}
		},
		Sleep: v.Sleep, Now: v.Now, Prefix: "t-",
	}
}

func TestLogRoundTrip(t *testing.T) {
	onVirtual(t, 1, func(ctx context.Context, v *clock.Virtual) {
		e := New(v, profileOf(t, "kafka"), Options{})
		declare(ctx, e, broker.Destination{Name: "orders", Partitions: 2})
		var read []string
		worker := v.Go(ctx, "worker", func(ctx context.Context) {
			c, err := e.Consumer(ctx, broker.ConsumerSpec{Name: "w", From: "orders", Group: "g", Batch: 10})
			must(err)
			into := make([]broker.Delivery, 10)
			for len(read) < 100 {
				n, err := c.Receive(ctx, into, time.Second)
				must(err)
				for _, d := range into[:n] {
					read = append(read, fmt.Sprint(d.ID))
				}
			}
			must(c.Close(ctx))
		})
		p, err := e.Producer(ctx, broker.ProducerSpec{Name: "p"})
		must(err)
		answers := 0
		for i := range uint64(100) {
			must(p.Publish(ctx, message("orders", i, fmt.Sprint(i%5)), func(_ broker.Receipt, err error) { must(err); answers++ }))
		}
		must(p.Close(ctx))
		must(worker.Join(ctx))
		slices.Sort(read)
		if answers != 100 || len(slices.Compact(read)) != 100 {
			t.Errorf("%d answers, %d different messages; want 100 each", answers, len(read))
		}
	})
}

func TestBrokenProfileIsAnErrorOfTheFirstOperation(t *testing.T) {
	onVirtual(t, 1, func(ctx context.Context, v *clock.Virtual) {
		e := New(v, contract.Profile{Name: "nothing"}, Options{})
		if err := e.Declare(ctx, broker.Topology{}); err == nil || errors.Is(err, broker.ErrClosed) {
			t.Errorf("declare on a profile without a model: %v", err)
		}
	})
}
