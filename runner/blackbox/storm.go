// SPDX-License-Identifier: Apache-2.0

package blackbox

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync/atomic"
	"time"

	"github.com/seed-720a3c77/harness/clock"
	"github.com/seed-720a3c77/harness/contract"
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
	g := s.seize(ctx, number, one)
	if g == nil {
		return
	}
	defer g.release()
	text := one.do + " " + g.target(one)
	s.task.ProgramFault(number, text, g.hand.measured, g.hand.held, g.hand.waiting)
	if one.crashes() {
		r.Say(fmt.Sprintf("%6s  %s: %s", r.Clock.Now().Round(100*time.Millisecond), text, g.hand))
		r.shelf.orphan(r.Clock.Now() + r.plan.held)
	}
	heal, err := r.inject(ctx, g.struck, one)
	g.spare(ctx)
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

// through is how many messages the program is through with.
func (r *run) through() int {
	_, through := r.tally.seen()
	if d := r.latest.Load(); d != nil && r.plan.Profile.Model == contract.Log {
		through = max(through, int(d.Committed-max(d.Start, 0))) // of those that it drops there is no effect
	}
	return through
}

// idlePatience bounds how long a random fault waits when nothing is left to work on.
const idlePatience = 10 * time.Second

// stillness tells when nothing has got on for a while, after the load.
type stillness struct {
	run     *run
	through int
	since   time.Duration
}

func (x *stillness) tooLong() bool {
	r := x.run
	if now := r.through(); now != x.through || r.published() < r.plan.Messages {
		x.through, x.since = now, r.Clock.Now()
	}
	patience := r.plan.Patience
	if d := r.latest.Load(); d != nil && r.remaining(*d) == 0 {
		patience = min(patience, idlePatience)
	}
	return r.Clock.Now()-x.since > patience
}

// due waits until it is time for a fault. It is false when the run is over, or stopped: then
// no fault begins any more.
func (s *storm) due(ctx context.Context, one strike, began time.Duration) bool {
	r := s.run
	idle := stillness{run: r, since: began}
	for ticket := r.acks.Ticket(); !r.isTime(one, began, &idle); ticket = r.acks.Ticket() {
		_ = r.acks.WaitFor(ctx, ticket, seizeEvery)
		if ctx.Err() != nil || r.stopped() {
			return false
		}
	}
	return true
}

func (r *run) isTime(one strike, began time.Duration, idle *stillness) bool {
	if !one.random {
		return r.Clock.Now() >= began+one.at
	}
	return r.progress() >= one.after || idle.tooLong()
}

// progress is what random faults wait for.
func (r *run) progress() int {
	if r.plan.Look == 0 && r.plan.Profile.Model != contract.Log {
		return int(r.acked.Load()) // the effects show in the end only
	}
	return r.through()
}

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

// seizeEvery is how often a fault looks whether a worker is free.
const seizeEvery = 20 * time.Millisecond

// seize waits until nobody else does something to the workers and, for a random fault,
// until the program is at work and they can be hit. What crashes the program comes while
// that stands still. It is nil when the run is over or stopped.
func (s *storm) seize(ctx context.Context, number int, one strike) *grip {
	r := s.run
	draw := rand.New(rand.NewPCG(r.plan.Seed, uint64(number)))
	idle := stillness{run: r, since: r.Clock.Now()}
	acked, trial := true, 0
	for ticket := r.acks.Ticket(); ; ticket = r.acks.Ticket() {
		tired := !one.random || idle.tooLong()
		if tired || s.atWork(acked) && r.canHit(one) {
			if g := r.grasp(one); g != nil {
				if g.tryOut(ctx, one, trial, tired) {
					return g
				}
				trial++
				_ = r.Clock.Sleep(ctx, time.Duration(draw.Int64N(int64(2*seizeEvery)))) // an instant that nothing else decides
			}
		}
		err := r.acks.WaitFor(ctx, ticket, seizeEvery)
		if ctx.Err() != nil || r.stopped() {
			return nil
		}
		acked = err == nil
	}
}
