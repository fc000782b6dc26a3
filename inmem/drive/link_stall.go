// SPDX-License-Identifier: Apache-2.0

package drive

import (
	"cmp"
	"context"
	"slices"

	"github.com/seed-720a3c77/harness/broker"
	"github.com/seed-720a3c77/harness/clock"
	"github.com/seed-720a3c77/harness/contract"
)

// stall keeps a batch until a link heals, and then lets it go on. A client that waits in
// vain for longer than its timeout gives the answer up; the request goes on all the same.
func (l *link) stall(b *batch, at *breakage, then func(*batch)) {
	kept := b
	timer := l.p.e.clk.At(l.p.owner, l.p.e.clk.Now()+cmp.Or(l.p.spec.Timeout, defaultTimeout), func() {
		l.p.e.mu.Lock()
		defer l.p.e.leave()
		if kept == b {
			kept = l.giveUp(b)
		}
	})
	at.waiting = append(at.waiting, func() {
		timer.Stop()
		going := kept
		kept = nil
		then(going)
	})
}

// giveUp answers a batch as unknown and returns what is left of it.
func (l *link) giveUp(b *batch) *batch {
	ghost := &batch{l: l, requests: slices.Clone(b.requests), tries: b.tries, era: b.era, ghost: true}
	ghost.arrive, ghost.end = ghost.arrived, ghost.answered
	l.fail(b, errNoAnswer)
	return ghost
}

// cutOff answers a batch whose connection was lost.
func (l *link) cutOff(b *batch) {
	if !b.ghost {
		l.fail(b, errLost)
	}
}

var errLost error = &broker.Error{
	Op: "publish", Answer: contract.Closed, Class: contract.Unknown, Err: broker.ErrClosed,
}

func (l *link) fail(b *batch, err error) {
	for i := range b.requests {
		l.p.answer(answer{b.requests[i].done, broker.Receipt{Offset: -1, Copies: b.tries}, err})
	}
	l.done(b)
}

// stalled tells whether nothing can come to a consumer now: a poll of a lease queue cannot
// leave, a push cannot come, and a log needs both ways.
func (c *consumer) stalled() bool {
	return c.e.breakOf(c.spec.Name, func(b *breakage) bool {
		switch c.e.profile.Model {
		case contract.LeaseQueue:
			return upStalls(b)
		case contract.PushQueue:
			return b.down && (b.held || b.drops)
		}
		return b.held || b.drops
	}) != nil
}

// through waits until a way is no longer held; false: what is on it is lost.
func (e *Engine) through(ctx context.Context, client string, held, drops func(*breakage) bool) (bool, error) {
	for {
		gate, ticket, lost := e.barrier(client, held, drops)
		if gate == nil || lost {
			return !lost, nil
		}
		if err := gate.Wait(ctx, ticket); err != nil {
			return false, err
		}
	}
}

// barrier is what a held way waits for. The ticket is taken under the lock, under which
// the repair wakes.
func (e *Engine) barrier(client string, held, drops func(*breakage) bool) (gate clock.Gate, ticket uint64, lost bool) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if b := e.breakOf(client, held); b != nil {
		gate, ticket = b.healed, b.healed.Ticket()
	}
	return gate, ticket, e.breakOf(client, drops) != nil
}
