// SPDX-License-Identifier: Apache-2.0

package runner_test

import (
	"context"
	"sync/atomic"
	"testing"
	"time"

	"github.com/seed-720a3c77/harness/checkers"
	"github.com/seed-720a3c77/harness/clock"
	"github.com/seed-720a3c77/harness/effects"
)

// gap is a store whose first answer never reaches the worker.
type gap struct {
	effects.Store
	clock clock.Clock
	lost  atomic.Bool
}

func (g *gap) Apply(ctx context.Context, k effects.Key, worker string) (effects.Result, error) {
	result, err := g.Store.Apply(ctx, k, worker)
	if !g.lost.Swap(true) {
		_ = g.clock.Sleep(ctx, time.Hour) // until it is killed
	}
	return result, err
}

// TestAStoreTellsWhatAKilledProcessDidNotHear: settled before the work and killed between
// the effect and its result, a message is done, not lost and not unknown; what else was in
// its batch is lost.
func TestAStoreTellsWhatAKilledProcessDidNotHear(t *testing.T) {
	s := &spawner{words: []string{"after-handler", "before-handler", "at-least-once", "at-most-once"}, store: func(clk clock.Clock) effects.Store {
		memory, err := effects.NewMemory(clk, effects.Plain, 0)
		if err != nil {
			t.Fatal(err)
		}
		return &gap{Store: memory, clock: clk}
	}}
	run, err := inPlayedProcesses(t, "{at: 300ms, do: kill, target: billing/0, for: 50ms}\n  - {at: 300ms, do: kill, target: billing/1, for: 50ms}", s)
	if err != nil {
		t.Fatal(err)
	}
	result, err := checkers.Check(run)
	if err != nil {
		t.Fatal(err)
	}
	n := result.Counts
	if n["effects-unknown"] != 0 || n["effect-store-differs"] != 0 || n["effects"]+n["lost"] != 100 || n["lost"] > 9 {
		t.Errorf("unknown effects %d, otherwise in the store %d; of 100 messages %d have an effect, %d are lost",
			n["effects-unknown"], n["effect-store-differs"], n["effects"], n["lost"])
	}
}
