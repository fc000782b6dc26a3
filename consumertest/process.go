// SPDX-License-Identifier: Apache-2.0

package consumertest

import (
	"context"
	"runtime"
	"slices"
	"sync"
	"time"
)

// process is one life of a worker: one instance of the user's handler. When it has
// crashed, nothing that it does outside has an effect any more.
type process struct {
	scene *scene
	name  string // of its worker
	life  int

	handle BatchHandler
	// gone is closed by the crash.
	gone chan struct{}

	mu      sync.Mutex // never held across a wait
	dead    bool
	calls   []*call // under way
	onCrash []func()
	// refusals are operations after the end.
	refusals int
}

// crash ends the process between two instructions of its code.
func (p *process) crash() {
	p.mu.Lock()
	first, cleanup := !p.dead, p.onCrash
	p.dead, p.onCrash = true, nil
	p.mu.Unlock()
	if !first {
		return
	}
	close(p.gone)
	for _, fn := range cleanup {
		fn()
	}
}

// whenCrashed calls fn at the crash, at once if that was.
func (p *process) whenCrashed(fn func()) {
	p.mu.Lock()
	dead := p.dead
	if !dead {
		p.onCrash = append(p.onCrash, fn)
	}
	p.mu.Unlock()
	if dead {
		fn()
	}
}

func (p *process) isDead() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.dead
}

// begin and end keep the list of calls under way.
func (p *process) begin(c *call) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.calls = append(p.calls, c)
}

func (p *process) end(c *call) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.calls = slices.DeleteFunc(p.calls, func(other *call) bool { return other == c })
}

// open are the calls under way, none in a process that has died.
func (p *process) open() []*call {
	if p.isDead() {
		return nil
	}
	return p.unended()
}

// unended are the calls that have not returned, even if the process has died under them.
func (p *process) unended() []*call {
	p.mu.Lock()
	defer p.mu.Unlock()
	return slices.Clone(p.calls)
}

func (p *process) underWay() int { return len(p.open()) }

// callOf is the call that a context belongs to. Code that dropped the context is taken
// for that of the only call under way.
func (p *process) callOf(ctx context.Context) *call {
	if c, ok := ctx.Value(callKey{}).(*call); ok {
		return c
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.calls) == 1 {
		return p.calls[0]
	}
	return nil
}

// operation is one step that a handler makes outside.
type operation struct {
	text string
	kind opKind
	// yielding: it must not outwait its context, because others wait for it under a mutex.
	yielding bool
	// also is another context that ends it, nil for none.
	also context.Context
}

// until is the context that ends it beside its own.
func (op *operation) until() context.Context {
	if op.also != nil {
		return op.also
	}
	return context.Background()
}

// operate runs an operation between its two yield points. The error is that of the
// operation, the context's, or ErrInjected.
func (p *process) operate(ctx context.Context, op *operation, apply func() error) error {
	c := p.callOf(ctx)
	if err := p.visit(ctx, c, op, before); err != nil {
		return err
	}
	err := apply()
	if err == nil {
		p.note(c, op)
	}
	if lost := p.visit(ctx, c, op, after); lost != nil {
		return firstOf(err, lost)
	}
	return err
}

func firstOf(errs ...error) error {
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}

// visit is a yield point, which the code of a dead process does not pass.
func (p *process) visit(ctx context.Context, c *call, op *operation, s side) error {
	if err := p.refuse(op); err != nil {
		return err
	}
	if err := c.visit(ctx, op, s); err != nil {
		return err
	}
	return p.refuse(op)
}

func (p *process) note(c *call, op *operation) {
	e := entry{who: p.name, event: -1, kind: op.kind}
	switch {
	case c != nil:
		e.event, e.call = c.batch[0].event, c.number
	case p.life == 0:
		return // preparation or observation
	default:
		p.scene.strayed()
	}
	p.scene.trace.add(e, "%s", op.text)
}

// mostRefusals of one process come back as errors, so that what waits for its goroutines
// can end. Then somebody tries for ever.
const mostRefusals = 20

// refuse does not return to code of a process that has crashed before the scenario is
// judged. Then it ends, without an effect. Only an operation that others wait for under a
// mutex comes back at once.
func (p *process) refuse(op *operation) error {
	switch {
	case !p.isDead():
		return nil
	case op.yielding:
		return errCrashed
	}
	<-p.scene.over
	if p.countRefusal() > mostRefusals {
		runtime.Goexit()
	}
	return errCrashed
}

func (p *process) countRefusal() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.refusals++
	return p.refusals
}

// rest lets the calling goroutine stand for d, or until one of the contexts ends or its
// process dies.
func (p *process) rest(ctx, also context.Context, d time.Duration) {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-ctx.Done():
	case <-also.Done():
	case <-p.gone:
	case <-p.scene.over:
	}
}
