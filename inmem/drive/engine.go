// SPDX-License-Identifier: Apache-2.0

package drive

import (
	"context"
	"fmt"
	"maps"
	"math/rand/v2"
	"sync"
	"time"

	"github.com/seed-720a3c77/harness/broker"
	"github.com/seed-720a3c77/harness/clock"
	"github.com/seed-720a3c77/harness/contract"
	"github.com/seed-720a3c77/harness/inmem"
)

// Engine is a broker in memory behind the port. Its methods may be called concurrently,
// from tasks of its clock.
type Engine struct {
	clk     clock.Clock
	profile contract.Profile
	opts    Options
	// broken is why there is no machine.
	broken error

	mu        sync.Mutex
	machine   *inmem.Machine
	timer     clock.Timer
	armed     time.Duration
	outs      []inmem.Out
	consumers []*consumer // by session
	producers []*producer
	breaks    []*breakage
	closed    bool
}

var _ broker.Engine = (*Engine)(nil)

// New makes an engine that behaves as a profile says. A profile that makes no sense, or
// an unknown bug, is the error of the first operation.
func New(clk clock.Clock, profile contract.Profile, opts Options) *Engine {
	e := &Engine{clk: clk, profile: profile, opts: opts}
	of := inmem.Options{Oracle: opts.Oracle, Bugs: opts.Bugs, Sweep: opts.Sweep}
	of.Pace = inmem.Pace{
		Release: e.drawing("release", opts.Release), Rebalance: e.drawing("rebalance", opts.Rebalance),
		Answer: e.drawing("answer", opts.Answer), Claim: e.drawing("claim", opts.Claim), Added: e.drawing("added", opts.Added),
	}
	of.Pick = clk.Rand("inmem pick").IntN
	e.machine, e.broken = inmem.New(profile, of)
	return e
}

// drawing is nil for what takes no time.
func (e *Engine) drawing(what string, l Latency) func() time.Duration {
	dice := e.stream("group", what, l)
	if dice == nil {
		return nil
	}
	return func() time.Duration { return l.draw(dice) }
}

// Profile implements broker.Engine.
func (e *Engine) Profile() contract.Profile { return e.profile }

// Settings implements broker.Engine: the knobs, the latencies and what is planted.
func (e *Engine) Settings() map[string]string {
	s := maps.Clone(e.profile.Knobs)
	if s == nil {
		s = map[string]string{}
	}
	for name, l := range map[string]Latency{"publish": e.opts.Publish, "receive": e.opts.Receive, "settle": e.opts.Settle} {
		s["latency-"+name] = fmt.Sprintf("%v..%v", l.Base, l.Base+l.Jitter)
	}
	for _, b := range e.opts.Bugs {
		s["planted-"+string(b.Name)] = fmt.Sprintf("every %d, limit %d, ids %v", b.Every, b.Limit, b.IDs)
	}
	return s
}

// enter is the first line of every operation: it does not return to a dead task, and
// locks. The lock is never held across a wait.
func (e *Engine) enter(ctx context.Context) error {
	if e.broken != nil {
		return e.broken
	}
	e.clk.Check(ctx)
	e.mu.Lock()
	if e.closed {
		e.mu.Unlock()
		return broker.ErrClosed
	}
	return nil
}

// leave acts on what the machine has to say, and unlocks.
func (e *Engine) leave() {
	defer e.mu.Unlock()
	e.outs = e.machine.Drain(e.outs[:0])
	for _, out := range e.outs {
		if c := e.consumers[out.Session]; c != nil {
			c.hear(out)
		}
	}
	e.rearm()
}

// rearm keeps one timer at the machine's next deadline, or before it.
func (e *Engine) rearm() {
	next, any := e.machine.Next()
	if !any || e.timer != nil && e.armed <= next {
		return
	}
	if e.timer != nil {
		e.timer.Stop()
	}
	e.armed, e.timer = next, e.clk.At(context.Background(), next, e.tick)
}

func (e *Engine) tick() {
	e.mu.Lock()
	defer e.leave()
	e.timer = nil
	e.machine.Advance(e.clk.Now())
}

// Declare implements broker.Engine.
func (e *Engine) Declare(ctx context.Context, t broker.Topology) error {
	if err := e.enter(ctx); err != nil {
		return err
	}
	defer e.leave()
	return e.machine.Declare(e.clk.Now(), t)
}

// Remove implements broker.Engine.
func (e *Engine) Remove(ctx context.Context, names ...string) error {
	if err := e.enter(ctx); err != nil {
		return err
	}
	defer e.leave()
	e.machine.Remove(e.clk.Now(), names...)
	return nil
}

// Purge implements broker.Engine.
func (e *Engine) Purge(ctx context.Context, destination string) error {
	if err := e.enter(ctx); err != nil {
		return err
	}
	defer e.leave()
	return e.machine.Purge(e.clk.Now(), destination)
}

// Depth implements broker.Engine. It takes no time.
func (e *Engine) Depth(ctx context.Context, destination, group string) (broker.Depth, error) {
	if err := e.enter(ctx); err != nil {
		return broker.Depth{}, err
	}
	defer e.leave()
	return e.machine.Depth(e.clk.Now(), destination, group)
}

// Close implements broker.Engine: every client that is left vanishes.
func (e *Engine) Close(ctx context.Context) error {
	if e.broken != nil {
		return nil
	}
	e.clk.Check(ctx)
	e.mu.Lock()
	defer e.mu.Unlock()
	e.closed = true
	for _, c := range e.consumers {
		if c != nil {
			c.end()
		}
	}
	if e.timer != nil {
		e.timer.Stop()
	}
	return nil
}

// stream is a client's source of latencies, nil where there are none.
func (e *Engine) stream(client, what string, l Latency) *rand.Rand {
	if l.zero() {
		return nil
	}
	return e.clk.Rand("inmem " + what + " " + client)
}
