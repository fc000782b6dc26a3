// SPDX-License-Identifier: Apache-2.0

package faults

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
)

// Heals are the repairs that are owed. Whoever runs a workload calls Run on every way
// out; what was healed before is not healed twice. Its methods may be called concurrently.
type Heals struct {
	mu   sync.Mutex // guards owed
	owed []*Owed
}

// Owed is one repair.
type Owed struct {
	heals  *Heals
	what   string
	byHand string
	heal   Heal
}

// Owe notes a repair: what is broken, and how a person would repair it.
func (h *Heals) Owe(what, byHand string, heal Heal) *Owed {
	o := &Owed{h, what, byHand, heal}
	h.mu.Lock()
	defer h.mu.Unlock()
	h.owed = append(h.owed, o)
	return o
}

// Run heals what is still broken, the latest first. The error names what could not be
// repaired and what to do about it.
func (h *Heals) Run(ctx context.Context) error {
	h.mu.Lock()
	left := slices.Clone(h.owed)
	h.mu.Unlock()
	var failed error
	for _, o := range slices.Backward(left) {
		failed = errors.Join(failed, o.Heal(ctx))
	}
	return failed
}

// After is Run once the run has crashed: its clock no longer runs, and what lived on it
// is gone with it.
func (h *Heals) After(ctx context.Context) error {
	return h.Run(context.WithValue(ctx, afterKey{}, true))
}

type afterKey struct{}

// Crashed tells whether a heal is called after the run has crashed, when it must not use
// the clock.
func Crashed(ctx context.Context) bool { return ctx.Value(afterKey{}) != nil }

// Heal repairs, once; a nil Owed owes nothing.
func (o *Owed) Heal(ctx context.Context) error {
	if o == nil || !o.take() || o.heal == nil {
		return nil
	}
	err := o.heal(ctx)
	if err == nil {
		return nil
	}
	err = fmt.Errorf("%s is still broken: its heal failed: %w", o.what, err)
	if o.byHand != "" {
		err = fmt.Errorf("%w; to repair it by hand: %s", err, o.byHand)
	}
	return err
}

func (o *Owed) take() bool {
	o.heals.mu.Lock()
	defer o.heals.mu.Unlock()
	i := slices.Index(o.heals.owed, o)
	if i < 0 {
		return false
	}
	o.heals.owed = slices.Delete(o.heals.owed, i, i+1)
	return true
}
