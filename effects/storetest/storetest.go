// SPDX-License-Identifier: Apache-2.0

// Package storetest holds the one suite that every store of effects passes.
package storetest

import (
	"context"
	"errors"
	"maps"
	"testing"
	"time"

	"github.com/seed-720a3c77/harness/clock"
	"github.com/seed-720a3c77/harness/effects"
	"github.com/seed-720a3c77/harness/msg"
)

// Open makes a fresh store of a mode whose claims hold for a minute.
type Open func(ctx context.Context, clk clock.Clock, mode effects.Mode) (effects.Store, error)

// Run runs the suite.
func Run(t *testing.T, open Open) {
	t.Run("second delivery", func(t *testing.T) { secondDelivery(t, open) })
	t.Run("claim", func(t *testing.T) { claim(t, open) })
	t.Run("keys are apart", func(t *testing.T) { keysApart(t, open) })
}

func with(t *testing.T, open Open, mode effects.Mode, body func(context.Context, clock.Clock, effects.Store)) {
	t.Helper()
	v := clock.NewVirtual(1)
	defer v.Close()
	err := v.Run("test", func(ctx context.Context) {
		store, err := open(ctx, v, mode)
		if err != nil {
			t.Errorf("open %s: %v", mode, err)
			return
		}
		body(ctx, v, store)
		if err := store.Close(); err != nil {
			t.Errorf("close: %v", err)
		}
	})
	if err != nil {
		t.Fatal(err)
	}
}

// secondDelivery shows what each mode makes of the same message handled twice.
func secondDelivery(t *testing.T, open Open) {
	key := effects.Key{Subscription: "billing", ID: msg.ID{Producer: 0, Seq: 7}}
	for _, c := range []struct {
		mode   effects.Mode
		begin  effects.Start // of the second delivery
		result effects.Result
		count  int
	}{
		{effects.Plain, effects.Proceed, effects.Result{Count: 2}, 2},
		{effects.Upsert, effects.Proceed, effects.Result{Count: 1}, 1},
		{effects.Claim, effects.Done, effects.Result{Refused: true, Count: 1}, 1},
		{effects.Transactional, effects.Done, effects.Result{Skipped: true, Count: 1}, 1},
		{effects.None, effects.Proceed, effects.Result{Skipped: true}, 0},
	} {
		with(t, open, c.mode, func(ctx context.Context, _ clock.Clock, s effects.Store) {
			check(t, "first begin", effects.Proceed)(s.Begin(ctx, key, "a"))
			if _, err := s.Apply(ctx, key, "a"); err != nil {
				t.Errorf("%s: first effect: %v", c.mode, err)
			}
			check(t, string(c.mode)+": second begin", c.begin)(s.Begin(ctx, key, "b"))
			check(t, string(c.mode)+": second effect", c.result)(s.Apply(ctx, key, "b"))
			check(t, string(c.mode)+": count", c.count)(s.Count(ctx, key))
		})
	}
}

func claim(t *testing.T, open Open) {
	key := effects.Key{Subscription: "billing", ID: msg.ID{}}
	with(t, open, effects.Claim, func(ctx context.Context, clk clock.Clock, s effects.Store) {
		check(t, "first claim", effects.Proceed)(s.Begin(ctx, key, "a"))
		check(t, "while it is claimed", effects.Busy)(s.Begin(ctx, key, "b"))
		check(t, "its own claim again", effects.Proceed)(s.Begin(ctx, key, "a"))
		if err := clk.Sleep(ctx, time.Minute); err != nil {
			t.Error(err)
		}
		check(t, "after the claim's lease", effects.Proceed)(s.Begin(ctx, key, "b"))
		check(t, "effect of the worker that lost its claim", effects.Result{Refused: true})(s.Apply(ctx, key, "a"))
		check(t, "effect of the other", effects.Result{Count: 1})(s.Apply(ctx, key, "b"))
		check(t, "claim of what is done", effects.Done)(s.Begin(ctx, key, "a"))
	})
}

func keysApart(t *testing.T, open Open) {
	keys := []effects.Key{
		{Subscription: "a", ID: msg.ID{Producer: 1, Seq: 2}}, {Subscription: "b", ID: msg.ID{Producer: 1, Seq: 2}},
		{Subscription: "a", ID: msg.ID{Producer: 2, Seq: 1}}, {Subscription: "a", ID: msg.ID{Producer: 1<<32 - 1, Seq: 1 << 62}},
	}
	with(t, open, effects.Plain, func(ctx context.Context, _ clock.Clock, s effects.Store) {
		for i, k := range keys {
			for range i + 1 {
				if _, err := s.Apply(ctx, k, "w"); err != nil {
					t.Error(err)
				}
			}
		}
		for i, k := range keys {
			check(t, k.Subscription+" "+k.ID.String(), i+1)(s.Count(ctx, k))
		}
		got := map[msg.ID]int{}
		err := s.Each(ctx, "a", func(id msg.ID, count int) { got[id] = count })
		if errors.Is(err, errors.ErrUnsupported) {
			return // a worker's view of a store
		}
		want := map[msg.ID]int{keys[0].ID: 1, keys[2].ID: 3, keys[3].ID: 4}
		if err != nil || !maps.Equal(got, want) {
			t.Errorf("effects of a: %v, %v; want %v", got, err, want)
		}
	})
}

func check[T comparable](t *testing.T, what string, want T) func(T, error) {
	t.Helper()
	return func(got T, err error) {
		t.Helper()
		if err != nil || got != want {
			t.Errorf("%s: %+v, %v; want %+v", what, got, err, want)
		}
	}
}
