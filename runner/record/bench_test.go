// SPDX-License-Identifier: Apache-2.0

package record_test

import (
	"context"
	"errors"
	"path/filepath"
	"testing"
	"time"

	"github.com/seed-720a3c77/harness/broker"
	"github.com/seed-720a3c77/harness/clock"
	"github.com/seed-720a3c77/harness/contract/profiles"
	"github.com/seed-720a3c77/harness/history"
	"github.com/seed-720a3c77/harness/inmem/drive"
	"github.com/seed-720a3c77/harness/internal/testenv"
	"github.com/seed-720a3c77/harness/msg"
	"github.com/seed-720a3c77/harness/runner/record"
)

// BenchmarkRecorded is a message published, completed, received and settled on virtual
// time, with all of it recorded in a history on disk, sealed and closed. A producer and a
// worker take batches of a hundred.
func BenchmarkRecorded(b *testing.B) {
	for _, profile := range []string{"kafka", "sqs", "rabbitmq"} {
		b.Run(profile, func(b *testing.B) {
			v := clock.NewVirtual(1)
			defer v.Close()
			if err := v.Run("main", func(ctx context.Context) { recordAll(b, ctx, v, profile) }); err != nil {
				b.Fatal(err)
			}
		})
	}
}

func recordAll(b *testing.B, ctx context.Context, clk clock.Clock, name string) {
	profile, err := profiles.Named(name)
	must(err)
	recording, err := history.Create(filepath.Join(b.TempDir(), "run"), history.Header{Profile: profile})
	must(err)
	recorder := record.New(recording, clk, profile, nil)
	e := drive.New(clk, profile, drive.Options{})
	must(e.Declare(ctx, broker.Topology{Destinations: []broker.Destination{{Name: "q"}}}))
	b.ReportAllocs()
	b.ResetTimer()
	before := testenv.CPUTime()
	worker := clk.Go(ctx, "worker", func(ctx context.Context) { consumeAll(ctx, recorder, e, b.N) })
	produceAll(ctx, clk, recorder, e, b.N)
	must(worker.Join(ctx))
	must(errors.Join(recording.Close(), recording.Err()))
	b.StopTimer()
	b.ReportMetric(float64(testenv.CPUTime()-before)/float64(b.N), "cpu-ns/op")
	must(e.Close(ctx))
}

// produceAll publishes a hundred messages every 100 us, so that the worker keeps up.
func produceAll(ctx context.Context, clk clock.Clock, recorder *record.Recorder, e broker.Engine, n int) {
	task, err := recorder.Task("producer")
	must(err)
	p, err := task.Producer(ctx, e, broker.ProducerSpec{Name: "p"}, "q")
	must(err)
	done := func(_ broker.Receipt, err error) { must(err) }
	m := &msg.Message{To: "q", Partition: msg.AnyPartition, Key: "k", Body: make([]byte, 200), Attempt: 1}
	for i := range n {
		m.ID.Seq = uint64(i)
		must(p.Publish(ctx, m, done))
		if i%100 == 99 {
			must(clk.Sleep(ctx, 100*time.Microsecond))
		}
	}
	must(p.Close(ctx))
}

func consumeAll(ctx context.Context, recorder *record.Recorder, e broker.Engine, n int) {
	task, err := recorder.Task("worker")
	must(err)
	c, err := task.Consumer(ctx, e, broker.ConsumerSpec{Name: "w", From: "q", Group: "g", Batch: 100})
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

func must(err error) {
	if err != nil {
		panic(err)
	}
}
