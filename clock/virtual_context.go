// SPDX-License-Identifier: Apache-2.0

package clock

import (
	"context"
	"sync"
	"time"
)

// virtualContext is a context whose end is an event of the clock: cancelling it takes
// effect in its descendants and wakes its waiting tasks before cancel returns, without a
// goroutine. Only foreign calls see it from other goroutines; mu is for them.
type virtualContext struct {
	v      *Virtual
	up     *virtualContext
	values context.Context // where Value looks further; nil at the root
	task   *virtualTask

	deadline time.Duration
	limited  bool
	ev       event // the deadline

	waiting  list[virtualTask]
	children list[virtualContext]
	kin      link[virtualContext]

	mu    sync.Mutex
	err   error
	cause error
	std   context.Context // made when somebody asks for Done
	end   context.CancelCauseFunc
}

func (c *virtualContext) init(v *Virtual, task *virtualTask) {
	c.v, c.task, c.kin.of, c.ev.act = v, task, c, c
}

// derive puts c under up, with the values of ctx.
func (c *virtualContext) derive(ctx context.Context, up *virtualContext) {
	c.up, c.values = up, ctx
	c.deadline, c.limited = up.deadline, up.limited
	c.err, c.cause = up.err, up.cause
	if up.err == nil {
		up.children.add(&c.kin)
	}
}

func (v *Virtual) derived(ctx context.Context) *virtualContext {
	up, c := v.enter(ctx), new(virtualContext)
	c.init(v, up.task)
	c.derive(ctx, up)
	return c
}

// WithCancel implements Clock.
func (v *Virtual) WithCancel(ctx context.Context) (context.Context, context.CancelCauseFunc) {
	c := v.derived(ctx)
	return c, c.cancelCause
}

// WithTimeout implements Clock.
func (v *Virtual) WithTimeout(ctx context.Context, d time.Duration) (context.Context, context.CancelFunc) {
	c := v.derived(ctx)
	if at := v.after(d); c.err == nil && (!c.limited || at < c.deadline) {
		c.deadline, c.limited = at, true
		v.schedule(at, &c.ev)
	}
	return c, func() { c.cancelCause(nil) }
}

// owned: a deadline is the engine's event. It passes while the task is frozen.
func (c *virtualContext) owned() *virtualTask { return nil }

func (c *virtualContext) due() { c.cancel(context.DeadlineExceeded, nil) }

func (c *virtualContext) cancelCause(cause error) { c.cancel(context.Canceled, cause) }

// cancel ends c and its descendants, and the waits under them.
func (c *virtualContext) cancel(err, cause error) {
	if c.err != nil {
		return
	}
	if cause == nil {
		cause = err
	}
	c.mark(err, cause)
	if c.up != nil {
		c.up.children.remove(&c.kin)
	}
	c.v.agenda.remove(&c.ev)
	for n := c.children.first; n != nil; n = c.children.first {
		n.of.cancel(err, cause)
	}
	for n := c.waiting.first; n != nil; n = c.waiting.first {
		n.of.rouse(err)
	}
}

func (c *virtualContext) mark(err, cause error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.err, c.cause = err, cause
	if c.end != nil {
		c.end(cause)
	}
}

// Err implements context.Context.
func (c *virtualContext) Err() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.err
}

// Deadline implements context.Context, in virtual time.
func (c *virtualContext) Deadline() (time.Time, bool) {
	if !c.limited {
		return time.Time{}, false
	}
	return c.v.epoch.Add(c.deadline), true
}

// Done implements context.Context.
func (c *virtualContext) Done() <-chan struct{} { return c.standard().Done() }

// standard is a context of package context that ends with c. Contexts that package
// context derives from c attach to it and so end before cancel returns, too.
func (c *virtualContext) standard() context.Context {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.std == nil {
		c.std, c.end = context.WithCancelCause(context.Background())
		if c.err != nil {
			c.end(c.cause)
		}
	}
	return c.std
}

// ownKey is the key under which a virtualContext finds itself.
type ownKey struct{}

// Value implements context.Context.
func (c *virtualContext) Value(key any) any {
	switch {
	case key == ownKey{}:
		return c
	case key == standardKey:
		return c.standard().Value(key)
	case c.values != nil:
		return c.values.Value(key)
	}
	return nil
}

// standardKey is the private key by which package context looks for the context it can
// attach a child to, and for the cause of an end. Asked for that of the probe, it tells.
var standardKey = func() any {
	p := &probe{Context: context.Background()}
	_ = context.Cause(p)
	return p.key
}()

type probe struct {
	context.Context
	key any
}

func (p *probe) Err() error { return context.Canceled }

func (p *probe) Value(key any) any {
	p.key = key
	return nil
}

// virtualContextOf finds the clock's context under ctx, nil if there is none.
func virtualContextOf(ctx context.Context) *virtualContext {
	if c, ok := ctx.(*virtualContext); ok {
		return c
	}
	if ctx == nil {
		return nil
	}
	c, _ := ctx.Value(ownKey{}).(*virtualContext)
	return c
}

// enter begins every call that may wait or derive: it does not return to the dead, and
// refuses contexts whose end the clock would not see.
func (v *Virtual) enter(ctx context.Context) *virtualContext {
	if c, ok := ctx.(*virtualContext); ok && c.v == v && !v.closing {
		return c
	}
	return v.enterUnder(ctx)
}

// enterUnder is enter where something lies between the clock's context and the caller's.
func (v *Virtual) enterUnder(ctx context.Context) *virtualContext {
	v.alive()
	c := virtualContextOf(ctx)
	if c == nil || c.v != v {
		panic(foreignContext)
	}
	if ctx.Done() != c.Done() {
		panic(derivedContext)
	}
	return c
}

// Check implements Clock.
func (v *Virtual) Check(ctx context.Context) {
	v.alive()
	if v.kills == 0 {
		return
	}
	v.leaveIfDead()
	if c := virtualContextOf(ctx); c != nil && c.task.isDead() {
		panic("clock: the context of the dead task " + c.task.name + " is used by other code")
	}
}

// mayWait begins every call that waits: it is enter, and tells whose wait it is.
func (v *Virtual) mayWait(ctx context.Context, call string) (*virtualContext, *virtualTask) {
	c := v.enter(ctx)
	if v.current == nil {
		panic("clock: " + call + " outside of a task: a callback may not wait")
	}
	return c, v.current
}
