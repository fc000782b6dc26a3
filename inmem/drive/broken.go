// SPDX-License-Identifier: Apache-2.0

package drive

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/seed-720a3c77/harness/broker"
	"github.com/seed-720a3c77/harness/clock"
	"github.com/seed-720a3c77/harness/contract"
)

// Link is the way between some clients and the broker, which can be broken. It satisfies
// faults.Link by shape. A way is both, up (to the broker) or down.
//
// Of a push queue or a log, what a client has buffered cannot be told from what is still
// coming while a link is broken: nothing is received until it heals.
type Link struct {
	e      *Engine
	name   string
	covers func(client string) bool
}

// Link names the way of the clients that covers says, by the names of their specs.
func (e *Engine) Link(name string, covers func(client string) bool) *Link {
	return &Link{e, name, covers}
}

// breakage is one thing that is wrong with a link. The engine's lock guards it.
type breakage struct {
	link     *Link
	up, down bool
	delay    Latency
	random   *rand.Rand
	held     bool
	drops    bool
	cut      bool
	// healed is woken by the repair; waiting happens then, in order.
	healed  clock.Gate
	waiting []func()
}

// Name says whose link it is.
func (l *Link) Name() string { return l.name }

// Open is how many producers and consumers are open.
func (l *Link) Open() int {
	l.e.mu.Lock()
	defer l.e.mu.Unlock()
	return len(l.consumers()) + len(l.producers())
}

func (l *Link) consumers() (all []*consumer) {
	for _, c := range l.e.consumers {
		if c != nil && l.covers(c.spec.Name) {
			all = append(all, c)
		}
	}
	return all
}

func (l *Link) producers() (all []*producer) {
	for _, p := range l.e.producers {
		if l.covers(p.spec.Name) {
			all = append(all, p)
		}
	}
	return all
}

// Delay makes everything late by latency, give or take jitter.
func (l *Link) Delay(ctx context.Context, way string, latency, jitter time.Duration) (func(context.Context) error, error) {
	delay := Latency{Base: latency - jitter, Jitter: 2 * jitter}
	return l.broken(ctx, way, breakage{delay: delay, random: l.e.clk.Rand("inmem link " + l.name)})
}

// Hold keeps everything until the repair.
func (l *Link) Hold(ctx context.Context, way string) (func(context.Context) error, error) {
	return l.broken(ctx, way, breakage{held: true})
}

// Drop loses everything until the repair, which ends the sessions of consumers that hold
// a connection.
func (l *Link) Drop(ctx context.Context, way string) (func(context.Context) error, error) {
	heal, err := l.broken(ctx, way, breakage{drops: true})
	if err != nil {
		return nil, err
	}
	return func(ctx context.Context) error {
		if l.e.profile.Model == contract.LeaseQueue {
			return heal(ctx)
		}
		return l.atOnce(ctx, func() { l.vanish("the connection has a hole") }, heal)
	}, nil
}

// Reset ends the sessions of all clients; what was on its way is lost.
func (l *Link) Reset(ctx context.Context) error {
	return l.atOnce(ctx, func() { l.vanish("connection reset") }, nil)
}

// Cut ends them, and refuses new ones until the repair.
func (l *Link) Cut(ctx context.Context) (func(context.Context) error, error) {
	heal, err := l.broken(ctx, "both", breakage{cut: true})
	if err == nil {
		err = l.Reset(ctx)
	}
	return heal, err
}

// Limit is not supported: the machine moves messages, not bytes.
func (l *Link) Limit(context.Context, string, int) (func(context.Context) error, error) {
	return nil, broker.ErrUnsupported
}

// SlowClose is not supported: no connection is half-closed here.
func (l *Link) SlowClose(context.Context, time.Duration) (func(context.Context) error, error) {
	return nil, broker.ErrUnsupported
}

// broken adds a breakage and returns what takes it away again.
func (l *Link) broken(ctx context.Context, way string, b breakage) (func(context.Context) error, error) {
	b.link, b.up, b.down = l, way != "down", way != "up"
	if !slices.Contains([]string{"both", "up", "down"}, way) {
		return nil, fmt.Errorf("way %q: want both, up or down", way)
	}
	b.healed = l.e.clk.NewGate("link of " + l.name)
	if err := l.e.enter(ctx); err != nil {
		return nil, err
	}
	defer l.e.leave()
	l.e.breaks = append(l.e.breaks, &b)
	return func(context.Context) error {
		l.e.mu.Lock()
		defer l.e.leave()
		l.e.breaks = slices.DeleteFunc(l.e.breaks, func(other *breakage) bool { return other == &b })
		for _, then := range b.waiting {
			then()
		}
		b.waiting = nil
		b.healed.Wake()
		for _, c := range l.consumers() {
			c.gate.Wake()
		}
		return nil
	}, nil
}

// atOnce does something under the lock, after the rest.
func (l *Link) atOnce(ctx context.Context, do func(), before func(context.Context) error) error {
	if before != nil {
		if err := before(ctx); err != nil {
			return err
		}
	}
	l.e.mu.Lock()
	defer l.e.leave()
	do()
	return nil
}

// vanish ends the consumers' sessions, and loses what producers have on its way.
func (l *Link) vanish(why string) {
	for _, c := range l.consumers() {
		if notify := c.spec.Notify; notify != nil {
			c.e.clk.Post(c.owner, func() { notify(broker.Notice{Kind: broker.SessionClose, Text: why}) })
		}
		c.e.machine.Vanish(c.e.clk.Now(), c.session)
		c.end()
	}
	for _, p := range l.producers() {
		if p.link != nil {
			p.link.era++
		}
	}
}

// breakOf is the first breakage of a client that want says, or nil.
func (e *Engine) breakOf(client string, want func(*breakage) bool) *breakage {
	for _, b := range e.breaks {
		if want(b) && b.link.covers(client) {
			return b
		}
	}
	return nil
}

func upHeld(b *breakage) bool    { return b.held && b.up }
func downHeld(b *breakage) bool  { return b.held && b.down }
func upDrops(b *breakage) bool   { return b.drops && b.up }
func downDrops(b *breakage) bool { return b.drops && b.down }
func isCut(b *breakage) bool     { return b.cut }
func upStalls(b *breakage) bool  { return b.cut || b.up && (b.held || b.drops) }

// late draws how much later a way is.
func (e *Engine) late(client string, up bool) (d time.Duration) {
	for _, b := range e.breaks {
		if b.random != nil && (up && b.up || !up && b.down) && b.link.covers(client) {
			d += b.delay.draw(b.random)
		}
	}
	return d
}

// unreachable is what a client is told that connects through a link that is cut.
func (e *Engine) unreachable(client string) error {
	if e.breakOf(client, isCut) == nil {
		return nil
	}
	return fmt.Errorf("%s: %w: the link is cut", client, broker.ErrUnreachable)
}
