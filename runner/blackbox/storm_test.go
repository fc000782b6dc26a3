// SPDX-License-Identifier: Apache-2.0

package blackbox

import (
	"context"
	"sync/atomic"
	"testing"
	"time"

	"github.com/seed-720a3c77/harness/clock"
)

// TestNoFaultBeginsOnceStopped: the messages that it waits for are not published any more.
func TestNoFaultBeginsOnceStopped(t *testing.T) {
	clk := clock.NewWall(1)
	defer clk.Close()
	_, tally := newTestTally(t)
	var stop atomic.Bool
	stop.Store(true)
	r := &run{Config: Config{Clock: clk, Stop: &stop}, plan: tally.plan, tally: tally, acks: clk.NewGate("acks")}
	r.workers = []*worker{{run: r, taken: true}}
	s := &storm{run: r}
	err := clk.Run("test", func(ctx context.Context) {
		for _, one := range []strike{{do: doKill, random: true, after: 10}, {do: doKill, at: time.Hour}} {
			if s.due(ctx, one, 0) {
				t.Errorf("%s is due", one)
			}
			if g := s.seize(ctx, 1, one); g != nil {
				t.Errorf("%s: %+v", one, g)
			}
		}
	})
	if err != nil {
		t.Fatal(err)
	}
}
