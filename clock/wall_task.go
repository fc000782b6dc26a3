// SPDX-License-Identifier: Apache-2.0

package clock

import (
	"context"
	"runtime"
	"sync/atomic"
)

// wallTask is a Task of Wall. Whether it is dead or frozen is asked upwards: marking one
// task is marking all that it started.
type wallTask struct {
	w      *Wall
	name   string
	parent *wallTask
	ctx    context.Context
	cancel context.CancelCauseFunc
	mail   wallMailbox
	over   chan struct{}

	killed   atomic.Bool
	frozen   atomic.Bool
	returned atomic.Bool
}

// wallContext is the context of a task. Those derived from it find the task by Value.
type wallContext struct {
	context.Context
	task *wallTask
}

// Value implements context.Context.
func (c *wallContext) Value(key any) any {
	if key == (ownKey{}) {
		return c.task
	}
	return c.Context.Value(key)
}

func (w *Wall) newTask(ctx context.Context, parent *wallTask, name string) *wallTask {
	t := &wallTask{w: w, name: name, parent: parent, over: make(chan struct{})}
	under, cancel := context.WithCancelCause(ctx)
	t.ctx, t.cancel = &wallContext{under, t}, cancel
	t.mail.w, t.mail.owner = w, t
	return t
}

// Go implements Clock.
func (w *Wall) Go(ctx context.Context, name string, fn func(context.Context)) Task {
	t := w.newTask(ctx, w.enter(ctx), name)
	w.start(t, fn)
	return t
}

func (w *Wall) start(t *wallTask, fn func(context.Context)) {
	w.spawn(func() {
		defer t.end()
		t.pass()
		fn(t.ctx)
		t.returned.Store(true)
	})
}

// end is deferred by the task's goroutine, so that it sees every way out.
func (t *wallTask) end() {
	p := recover()
	clean := t.returned.Swap(true)
	switch {
	case p != nil:
		t.w.end(t, newPanicError(t.label(), p))
	case !clean:
		t.w.end(t, errGoexit)
	}
	t.cancel(nil)
	close(t.over)
}

func (t *wallTask) Name() string { return t.name }
func (t *wallTask) Alive() bool  { return !t.returned.Load() && !t.isDead() }

// label is the name, for people; nil is the engine.
func (t *wallTask) label() string {
	if t == nil {
		return engineName
	}
	return t.name
}

// Kill implements Task. The context is cancelled to end waits, in and outside of the clock.
func (t *wallTask) Kill() {
	if t.killed.Swap(true) {
		return
	}
	t.cancel(ErrKilled)
	t.w.broadcast()
}

// Freeze implements Task.
func (t *wallTask) Freeze() { t.frozen.Store(true) }

// Thaw implements Task.
func (t *wallTask) Thaw() {
	t.frozen.Store(false)
	t.w.broadcast()
}

// Join implements Task.
func (t *wallTask) Join(ctx context.Context) error {
	self := t.w.enter(ctx)
	if err := ctx.Err(); err != nil {
		return err
	}
	select {
	case <-t.over:
	case <-ctx.Done():
		self.pass()
		return ctx.Err()
	}
	self.pass()
	return nil
}

func (t *wallTask) isDead() bool {
	for ; t != nil; t = t.parent {
		if t.killed.Load() {
			return true
		}
	}
	return false
}

func (t *wallTask) isFrozen() bool {
	for ; t != nil; t = t.parent {
		if t.frozen.Load() {
			return true
		}
	}
	return false
}

// pass returns if the task may go on: at once, or after a thaw. A dead task's goroutine
// ends here.
func (t *wallTask) pass() {
	for !t.isDead() {
		if !t.isFrozen() {
			return
		}
		change := t.w.nextChange()
		if t.isFrozen() && !t.isDead() {
			<-change
		}
	}
	runtime.Goexit()
}

// wallTaskOf finds the task of a context, nil if it has none.
func wallTaskOf(ctx context.Context) *wallTask {
	if c, ok := ctx.(*wallContext); ok {
		return c.task
	}
	if ctx == nil {
		return nil
	}
	t, _ := ctx.Value(ownKey{}).(*wallTask)
	return t
}

// enter begins every call that may wait or derive.
func (w *Wall) enter(ctx context.Context) *wallTask {
	t := wallTaskOf(ctx)
	if t == nil {
		panic(foreignContext)
	}
	t.pass()
	return t
}

// Foreign implements Clock.
func (w *Wall) Foreign(ctx context.Context, fn func() error) error {
	t := w.enter(ctx)
	if err := ctx.Err(); err != nil {
		return err
	}
	err := fn()
	t.pass()
	return err
}

// Check implements Clock.
func (w *Wall) Check(ctx context.Context) { wallTaskOf(ctx).pass() }
