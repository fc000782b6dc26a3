// SPDX-License-Identifier: Apache-2.0

package runner

import (
	"context"

	"github.com/seed-720a3c77/harness/broker"
	"github.com/seed-720a3c77/harness/effects"
	"github.com/seed-720a3c77/harness/msg"
)

// Supervisor is the run as a worker sees it. A worker in a process of its own has it at
// the other end of a pipe. Its methods may be called concurrently.
type Supervisor interface {
	// Reach tells that the worker is at a point of its work; it returns when the timeline
	// lets the worker go on.
	Reach(ctx context.Context, point string, n int, id msg.ID)
	// Failures adds failed attempts to those that the whole group had with a message, and
	// returns the sum.
	Failures(ctx context.Context, id msg.ID, more int) int
	// Holding tells that the worker has received a batch, before it does anything with it,
	// or that the last of it is settled.
	Holding(batch bool)
	// Session tells of a consumer's session by its name in the history.
	Session(name string, open bool)
	// Notice tells what a session told by itself. It must not wait.
	Notice(n broker.Notice)
}

// Desk is all that a worker in a process of its own needs of the run.
type Desk struct {
	Supervisor
	// Store is where its effects land: outside of the worker.
	Store effects.Store
	// Progress is what its counts are added to.
	Progress *Progress
}

// Reach implements Supervisor.
func (w *worker) Reach(ctx context.Context, point string, n int, id msg.ID) {
	w.group.run.timeline.reach(ctx, w.name, point, n, id)
}

// Notice implements Supervisor.
func (w *worker) Notice(n broker.Notice) { w.group.heard(w.name, n) }

// Failures implements Supervisor.
func (w *worker) Failures(_ context.Context, id msg.ID, more int) int {
	g := w.group
	g.mu.Lock()
	defer g.mu.Unlock()
	if more > 0 {
		g.failures[id] += more
	}
	return g.failures[id]
}
