// SPDX-License-Identifier: Apache-2.0

package effects

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/seed-720a3c77/harness/clock"
	"github.com/seed-720a3c77/harness/msg"
)

// Memory is a store that lives as long as the run. The zero value is refused; use NewMemory.
type Memory struct {
	mode  Mode
	clock clock.Clock
	lease time.Duration

	mu   sync.Mutex // never held across a wait
	rows map[Key]row
}

type row struct {
	count   int
	claimed string        // worker that holds the claim
	until   time.Duration // of the claim
}

var _ Store = (*Memory)(nil)

// NewMemory makes a store. lease is how long a claim holds; it should outlast the work
// and is used by Claim alone.
func NewMemory(clk clock.Clock, mode Mode, lease time.Duration) (*Memory, error) {
	switch mode {
	case None, Plain, Upsert, Claim, Transactional:
		return &Memory{mode: mode, clock: clk, lease: lease, rows: map[Key]row{}}, nil
	}
	return nil, fmt.Errorf("%w: %q", ErrMode, mode)
}

// Name says what it is.
func (m *Memory) Name() string { return "memory (" + string(m.mode) + ")" }

// Begin claims the key in the mode Claim, and looks it up in Transactional.
func (m *Memory) Begin(ctx context.Context, k Key, worker string) (Start, error) {
	m.clock.Check(ctx)
	if m.mode != Claim && m.mode != Transactional {
		return Proceed, nil
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	r := m.rows[k]
	switch {
	case r.count > 0:
		return Done, nil
	case m.mode == Transactional:
		return Proceed, nil
	case r.claimed != "" && r.claimed != worker && m.clock.Now() < r.until:
		return Busy, nil
	}
	r.claimed, r.until = worker, m.clock.Now()+m.lease
	m.rows[k] = r
	return Proceed, nil
}

// Apply adds the effect as the mode says.
func (m *Memory) Apply(ctx context.Context, k Key, worker string) (Result, error) {
	m.clock.Check(ctx)
	m.mu.Lock()
	defer m.mu.Unlock()
	r := m.rows[k]
	switch {
	case m.mode == None:
		return Result{Skipped: true}, nil
	case m.mode == Upsert:
		r.count = 1
	case m.mode == Transactional && r.count > 0:
		return Result{Skipped: true, Count: r.count}, nil
	case m.mode == Claim && (r.count > 0 || r.claimed != worker):
		return Result{Refused: true, Count: r.count}, nil
	default:
		r.count++
	}
	m.rows[k] = r
	return Result{Count: r.count}, nil
}

// Count is the number of effects of a key.
func (m *Memory) Count(ctx context.Context, k Key) (int, error) {
	m.clock.Check(ctx)
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.rows[k].count, nil
}

// Each tells the effects of a subscription.
func (m *Memory) Each(ctx context.Context, subscription string, tell func(id msg.ID, count int)) error {
	m.clock.Check(ctx)
	m.mu.Lock()
	defer m.mu.Unlock()
	for k, r := range m.rows {
		if k.Subscription == subscription && r.count > 0 {
			tell(k.ID, r.count)
		}
	}
	return nil
}

// Close does nothing.
func (m *Memory) Close() error { return nil }
