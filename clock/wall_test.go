// SPDX-License-Identifier: Apache-2.0

package clock

import (
	"context"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

// TestBase: clocks of one host that share a base stamp the same offsets, also if the base
// went through text on its way.
func TestBase(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		first := NewWall(1)
		time.Sleep(3 * time.Second)
		text, err := first.Base().MarshalText()
		if err != nil {
			t.Fatal(err)
		}
		var sent time.Time
		if err := sent.UnmarshalText(text); err != nil {
			t.Fatal(err)
		}
		for name, base := range map[string]time.Time{
			"itself":       first.Base(),
			"text":         sent,
			"nanoseconds":  time.Unix(0, first.Base().UnixNano()),
			"of a copy":    NewWallAt(1, sent).Base(),
			"without mono": first.Base().Round(0),
		} {
			w := NewWallAt(2, base)
			if w.Now() != 3*time.Second || first.Now() != 3*time.Second {
				t.Errorf("%s: Now = %v, want 3s", name, w.Now())
			}
		}
	})
}

// TestBaseIsMonotonic: a step of the wall clock is not seen.
func TestBaseIsMonotonic(t *testing.T) {
	for _, base := range []time.Time{time.Now(), time.Now().Round(0)} {
		if b := NewWallAt(1, base).Base(); b == b.Round(0) {
			t.Errorf("base %v has no monotonic reading", b)
		}
	}
}

// TestWakeMeetsTimeout: a wake that comes between the end of a wait and its leaving the
// gate counts, and its token does not stay for the waiter's next wait.
func TestWakeMeetsTimeout(t *testing.T) {
	gate, p := &wallGate{w: NewWall(1)}, newWaiter()
	gate.join(p, 0)
	gate.Wake()
	if err := gate.giveUp(p, ErrTimeout); err != nil || len(p.woken) != 0 {
		t.Errorf("giveUp = %v with %d tokens left, want nil and none", err, len(p.woken))
	}
}

// TestWallClose: it waits for code that blocks outside of the clock, but not for ever.
func TestWallClose(t *testing.T) {
	for _, blocks := range []time.Duration{time.Second, time.Minute} {
		synctest.Test(t, func(t *testing.T) {
			w := NewWall(1)
			run(t, w, func(ctx context.Context) {
				w.Go(ctx, "blocks", func(ctx context.Context) {
					<-ctx.Done()
					time.Sleep(blocks)
				})
				w.At(nil, time.Hour, func() { t.Error("called after Close") })
				w.Sleep(ctx, time.Second)
			})
			w.Close()
			if want := time.Second + min(blocks, closeGrace); w.Now() != want {
				t.Errorf("closed at %v, want %v", w.Now(), want)
			}
			w.Close()
			time.Sleep(2 * time.Hour)
		})
	}
}

// TestWallCallbacksDoNotOverlap: calls for one owner come one at a time, so that they need
// no lock among themselves; -race sees it.
func TestWallCallbacksDoNotOverlap(t *testing.T) {
	w := NewWall(1)
	defer w.Close()
	run(t, w, func(ctx context.Context) {
		const posters, each = 4, 500
		var count int
		done := w.NewGate("done")
		for range posters {
			w.Go(ctx, "poster", func(context.Context) {
				for range each {
					w.Post(ctx, func() {
						if count++; count == posters*each {
							done.Wake()
						}
					})
				}
			})
		}
		done.Wait(ctx, 0)
	})
}

// TestWallStorm uses everything at once, for -race.
func TestWallStorm(t *testing.T) {
	w := NewWall(1)
	defer w.Close()
	run(t, w, func(ctx context.Context) {
		gate := w.NewGate("gate")
		var mu sync.Mutex
		called := 0
		for round := range 50 {
			task := w.Go(ctx, "task", func(ctx context.Context) {
				for {
					w.Post(ctx, func() { mu.Lock(); called++; mu.Unlock() })
					w.At(ctx, 0, gate.Wake).Stop()
					gate.WaitFor(ctx, gate.Ticket(), 10*time.Microsecond)
					w.Go(ctx, "child", func(ctx context.Context) { w.Sleep(ctx, time.Microsecond) })
				}
			})
			task.Freeze()
			gate.Wake()
			task.Thaw()
			w.Sleep(ctx, time.Duration(round)*time.Microsecond)
			task.Kill()
			task.Join(ctx)
		}
	})
}
