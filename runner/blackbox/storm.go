// SPDX-License-Identifier: Apache-2.0

package blackbox

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/seed-720a3c77/harness/clock"
	"github.com/seed-720a3c77/harness/history"
	"github.com/seed-720a3c77/harness/runner/record"
)

// storm makes the planned faults happen, each as a task of its own; those of one worker
// wait for each other.
type storm struct {
	run   *run
	task  *record.Task
	tasks []clock.Task
	// seen is how many effects there were when a fault last healed.
	seen atomic.Int64
}

func (r *run) startStorm(ctx context.Context) (*storm, error) {
	task, err := r.recorder.Task("faults")
	if err != nil {
		return nil, err
	}
	s := &storm{run: r, task: task}
	began := r.Clock.Now()
	for i, one := range r.plan.strikes {
		s.tasks = append(s.tasks, r.Clock.Go(ctx, one.do, func(ctx context.Context) { s.strike(ctx, i+1, one, began+one.at) }))
	}
	return s, nil
}

// over tells that every fault has happened and healed.
func (s *storm) over() bool {
	for _, t := range s.tasks {
		if t.Alive() {
			return false
		}
	}
	return true
}

// join waits until no fault is under way, after its context ended.
func (s *storm) join(ctx context.Context) {
	if s == nil {
		return
	}
	for _, t := range s.tasks {
		_ = t.Join(ctx)
	}
}

func (s *storm) strike(ctx context.Context, number int, one strike, at time.Duration) {
	r := s.run
	if r.Clock.Sleep(ctx, max(at-r.Clock.Now(), 0)) != nil {
		return
	}
	w := r.workers[one.worker]
	if !r.seize(ctx, w) {
		return
	}
	defer w.release()
	if one.random && !s.atWork(ctx) {
		return
	}
	text := one.do + " " + w.name()
	s.task.Fault(history.FaultRequested, number, text)
	heal, err := r.inject(ctx, w, one)
	if errors.Is(err, errEnded) {
		return // it never became active; the checkers see that
	}
	if err != nil {
		r.fail(fmt.Errorf("%s: %w", text, err))
		return
	}
	s.task.Fault(history.FaultActive, number, text)
	if err := heal(); err != nil && ctx.Err() == nil {
		r.fail(fmt.Errorf("heal %s: %w", text, err))
		return
	}
	s.task.Fault(history.FaultHealed, number, text)
	s.seen.Store(int64(r.tally.seen()))
}

// idlePatience bounds how long a random fault waits for a program that does nothing.
const idlePatience = 30 * time.Second

// atWork waits until the program got on since the fault before: one that strikes a program
// that has nothing in its hands shows nothing. It is false when the run is over.
func (s *storm) atWork(ctx context.Context) bool {
	r := s.run
	for until := r.Clock.Now() + idlePatience; r.Clock.Now() < until; {
		if int64(r.tally.seen()) > s.seen.Load() {
			break
		}
		if r.Clock.Sleep(ctx, seizeEvery) != nil {
			return false
		}
	}
	return ctx.Err() == nil
}

// inject makes a fault happen, sees that it did, and returns what heals it.
func (r *run) inject(ctx context.Context, w *worker, one strike) (heal func() error, err error) {
	again := func() error {
		if err := r.Clock.Sleep(ctx, r.plan.RestartAfter); err != nil || r.broken() != nil {
			return err
		}
		return w.start(ctx)
	}
	switch one.do {
	case doKill:
		return again, w.kill(ctx)
	case doStop:
		if !w.leave(ctx) {
			r.note("%s did not leave within %s of being asked and was killed", w.name(), r.plan.Grace)
		}
		return again, nil
	}
	p := w.alive()
	if p == nil {
		return nil, errEnded
	}
	thaw := func() error {
		slept := r.Clock.Sleep(ctx, one.last)
		thawed := w.foreign(context.WithoutCancel(ctx), p.thaw)
		if errors.Is(thawed, errEnded) {
			return slept // it tells of its end itself
		}
		return errors.Join(slept, thawed)
	}
	return thaw, w.foreign(ctx, p.freeze)
}

// seizeEvery is how often a fault looks whether a worker is free.
const seizeEvery = 20 * time.Millisecond

// seize waits until nobody else does something to a worker.
func (r *run) seize(ctx context.Context, w *worker) bool {
	for {
		if w.take() {
			return true
		}
		if r.Clock.Sleep(ctx, seizeEvery) != nil {
			return false
		}
	}
}
