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
	"github.com/seed-720a3c77/harness/runner/spawn"
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
		s.tasks = append(s.tasks, r.Clock.Go(ctx, one.do, func(ctx context.Context) {
			if s.due(ctx, one, began) {
				s.strike(ctx, i+1, one)
			}
		}))
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

func (s *storm) strike(ctx context.Context, number int, one strike) {
	r := s.run
	w := r.workers[one.worker]
	if !s.seize(ctx, w, one) {
		return
	}
	defer w.release()
	text := one.do + " " + w.name()
	s.task.Fault(history.FaultRequested, number, text)
	heal, err := r.inject(ctx, w, one)
	if errors.Is(err, spawn.ErrEnded) {
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
	seen, _ := r.tally.seen()
	s.seen.Store(int64(seen))
}

// due waits until it is time for a fault. It is false when the run is over.
func (s *storm) due(ctx context.Context, one strike, began time.Duration) bool {
	r := s.run
	if !one.random {
		return r.Clock.Sleep(ctx, max(began+one.at-r.Clock.Now(), 0)) == nil
	}
	for ticket := r.acks.Ticket(); int(r.acked.Load()) < one.after; ticket = r.acks.Ticket() {
		if r.Clock.Now() > began+idlePatience && r.published() == r.plan.Messages {
			break // the broker took too little of the load
		}
		if err := r.acks.WaitFor(ctx, ticket, seizeEvery); err != nil && ctx.Err() != nil {
			return false
		}
	}
	return true
}

// idlePatience bounds how long a random fault waits for work, beyond the load.
const idlePatience = 10 * time.Second

// atWork tells whether the program got on since the fault before, and has a message to
// work on: one that was acked just now, or one that the broker still counted.
func (s *storm) atWork(acked bool) bool {
	r := s.run
	seen, distinct := r.tally.seen()
	if d := r.latest.Load(); d != nil && r.remaining(*d) > 0 {
		acked = true
	}
	return acked && int64(seen) > s.seen.Load() && r.acked.Load() > int64(distinct)
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
	case doLose:
		return r.loseAnswers(ctx, w, one)
	}
	p := w.alive()
	if p == nil {
		return nil, spawn.ErrEnded
	}
	thaw := func() error {
		slept := r.Clock.Sleep(ctx, one.last)
		thawed := w.foreign(context.WithoutCancel(ctx), p.Thaw)
		if errors.Is(thawed, spawn.ErrEnded) {
			return slept // it tells of its end itself
		}
		return errors.Join(slept, thawed)
	}
	return thaw, w.foreign(ctx, p.Freeze)
}

// loseAnswers drops what the broker sends to a worker.
func (r *run) loseAnswers(ctx context.Context, w *worker, one strike) (heal func() error, err error) {
	link, err := r.Links(w.number)
	if err != nil {
		return nil, err
	}
	if !r.canHit(w, one) {
		return nil, spawn.ErrEnded
	}
	repair, err := link.Drop(ctx, "down")
	if err != nil {
		return nil, err
	}
	return func() error {
		slept := r.Clock.Sleep(ctx, one.last)
		return errors.Join(slept, repair(context.WithoutCancel(ctx)))
	}, nil
}

// canHit tells whether there is a process to strike, and an answer that it could miss.
func (r *run) canHit(w *worker, one strike) bool {
	if one.do != doLose {
		return w.alive() != nil
	}
	link, err := r.Links(w.number)
	return w.alive() != nil && (err != nil || link.Open() > 0)
}

// seizeEvery is how often a fault looks whether a worker is free.
const seizeEvery = 20 * time.Millisecond

// seize waits until nobody else does something to a worker and, for a random fault, until
// the program is at work and the worker can be hit. It is false when the run is over.
func (s *storm) seize(ctx context.Context, w *worker, one strike) bool {
	r := s.run
	var idle time.Duration
	acked := true
	for ticket := r.acks.Ticket(); ; ticket = r.acks.Ticket() {
		if (!one.random || s.atWork(acked) && r.canHit(w, one) || idle > idlePatience) && w.take() {
			return true
		}
		began := r.Clock.Now()
		err := r.acks.WaitFor(ctx, ticket, seizeEvery)
		if ctx.Err() != nil {
			return false
		}
		acked = err == nil
		if r.published() == r.plan.Messages {
			idle += r.Clock.Now() - began
		}
	}
}
