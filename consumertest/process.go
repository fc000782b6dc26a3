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
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.dead {
		return nil
	}
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
}

// operate runs an operation between its two yield points. The error is that of the
// operation, the context's, or ErrInjected.
func (p *process) operate(ctx context.Context, op *operation, apply func() error) error {
	p.dieIfDead()
	c := p.callOf(ctx)
	if err := c.visit(ctx, op, before); err != nil {
		return err
	}
	p.dieIfDead()
	err := apply()
	if err == nil {
		p.note(c, op)
	}
	if lost := c.visit(ctx, op, after); lost != nil && err == nil {
		err = lost
	}
	p.dieIfDead()
	return err
}

func (p *process) note(c *call, op *operation) {
	e := entry{who: p.name, event: -1, kind: op.kind}
	if c != nil {
		e.event, e.call = c.batch[0].event, c.number
	}
	p.scene.trace.add(e, "%s", op.text)
}

// dieIfDead does not return to code of a process that has crashed. The goroutine is kept
// until the scenario is judged, then its deferred calls run, with no effect.
func (p *process) dieIfDead() {
	if p.isDead() {
		<-p.scene.over
		runtime.Goexit()
	}
}

// rest lets the calling goroutine stand for d, or until its process dies.
func (p *process) rest(d time.Duration, done <-chan struct{}) {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-done:
	case <-p.gone:
	case <-p.scene.over:
	}
}
