// SPDX-License-Identifier: Apache-2.0

package runner

import (
	"context"
	"fmt"
	"sync/atomic"

	"github.com/seed-720a3c77/harness/broker"
	"github.com/seed-720a3c77/harness/clock"
	"github.com/seed-720a3c77/harness/history"
	"github.com/seed-720a3c77/harness/msg"
)

// Work is what a worker in a process of its own needs for one life. The clock shares its
// instant zero with that of the run, the recording is attached to the run's.
type Work struct {
	Plan      *Plan
	Seat      Seat
	Engine    broker.Engine
	Clock     clock.Clock
	Recording *history.Recording
	// Desk is the run's, over the pipe; its Progress counts this worker alone.
	Desk Desk
	// Leaving, once true, asks the worker to finish what it holds and leave.
	Leaving *atomic.Bool
	// Port is where request faults strike; nil where none can.
	Port *Port
}

// Run lives until the worker is to leave. It is called inside the clock's Run. The error
// says that the harness failed.
func (w Work) Run(ctx context.Context) error {
	engine := w.Engine
	if w.Port != nil {
		engine = w.Port.requests
	}
	r := newRun(Config{Plan: w.Plan, Engine: engine, Clock: w.Clock, Recording: w.Recording, Progress: w.Desk.Progress})
	for i := range w.Plan.Groups {
		plan := &w.Plan.Groups[i]
		if plan.Group != w.Seat.Group {
			continue
		}
		g := &group{run: r, plan: plan, store: w.Desk.Store, scripts: scripts(plan), workers: map[int]*worker{}, failures: map[msg.ID]int{}, context: ctx}
		l, err := g.worker(w.Seat.Number).life(w.Seat.Life, w.Desk, w.Leaving)
		if err != nil {
			return err
		}
		l.run(ctx)
		return w.Recording.Err()
	}
	return fmt.Errorf("the plan has no group %q", w.Seat.Group)
}
