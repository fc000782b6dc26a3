// SPDX-License-Identifier: Apache-2.0

package runner

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/seed-720a3c77/harness/faults"
)

// worker is one consumer of a group, through any number of lives. It is a faults.Process.
type worker struct {
	group *group
	name  string
	// number is its place in the group.
	number int

	mu  sync.Mutex // guards what follows and a life's sessions; never held across a wait
	now host
	// lives counts them; a client id is never used twice.
	lives int
}

var _ faults.Process = (*worker)(nil)

// host is where a worker lives from one start to its end: a task of the harness, or a
// process of its own.
type host interface {
	alive() bool
	// busy: between a receive and the last settle of its batch.
	busy() bool
	// kill ends it without a word to anybody and records that.
	kill(ctx context.Context) error
	freeze(ctx context.Context) error
	thaw(ctx context.Context) error
	// quit asks it to finish what it holds and leave.
	quit()
	// join waits until it has ended.
	join(ctx context.Context) error
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
	begin := w.inTask
	if w.group.plan.inProcess() {
		begin = w.inProcess
	}
	return begin(ctx, number)
}

func (w *worker) current() host {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.now
}

// Alive tells whether a life goes on.
func (w *worker) Alive() bool {
	h := w.current()
	return h != nil && h.alive()
}

// living is the life that goes on.
func (w *worker) living() (host, error) {
	if h := w.current(); h != nil && h.alive() {
		return h, nil
	}
	return nil, fmt.Errorf("%w: %s is not running", faults.ErrNoTarget, w.name)
}

// Kill ends it without a word to anybody.
func (w *worker) Kill(ctx context.Context) error {
	h, err := w.living()
	if err != nil {
		return err
	}
	return h.kill(ctx)
}

// Freeze holds the worker where it stands.
func (w *worker) Freeze(ctx context.Context) error {
	h, err := w.living()
	if err != nil {
		return err
	}
	return h.freeze(ctx)
}

// Thaw lets it go on; the dead stay dead.
func (w *worker) Thaw(ctx context.Context) error {
	h := w.current()
	if h == nil || !h.alive() {
		return nil
	}
	return h.thaw(ctx)
}

// Stop asks it to leave and waits.
func (w *worker) Stop(ctx context.Context) error { return w.leave(ctx) }

// leavePatience bounds a polite leave beyond what the work takes.
const leavePatience = 30 * time.Second

func (w *worker) leave(ctx context.Context) error {
	h := w.current()
	if h == nil || !h.alive() {
		return nil
	}
	h.quit()
	limited, cancel := w.group.run.clock.WithTimeout(ctx, w.group.plan.Takes+leavePatience)
	defer cancel()
	if err := h.join(limited); err != nil {
		_ = w.Kill(ctx)
		return fmt.Errorf("did not leave in time: %w", err)
	}
	return nil
}
