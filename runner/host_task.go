// SPDX-License-Identifier: Apache-2.0

package runner

import (
	"context"
	"sync/atomic"

	"github.com/seed-720a3c77/harness/clock"
)

// taskHost is a life that is a task of the harness, and the supervisor of that life.
type taskHost struct {
	*life
	task    clock.Task
	holding atomic.Bool
}

var _ Supervisor = (*taskHost)(nil)

func (w *worker) inTask(_ context.Context, number int) error {
	h := new(taskHost)
	l, err := w.life(number, h, new(atomic.Bool))
	if err != nil {
		return err
	}
	h.life = l
	w.mu.Lock()
	defer w.mu.Unlock()
	w.now = h
	h.task = w.group.run.clock.Go(w.group.context, w.name, l.run)
	return nil
}

// Holding implements Supervisor.
func (h *taskHost) Holding(batch bool) { h.holding.Store(batch) }

// Session implements Supervisor: a task's sessions are abandoned, and recorded, by kill.
func (h *taskHost) Session(string, bool) {}

func (h *taskHost) alive() bool { return h.task.Alive() }
func (h *taskHost) busy() bool  { return h.holding.Load() }

// kill cuts the engine's side first, so that a wake promised to the dead goes to another.
func (h *taskHost) kill(context.Context) error {
	h.mu.Lock()
	consumer, producer := h.consumer, h.producer
	h.mu.Unlock()
	if consumer != nil {
		consumer.Abandon()
	}
	if producer != nil {
		producer.Abandon()
	}
	h.task.Kill()
	h.record.Worker(h.name, true, true)
	return nil
}

func (h *taskHost) freeze(context.Context) error {
	h.task.Freeze()
	return nil
}

func (h *taskHost) thaw(context.Context) error {
	h.task.Thaw()
	return nil
}

func (h *taskHost) quit() { h.leaving.Store(true) }

func (h *taskHost) join(ctx context.Context) error { return h.task.Join(ctx) }
