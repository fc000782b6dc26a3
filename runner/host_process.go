// SPDX-License-Identifier: Apache-2.0

package runner

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"

	"github.com/seed-720a3c77/harness/clock"
	"github.com/seed-720a3c77/harness/faults"
)

// Spawner starts workers as processes of their own. It is handed in, as engines are.
type Spawner interface {
	// Spawn starts one life of a worker and returns when its process records and waits for
	// Serve. The process does not outlive ctx. It knows no clock.
	Spawn(ctx context.Context, seat Seat) (Process, error)
}

// Seat says which worker a process is.
type Seat struct {
	Group  string
	Number int
	// Life counts the starts of the worker from 1.
	Life int
}

// Name of the worker, with its life: unique in the run.
func (s Seat) Name() string { return fmt.Sprintf("%s.%d", s.Worker(), s.Life) }

// Worker is the worker's own name.
func (s Seat) Worker() string { return fmt.Sprintf("%s/%d", s.Group, s.Number) }

// Process is a worker in a process of its own. Its methods may be called concurrently;
// beside Serve they know no clock.
type Process interface {
	// Serve lets the worker begin and answers it, as a task of the clock, until its process
	// has ended and all that it sent has been taken. The error says how it ended, with its
	// last output; nil is an exit without an error.
	Serve(ctx context.Context, clk clock.Clock, desk Desk) error
	// Leave asks the worker to finish what it holds and leave.
	Leave()
	// Order has the worker do something to a fault of its own port, and returns when it has;
	// see Port.Do. ErrGone: the process has ended.
	Order(ctx context.Context, order Order, fault int) error
	// Freeze and Thaw return when the state of the process was observed.
	Freeze(ctx context.Context) error
	Thaw(ctx context.Context) error
	// Kill ends the process and returns when it has ended. still is called once before
	// that, when no code of it runs any more and all its connections stand yet.
	Kill(ctx context.Context, still func()) error
}

// inProcess tells whether the workers of the group are processes of their own.
func (g *GroupPlan) inProcess() bool { return g.RunIn == "process" }

// processHost is a life in a process of its own, and the run as that life sees it.
type processHost struct {
	*worker
	process Process
	task    clock.Task // answers the process until its end
	holding atomic.Bool
	// asked: its end is no surprise.
	asked atomic.Bool
	// sessions are open; the worker's mu guards them.
	sessions map[string]bool
	dead     atomic.Bool
}

var _ Supervisor = (*processHost)(nil)

var errUnasked = errors.New("the worker ended by itself")

func (w *worker) inProcess(ctx context.Context, number int) error {
	run := w.group.run
	if run.Spawner == nil {
		return errors.New("run-in: process: this run cannot start processes")
	}
	var process Process
	err := run.clock.Foreign(ctx, func() (err error) {
		process, err = run.Spawner.Spawn(w.group.context, Seat{w.group.plan.Group, w.number, number})
		return err
	})
	if err != nil {
		return fmt.Errorf("worker %s: %w", w.name, err)
	}
	h := &processHost{worker: w, process: process, sessions: map[string]bool{}}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.now = h
	h.task = run.clock.Go(w.group.context, w.name, h.mind)
	return nil
}

// mind answers the process. An end that nobody asked for is recorded as the crash it is,
// and fails the run.
func (h *processHost) mind(ctx context.Context) {
	run := h.group.run
	err := h.process.Serve(ctx, run.clock, Desk{Supervisor: h, Store: h.group.store, Progress: run.progress})
	if err == nil && !h.asked.Load() {
		err = errUnasked
	}
	if err != nil && !h.dead.Load() {
		h.crashed()
		run.fail(fmt.Errorf("worker %s: %w", h.name, err))
	}
}

// crashed records what dies with the process, once.
func (h *processHost) crashed() {
	if h.dead.Swap(true) {
		return
	}
	h.mu.Lock()
	open := h.sessions
	h.sessions = map[string]bool{}
	h.mu.Unlock()
	for name := range open {
		h.group.run.task.Vanished(name)
	}
	h.group.run.task.Worker(h.name, true, true)
}

// Holding implements Supervisor.
func (h *processHost) Holding(batch bool) { h.holding.Store(batch) }

// Session implements Supervisor.
func (h *processHost) Session(name string, open bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if open {
		h.sessions[name] = true
		return
	}
	delete(h.sessions, name)
}

func (h *processHost) alive() bool { return h.task.Alive() }
func (h *processHost) busy() bool  { return h.holding.Load() }

// kill records the death while the process stands still: after everything that the worker
// did, and before the broker can see that it is gone and gives its messages to others.
func (h *processHost) kill(ctx context.Context) error {
	h.asked.Store(true)
	err := h.foreign(ctx, func(ctx context.Context) error { return h.process.Kill(ctx, h.crashed) })
	if err != nil {
		return fmt.Errorf("%w: %w", faults.ErrNotActive, err)
	}
	return h.task.Join(ctx)
}

func (h *processHost) freeze(ctx context.Context) error {
	if err := h.foreign(ctx, h.process.Freeze); err != nil {
		return fmt.Errorf("%w: %w", faults.ErrNotActive, err)
	}
	return nil
}

func (h *processHost) thaw(ctx context.Context) error { return h.foreign(ctx, h.process.Thaw) }

func (h *processHost) foreign(ctx context.Context, do func(context.Context) error) error {
	return foreign(ctx, h.group.run.clock, func() error { return do(ctx) })
}

func (h *processHost) quit() {
	h.asked.Store(true)
	h.process.Leave()
}

func (h *processHost) join(ctx context.Context) error { return h.task.Join(ctx) }

// endProcesses kills the processes that are left, on every way out of a run.
func (r *run) endProcesses(ctx context.Context) {
	for _, g := range r.groups {
		for _, w := range g.all() {
			if h, ok := w.current().(*processHost); ok && h.alive() {
				_ = h.kill(ctx) // what still lives then is the watchdog's
			}
		}
	}
}
