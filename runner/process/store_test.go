// SPDX-License-Identifier: Apache-2.0

package process

import (
	"context"
	"errors"
	"io"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/seed-720a3c77/harness/clock"
	"github.com/seed-720a3c77/harness/effects"
	"github.com/seed-720a3c77/harness/effects/storetest"
	"github.com/seed-720a3c77/harness/msg"
)

// remote puts a store behind a pipe. The returned function ends both ends.
func remote(clk clock.Clock, behind effects.Store) (*store, func()) {
	downIn, downOut := io.Pipe()
	upIn, upOut := io.Pipe()
	worker := newCaller(newLink(downIn, upOut), clk, errHarnessGone)
	harness := newLink(upIn, downOut)
	go func() {
		for {
			m, err := harness.receive()
			if err != nil {
				downOut.Close()
				return
			}
			_ = harness.send(stored(context.Background(), behind, m))
		}
	}()
	go func() {
		defer worker.over()
		for {
			m, err := worker.link.receive()
			if err != nil {
				return
			}
			worker.answered(m)
		}
	}()
	return &store{caller: worker, name: behind.Name()}, func() { upOut.Close() }
}

// TestStoreOverThePipe: it passes the suite that every store passes.
func TestStoreOverThePipe(t *testing.T) {
	storetest.Run(t, func(_ context.Context, clk clock.Clock, mode effects.Mode) (effects.Store, error) {
		behind, err := effects.NewMemory(clk, mode, time.Minute)
		if err != nil {
			return nil, err
		}
		s, end := remote(clk, behind)
		t.Cleanup(end)
		return s, nil
	})
}

// TestStoreOverThePipeIsTheStore: any sequence of calls has the answers that the store
// itself gives.
func TestStoreOverThePipeIsTheStore(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		clk := clock.NewWall(1)
		defer clk.Close()
		mode := rapid.SampledFrom([]effects.Mode{effects.None, effects.Plain, effects.Upsert, effects.Claim, effects.Transactional}).Draw(t, "mode")
		lease := rapid.SampledFrom([]time.Duration{time.Hour, -time.Hour}).Draw(t, "lease") // holds, or never does
		plain, _ := effects.NewMemory(clk, mode, lease)
		behind, _ := effects.NewMemory(clk, mode, lease)
		piped, end := remote(clk, behind)
		defer end()
		calls := rapid.SliceOfN(rapid.Custom(drawCall), 1, 30).Draw(t, "calls")
		err := clk.Run("test", func(ctx context.Context) {
			for i, c := range calls {
				want, wantErr := c.on(ctx, plain)
				if got, err := c.on(ctx, piped); got != want || err != nil || wantErr != nil {
					t.Errorf("call %d %+v: %+v, %v; want %+v, %v", i, c, got, err, want, wantErr)
				}
			}
		})
		if err != nil {
			t.Fatal(err)
		}
	})
}

type storeCall struct {
	kind   kind
	key    effects.Key
	worker string
}

func drawCall(t *rapid.T) storeCall {
	return storeCall{
		kind:   rapid.SampledFrom([]kind{start, apply, count}).Draw(t, "kind"),
		key:    effects.Key{Subscription: rapid.SampledFrom([]string{"a", "b|\n"}).Draw(t, "group"), ID: msg.ID{Seq: rapid.Uint64Range(0, 2).Draw(t, "seq")}},
		worker: rapid.SampledFrom([]string{"a/0", "a/1"}).Draw(t, "worker"),
	}
}

func (c storeCall) on(ctx context.Context, s effects.Store) (effects.Result, error) {
	switch c.kind {
	case start:
		begun, err := s.Begin(ctx, c.key, c.worker)
		return effects.Result{Count: int(begun)}, err
	case apply:
		return s.Apply(ctx, c.key, c.worker)
	}
	n, err := s.Count(ctx, c.key)
	return effects.Result{Count: n}, err
}

// broken is a store that fails.
type broken struct{ effects.Store }

func (broken) Name() string { return "broken" }
func (broken) Apply(context.Context, effects.Key, string) (effects.Result, error) {
	return effects.Result{}, errors.New("disk full")
}

// TestStoreErrorsAreErrors: unknown is never "0 effects", and nobody waits for a harness
// that is gone.
func TestStoreErrorsAreErrors(t *testing.T) {
	clk := clock.NewWall(1)
	defer clk.Close()
	s, end := remote(clk, broken{})
	err := clk.Run("test", func(ctx context.Context) {
		if _, err := s.Apply(ctx, effects.Key{}, "w"); err == nil || !strings.Contains(err.Error(), "disk full") {
			t.Errorf("a store that failed: %v", err)
		}
		end()
		if _, err := s.Apply(ctx, effects.Key{}, "w"); !errors.Is(err, errHarnessGone) {
			t.Errorf("after the harness: %v", err)
		}
		if _, err := s.Count(ctx, effects.Key{}); !errors.Is(err, errHarnessGone) {
			t.Errorf("once more: %v", err)
		}
	})
	if err != nil {
		t.Fatal(err)
	}
}
