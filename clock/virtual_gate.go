// SPDX-License-Identifier: Apache-2.0

package clock

import (
	"context"
	"time"
)

// virtualGate is a Gate of Virtual.
type virtualGate struct {
	v       *Virtual
	name    string
	wakes   uint64
	waiting list[virtualTask]
}

// NewGate implements Clock.
func (v *Virtual) NewGate(name string) Gate { return &virtualGate{v: v, name: name} }

func (g *virtualGate) Ticket() uint64 { return g.wakes }

func (g *virtualGate) Wait(ctx context.Context, ticket uint64) error {
	c, t := g.v.mayWait(ctx, "Wait")
	if c.err != nil {
		return c.err
	}
	if g.wakes != ticket {
		return nil
	}
	return t.wait(c, g, "waits on gate", -1)
}

func (g *virtualGate) WaitFor(ctx context.Context, ticket uint64, d time.Duration) error {
	c, t := g.v.mayWait(ctx, "WaitFor")
	if c.err != nil {
		return c.err
	}
	if g.wakes != ticket {
		return nil
	}
	return t.wait(c, g, "waits on gate", g.v.after(d))
}

// Wake makes each waiting task an event of its own: the seed decides who is first.
func (g *virtualGate) Wake() {
	g.v.alive()
	g.wakes++
	for n := g.waiting.first; n != nil; n = g.waiting.first {
		n.of.rouse(nil)
	}
}

// Sleep implements Clock.
func (v *Virtual) Sleep(ctx context.Context, d time.Duration) error {
	c, t := v.mayWait(ctx, "Sleep")
	if c.err != nil {
		return c.err
	}
	return t.wait(c, nil, "sleeps", v.after(d))
}
