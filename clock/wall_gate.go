// SPDX-License-Identifier: Apache-2.0

package clock

import (
	"context"
	"runtime"
	"sync"
	"sync/atomic"
	"time"
)

// waiter is what one wait needs, kept for the next one.
type waiter struct {
	woken  chan struct{} // holds one: waking never blocks
	timer  *time.Timer
	queued link[waiter]
}

func newWaiter() *waiter {
	p := &waiter{woken: make(chan struct{}, 1), timer: time.NewTimer(time.Hour)}
	p.timer.Stop()
	p.queued.of = p
	return p
}

// Sleep implements Clock.
func (w *Wall) Sleep(ctx context.Context, d time.Duration) error {
	t := w.enter(ctx)
	if err := ctx.Err(); err != nil {
		return err
	}
	if d <= 0 {
		runtime.Gosched()
		t.pass()
		return nil
	}
	err := w.nap(ctx, d)
	t.pass()
	return err
}

func (w *Wall) nap(ctx context.Context, d time.Duration) error {
	p := w.waiters.Get().(*waiter)
	defer w.waiters.Put(p)
	p.timer.Reset(d)
	select {
	case <-p.timer.C:
		return nil
	case <-ctx.Done():
		p.timer.Stop()
		return ctx.Err()
	}
}

// wallGate is a Gate of Wall.
type wallGate struct {
	w       *Wall
	wakes   atomic.Uint64
	mu      sync.Mutex
	waiting list[waiter]
}

// NewGate implements Clock.
func (w *Wall) NewGate(string) Gate { return &wallGate{w: w} }

func (g *wallGate) Ticket() uint64 { return g.wakes.Load() }

func (g *wallGate) Wait(ctx context.Context, ticket uint64) error {
	return g.wait(ctx, ticket, -1)
}

func (g *wallGate) WaitFor(ctx context.Context, ticket uint64, d time.Duration) error {
	return g.wait(ctx, ticket, max(d, 0))
}

func (g *wallGate) Wake() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.wakes.Add(1)
	for n := g.waiting.first; n != nil; n = g.waiting.first {
		g.waiting.remove(n)
		n.of.woken <- struct{}{}
	}
}

// wait waits without end if d is negative.
func (g *wallGate) wait(ctx context.Context, ticket uint64, d time.Duration) error {
	t := g.w.enter(ctx)
	if err := ctx.Err(); err != nil {
		return err
	}
	p := g.w.waiters.Get().(*waiter)
	err := g.waitAs(ctx, p, ticket, d)
	g.w.waiters.Put(p)
	t.pass()
	return err
}

func (g *wallGate) waitAs(ctx context.Context, p *waiter, ticket uint64, d time.Duration) error {
	if !g.join(p, ticket) {
		return nil
	}
	if d >= 0 {
		p.timer.Reset(d)
		defer p.timer.Stop()
	}
	select {
	case <-p.woken:
		return nil
	case <-ctx.Done():
		return g.giveUp(p, ctx.Err())
	case <-p.timer.C:
		return g.giveUp(p, ErrTimeout)
	}
}

// join lets p wait, unless the gate has been woken since ticket.
func (g *wallGate) join(p *waiter, ticket uint64) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.wakes.Load() != ticket {
		return false
	}
	g.waiting.add(&p.queued)
	return true
}

// giveUp ends a wait for another reason, unless a wake came first.
func (g *wallGate) giveUp(p *waiter, why error) error {
	g.mu.Lock()
	defer g.mu.Unlock()
	select {
	case <-p.woken:
		return nil
	default:
		g.waiting.remove(&p.queued)
		return why
	}
}

// WithCancel implements Clock.
func (w *Wall) WithCancel(ctx context.Context) (context.Context, context.CancelCauseFunc) {
	w.enter(ctx)
	return context.WithCancelCause(ctx)
}

// WithTimeout implements Clock.
func (w *Wall) WithTimeout(ctx context.Context, d time.Duration) (context.Context, context.CancelFunc) {
	w.enter(ctx)
	return context.WithTimeout(ctx, d)
}
