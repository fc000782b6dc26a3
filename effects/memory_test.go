// SPDX-License-Identifier: Apache-2.0

package effects

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/seed-720a3c77/harness/clock"
	"github.com/seed-720a3c77/harness/msg"
)

// TestSecondDelivery shows what each mode makes of the same message handled twice.
func TestSecondDelivery(t *testing.T) {
	key := Key{"billing", msg.ID{Producer: 0, Seq: 7}}
	for _, c := range []struct {
		mode   Mode
		begin  Start // of the second delivery
		result Result
		count  int
	}{
		{Plain, Proceed, Result{Count: 2}, 2},
		{Upsert, Proceed, Result{Count: 1}, 1},
		{Claim, Done, Result{Refused: true, Count: 1}, 1},
		{Transactional, Done, Result{Skipped: true, Count: 1}, 1},
		{None, Proceed, Result{Skipped: true}, 0},
	} {
		run(t, func(ctx context.Context, clk clock.Clock) {
			store, err := NewMemory(clk, c.mode, time.Minute)
			if err != nil {
				t.Fatal(err)
			}
			store.Begin(ctx, key, "a")
			store.Apply(ctx, key, "a")
			begin, _ := store.Begin(ctx, key, "b")
			result, _ := store.Apply(ctx, key, "b")
			count, _ := store.Count(ctx, key)
			if begin != c.begin || result != c.result || count != c.count {
				t.Errorf("%s: begin %d, result %+v, count %d; want %d, %+v, %d", c.mode, begin, result, count, c.begin, c.result, c.count)
			}
		})
	}
}

func TestClaimEndsWithItsLease(t *testing.T) {
	key := Key{"billing", msg.ID{}}
	run(t, func(ctx context.Context, clk clock.Clock) {
		store, _ := NewMemory(clk, Claim, time.Minute)
		store.Begin(ctx, key, "a")
		if start, _ := store.Begin(ctx, key, "b"); start != Busy {
			t.Errorf("while claimed: %d, want Busy", start)
		}
		clk.Sleep(ctx, time.Minute)
		if start, _ := store.Begin(ctx, key, "b"); start != Proceed {
			t.Errorf("after the claim's lease: %d, want Proceed", start)
		}
		if result, _ := store.Apply(ctx, key, "a"); !result.Refused {
			t.Errorf("effect of the worker that lost its claim: %+v, want refused", result)
		}
	})
}

func TestUnknownModeIsRefused(t *testing.T) {
	for _, mode := range []Mode{"", "once"} {
		if _, err := NewMemory(nil, mode, 0); !errors.Is(err, ErrMode) {
			t.Errorf("mode %q: %v", mode, err)
		}
	}
}

func run(t *testing.T, body func(context.Context, clock.Clock)) {
	t.Helper()
	v := clock.NewVirtual(1)
	defer v.Close()
	if err := v.Run("test", func(ctx context.Context) { body(ctx, v) }); err != nil {
		t.Fatal(err)
	}
}
