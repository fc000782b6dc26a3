// SPDX-License-Identifier: Apache-2.0

package runner

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"time"

	"github.com/seed-720a3c77/harness/broker"
	"github.com/seed-720a3c77/harness/clock"
	"github.com/seed-720a3c77/harness/runner/record"
)

// life is what a worker does from one start to its end, wherever it runs.
type life struct {
	*worker
	supervisor Supervisor
	// number tells its client ids from those of the worker's other lives.
	number   int
	record   *record.Task
	consumer *record.Consumer
	producer *record.Producer // for retry topics and dead letters by the client; nil until used
	leaving  *atomic.Bool
	batch    []broker.Delivery
	done     []broker.Delivery
	settles  []broker.Settlement
	later    []clock.Task // asynchronous settlements under way
	results  []error
}

func (w *worker) life(number int, supervisor Supervisor, leaving *atomic.Bool) (*life, error) {
	task, err := w.group.run.recorder.Task(fmt.Sprintf("%s.%d", w.name, number))
	if err != nil {
		return nil, err
	}
	size := w.group.plan.Batch
	return &life{
		worker: w, supervisor: supervisor, number: number, record: task, leaving: leaving,
		batch: make([]broker.Delivery, size), done: make([]broker.Delivery, 0, size),
		settles: make([]broker.Settlement, 0, size), results: make([]error, size),
	}, nil
}

// run goes through sessions, one after another, until the worker is to leave.
func (l *life) run(ctx context.Context) {
	l.record.Worker(l.name, false, false)
	for session := 1; !l.leaving.Load() && ctx.Err() == nil; session++ {
		err := l.session(ctx, session)
		if err != nil && !l.leaving.Load() && l.pause(ctx) != nil {
			break
		}
	}
	if l.producer != nil {
		_ = l.producer.Close(ctx)
	}
	l.record.Worker(l.name, true, false)
}

// reconnect is how long a worker waits after its session died.
const reconnect = 100 * time.Millisecond

func (l *life) pause(ctx context.Context) error { return l.group.run.clock.Sleep(ctx, reconnect) }

// poll is how long one receive waits, and pollLast one of a worker that has had nothing
// for long: short, because receives run out and are never cancelled.
const (
	poll     = 100 * time.Millisecond
	pollLast = time.Second
)

// session opens a consumer and works until it dies or the worker is to leave.
func (l *life) session(ctx context.Context, number int) error {
	spec := l.group.plan.Spec
	spec.Name = fmt.Sprintf("%s-%d-%d", l.name, l.number, number)
	spec.Notify = l.supervisor.Notice
	if l.group.plan.Static {
		spec.StaticID = strings.ReplaceAll(l.name, "/", "-")
	}
	consumer, err := l.record.Consumer(ctx, l.group.run.Engine, spec)
	if err != nil {
		return err
	}
	l.mu.Lock()
	l.consumer = consumer
	l.mu.Unlock()
	l.supervisor.Session(consumer.Session(), true)
	defer l.supervisor.Session(consumer.Session(), false)
	worked := l.group.run.clock.Now()
	for !l.leaving.Load() && ctx.Err() == nil {
		n, err := consumer.Receive(ctx, l.batch, ease(poll, pollLast, l.group.run.clock.Now()-worked))
		if n > 0 {
			l.handle(ctx, l.batch[:n])
			worked = l.group.run.clock.Now()
		}
		if err != nil {
			consumer.Abandon()
			return err
		}
	}
	l.awaitLater(ctx)
	return errors.Join(ctx.Err(), consumer.Close(ctx))
}

// reach tells the run that the worker is at a point that some step waits for; elsewhere
// it costs nothing.
func (l *life) reach(ctx context.Context, point string, n int, d *broker.Delivery) {
	if l.group.run.plan.watches(l.name, point, n, d.ID) {
		l.supervisor.Reach(ctx, point, n, d.ID)
	}
}
