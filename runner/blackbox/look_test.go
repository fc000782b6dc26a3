// SPDX-License-Identifier: Apache-2.0

package blackbox

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/seed-720a3c77/harness/clock"
)

// stuckSource answers when it is told to stop.
type stuckSource struct{}

func (stuckSource) Look(ctx context.Context, _ Tell) error {
	<-ctx.Done()
	return ctx.Err()
}

func (stuckSource) Close() error { return nil }

// TestAStoreThatNeverAnswers: a table that is locked for ever does not hold the run.
func TestAStoreThatNeverAnswers(t *testing.T) {
	clk := clock.NewWall(1)
	defer clk.Close()
	r := &run{Config: Config{Clock: clk, Source: stuckSource{}}}
	err := clk.Run("test", func(ctx context.Context) {
		if err := r.boundLook(ctx, time.Millisecond); !errors.Is(err, ErrEffects) {
			t.Errorf("%v, want the effects to be unread", err)
		}
		if err := r.broken(); err != nil {
			t.Errorf("another look may find them, and the run failed: %v", err)
		}
	})
	if err != nil {
		t.Fatal(err)
	}
}

// TestOneLookAtATime: an older answer that came later would say that effects were undone.
func TestOneLookAtATime(t *testing.T) {
	clk := clock.NewWall(1)
	defer clk.Close()
	r := &run{Config: Config{Clock: clk, Source: &Stdout{}}}
	err := clk.Run("test", func(ctx context.Context) {
		if !r.beginLook() {
			t.Error("nobody looks, and a look was refused")
		}
		if err := r.lookOnce(ctx); !errors.Is(err, errLooking) || !mayPass(err) {
			t.Errorf("while another looks: %v", err)
		}
		r.endLook()
		if err := r.lookOnce(ctx); err != nil {
			t.Error(err)
		}
	})
	if err != nil {
		t.Fatal(err)
	}
}
