// SPDX-License-Identifier: Apache-2.0

package runner

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/seed-720a3c77/harness/broker"
	"github.com/seed-720a3c77/harness/clock"
	"github.com/seed-720a3c77/harness/faults"
	"github.com/seed-720a3c77/harness/runner/record"
)

// worker is one consumer of a group, through any number of lives. It is a faults.Process.
type worker struct {
	group *group
	name  string

	mu   sync.Mutex // guards life; never held across a wait
	life *life
	// lives counts them; a client id is never used twice.
	lives int
}

var _ faults.Process = (*worker)(nil)

// life is a worker from start to end.
type life struct {
	*worker
	task     clock.Task
	record   *record.Task
	consumer *record.Consumer
	producer *record.Producer // for retry topics and dead letters by the client; nil until used
	quit     atomic.Bool
	// holding: between a receive and the last settle of its batch.
	holding atomic.Bool
	batch   []broker.Delivery
	done    []broker.Delivery
	settles []broker.Settlement
	results []error
}

// Start begins a new life, unless one goes on.
func (w *worker) Start(ctx context.Context) error {
	if w.Alive() {
		return nil
	}
	w.mu.Lock()
	w.lives++
	number := w.lives
	w.mu.Unlock()
	task, err := w.group.run.recorder.Task(fmt.Sprintf("%s.%d", w.name, number))
	if err != nil {
		return err
	}
	size := w.group.plan.Batch
	l := &life{worker: w, record: task, batch: make([]broker.Delivery, size), done: make([]broker.Delivery, 0, size), settles: make([]broker.Settlement, 0, size), results: make([]error, size)}
	w.mu.Lock()
	w.life = l
	l.task = w.group.run.clock.Go(w.group.context, w.name, l.run)
	w.mu.Unlock()
	return nil
}

func (w *worker) current() *life {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.life
}

// Alive tells whether a life goes on.
func (w *worker) Alive() bool {
	l := w.current()
	return l != nil && l.task.Alive()
}

// Kill cuts the engine's side first, so that a wake promised to the dead goes to another.
func (w *worker) Kill(context.Context) error {
	l := w.current()
	if l == nil || !l.task.Alive() {
		return fmt.Errorf("%w: %s is not running", faults.ErrNoTarget, w.name)
	}
	w.mu.Lock()
	consumer, producer := l.consumer, l.producer
	w.mu.Unlock()
	if consumer != nil {
		consumer.Abandon()
	}
	if producer != nil {
		producer.Abandon()
	}
	l.task.Kill()
	l.record.Worker(w.name, true, true)
	return nil
}

// Freeze holds the worker's task.
func (w *worker) Freeze(context.Context) error {
	l := w.current()
	if l == nil || !l.task.Alive() {
		return fmt.Errorf("%w: %s is not running", faults.ErrNoTarget, w.name)
	}
	l.task.Freeze()
	return nil
}

// Thaw lets it go on.
func (w *worker) Thaw(context.Context) error {
	if l := w.current(); l != nil {
		l.task.Thaw()
	}
	return nil
}

// Stop asks it to leave and waits.
func (w *worker) Stop(ctx context.Context) error { return w.leave(ctx) }

// leavePatience bounds a polite leave beyond what the work takes.
const leavePatience = 30 * time.Second

func (w *worker) leave(ctx context.Context) error {
	l := w.current()
	if l == nil || !l.task.Alive() {
		return nil
	}
	l.quit.Store(true)
	limited, cancel := w.group.run.clock.WithTimeout(ctx, w.group.plan.Takes+leavePatience)
	defer cancel()
	if err := l.task.Join(limited); err != nil {
		w.Kill(ctx)
		return fmt.Errorf("did not leave in time: %w", err)
	}
	return nil
}

// run is the task of a life: sessions, one after another, until it is told to quit.
func (l *life) run(ctx context.Context) {
	l.record.Worker(l.name, false, false)
	for session := 1; !l.quit.Load() && ctx.Err() == nil; session++ {
		err := l.session(ctx, session)
		if err != nil && !l.quit.Load() && l.pause(ctx) != nil {
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

// poll is how long one receive waits: short, because receives run out and are never
// cancelled.
const poll = 100 * time.Millisecond

// session opens a consumer and works until it dies or the worker quits.
func (l *life) session(ctx context.Context, number int) error {
	spec := l.group.plan.Spec
	spec.Name = fmt.Sprintf("%s-%d-%d", l.name, l.lives, number)
	consumer, err := l.record.Consumer(ctx, l.group.run.Engine, spec)
	if err != nil {
		return err
	}
	l.mu.Lock()
	l.consumer = consumer
	l.mu.Unlock()
	for !l.quit.Load() && ctx.Err() == nil {
		n, err := consumer.Receive(ctx, l.batch, poll)
		if n > 0 {
			l.handle(ctx, l.batch[:n])
		}
		if err != nil {
			consumer.Abandon()
			return err
		}
	}
	return errors.Join(ctx.Err(), consumer.Close(ctx))
}
