// SPDX-License-Identifier: Apache-2.0

package clock

import (
	"context"
	"sync/atomic"
	"testing"
	"time"
)

func TestGate(t *testing.T) {
	tests := []struct {
		name string
		wait func(c Clock, ctx context.Context, gate Gate) error
		err  error
		at   time.Duration
	}{
		{"woken since the ticket", func(_ Clock, ctx context.Context, g Gate) error {
			ticket := g.Ticket()
			g.Wake()
			return g.Wait(ctx, ticket)
		}, nil, 0},
		{"woken later", func(_ Clock, ctx context.Context, g Gate) error {
			return g.Wait(ctx, g.Ticket())
		}, nil, time.Second},
		{"woken in time", func(_ Clock, ctx context.Context, g Gate) error {
			return g.WaitFor(ctx, g.Ticket(), time.Minute)
		}, nil, time.Second},
		{"not in time", func(_ Clock, ctx context.Context, g Gate) error {
			return g.WaitFor(ctx, g.Ticket(), time.Millisecond)
		}, ErrTimeout, time.Millisecond},
		{"no time", func(_ Clock, ctx context.Context, g Gate) error {
			return g.WaitFor(ctx, g.Ticket(), -time.Second)
		}, ErrTimeout, 0},
		{"context first", func(c Clock, ctx context.Context, g Gate) error {
			ctx, cancel := c.WithTimeout(ctx, time.Millisecond)
			defer cancel()
			return g.WaitFor(ctx, g.Ticket(), time.Minute)
		}, context.DeadlineExceeded, time.Millisecond},
		{"the second of two wakes", func(_ Clock, ctx context.Context, g Gate) error {
			if err := g.Wait(ctx, g.Ticket()); err != nil {
				return err
			}
			return g.Wait(ctx, g.Ticket())
		}, nil, 2 * time.Second},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			bothClocks(t, func(t *testing.T, c runner) {
				run(t, c, func(ctx context.Context) {
					gate := c.NewGate("gate")
					c.At(nil, time.Second, gate.Wake)
					c.At(nil, 2*time.Second, gate.Wake)
					if err := test.wait(c, ctx, gate); err != test.err || c.Now() != test.at {
						t.Errorf("returned %v at %v, want %v at %v", err, c.Now(), test.err, test.at)
					}
				})
			})
		})
	}
}

// TestWakeBeforeCancel: a wait that was woken first is not cancelled any more, and leaves
// nothing behind for the next one.
func TestWakeBeforeCancel(t *testing.T) {
	bothClocks(t, func(t *testing.T, c runner) {
		run(t, c, func(ctx context.Context) {
			for range 100 {
				gate := c.NewGate("gate")
				under, cancel := c.WithCancel(ctx)
				var err error
				waiter := c.Go(ctx, "waiter", func(context.Context) { err = gate.Wait(under, 0) })
				c.Sleep(ctx, time.Second)
				gate.Wake()
				cancel(nil)
				waiter.Join(ctx)
				if again := gate.WaitFor(ctx, 1, time.Second); err != nil || again != ErrTimeout {
					t.Fatalf("woken and cancelled: %v; then not woken: %v", err, again)
				}
			}
		})
	})
}

// TestNoWakeIsLost races wakes against waits on real threads: every consumer sees the
// last wake.
func TestNoWakeIsLost(t *testing.T) {
	w := NewWall(1)
	defer w.Close()
	const wakes = 2000
	run(t, w, func(ctx context.Context) {
		gate := w.NewGate("gate")
		var made atomic.Int64
		var consumers []Task
		for range 4 {
			consumers = append(consumers, w.Go(ctx, "consumer", func(ctx context.Context) {
				for ticket := gate.Ticket(); made.Load() < wakes; ticket = gate.Ticket() {
					if err := gate.WaitFor(ctx, ticket, time.Hour); err != nil {
						t.Error(err)
						return
					}
				}
			}))
		}
		for range wakes {
			made.Add(1)
			gate.Wake()
		}
		join(ctx, consumers...)
	})
}

// TestWaitsAllocateNothing, also a poll's timeout, and a callback apart from its function.
func TestWaitsAllocateNothing(t *testing.T) {
	v := NewVirtual(1)
	defer v.Close()
	run(t, v, func(ctx context.Context) {
		gate, fn := v.NewGate("gate"), func() {}
		v.Go(ctx, "other", func(ctx context.Context) {
			for ticket := uint64(0); ; ticket++ {
				gate.Wait(ctx, ticket)
			}
		})
		for name, call := range map[string]func(){
			"Sleep":      func() { v.Sleep(ctx, time.Second) },
			"Sleep zero": func() { v.Sleep(ctx, 0) },
			"WaitFor":    func() { gate.WaitFor(ctx, gate.Ticket(), time.Second) },
			"Wake":       func() { gate.Wake(); v.Sleep(ctx, 1) },
			"Post":       func() { v.Post(ctx, fn); v.Sleep(ctx, 1) },
			"Check":      func() { v.Check(ctx) },
		} {
			if n := testing.AllocsPerRun(100, call); n != 0 {
				t.Errorf("%s allocates %v times", name, n)
			}
		}
	})
}
