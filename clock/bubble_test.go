// SPDX-License-Identifier: Apache-2.0

package clock

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"testing"
	"testing/synctest"
	"time"
)

// inBubble runs main on virtual time that steps together with a synctest bubble.
func inBubble(t *testing.T, seed uint64, main func(v *Virtual, ctx context.Context)) (err error) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		v := NewVirtual(seed)
		defer v.Close()
		time.Sleep(time.Hour) // the bubble is older than the run
		v.InBubble(synctest.Wait)
		err = v.Run("main", func(ctx context.Context) { main(v, ctx) })
	})
	return err
}

// TestForeignHandlers: whatever a handler waits with, it takes exactly its time while
// other tasks go on, and its bubble's time is the clock's.
func TestForeignHandlers(t *testing.T) {
	failed := errors.New("failed")
	tests := []struct {
		name    string
		handler func(ctx context.Context) error
		err     error
		at      time.Duration
	}{
		{"time.Sleep", func(context.Context) error {
			time.Sleep(1500 * time.Millisecond)
			return nil
		}, nil, 2500 * time.Millisecond},
		{"goroutine and channel", func(context.Context) error {
			answer := make(chan error)
			go func() {
				time.Sleep(time.Second)
				answer <- failed
			}()
			return <-answer
		}, failed, 2 * time.Second},
		{"package context", func(ctx context.Context) error {
			ctx, cancel := context.WithTimeout(ctx, 250*time.Millisecond)
			defer cancel()
			<-ctx.Done()
			return ctx.Err()
		}, context.DeadlineExceeded, 1250 * time.Millisecond},
		{"the clock's deadline", func(ctx context.Context) error {
			deadline, _ := ctx.Deadline()
			time.Sleep(time.Until(deadline) - time.Second)
			<-ctx.Done()
			return ctx.Err()
		}, context.DeadlineExceeded, 11 * time.Second},
		{"nothing", func(context.Context) error { return failed }, failed, time.Second},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			ticks := 0
			err := inBubble(t, 1, func(v *Virtual, ctx context.Context) {
				v.Go(ctx, "ticker", func(ctx context.Context) {
					for v.Sleep(ctx, 100*time.Millisecond) == nil {
						ticks++
					}
				})
				v.Sleep(ctx, time.Second)
				under, cancel := v.WithTimeout(ctx, 10*time.Second)
				defer cancel()
				err := v.Foreign(under, func() error { return test.handler(under) })
				if err != test.err || v.Now() != test.at {
					t.Errorf("Foreign = %v at %v, want %v at %v", err, v.Now(), test.err, test.at)
				}
			})
			if err != nil {
				t.Error(err)
			}
			if least := int(test.at/(100*time.Millisecond)) - 1; ticks < least {
				t.Errorf("another task made %d ticks meanwhile, want %d", ticks, least)
			}
		})
	}
}

// TestForeignTies: calls that come back at one instant are taken in an order drawn from
// the seed, not in that of the goroutines.
func TestForeignTies(t *testing.T) {
	order := func(seed uint64) (order string) {
		inBubble(t, seed, func(v *Virtual, ctx context.Context) {
			var tasks []Task
			for i := range 4 {
				tasks = append(tasks, v.Go(ctx, "worker", func(ctx context.Context) {
					v.Foreign(ctx, func() error { time.Sleep(time.Second); return nil })
					order += fmt.Sprint(i)
				}))
			}
			join(ctx, tasks...)
		})
		return order
	}
	seen := map[string]bool{}
	for seed := range uint64(20) {
		first := order(seed)
		for range 5 {
			if again := order(seed); again != first {
				t.Fatalf("seed %d gave %s and %s", seed, first, again)
			}
		}
		seen[first] = true
	}
	if len(seen) < 5 {
		t.Errorf("20 seeds gave %d orders", len(seen))
	}
}

// TestForeignKill: the goroutine of a killed handler lives on until it heeds its context;
// what it returns is of no interest.
func TestForeignKill(t *testing.T) {
	err := inBubble(t, 1, func(v *Virtual, ctx context.Context) {
		ended := false
		task := v.Go(ctx, "worker", func(ctx context.Context) {
			v.Foreign(ctx, func() error {
				<-ctx.Done()
				time.Sleep(time.Second)
				ended = true
				return nil
			})
			t.Error("the dead task went on")
		})
		v.Sleep(ctx, time.Minute)
		task.Kill()
		v.Sleep(ctx, 2*time.Second)
		if !ended {
			t.Error("the context of the handler was not cancelled")
		}
	})
	if err != nil {
		t.Error(err)
	}
}

func TestForeignFailures(t *testing.T) {
	err := inBubble(t, 1, func(v *Virtual, ctx context.Context) {
		v.Foreign(ctx, func() error { panic("handler") })
	})
	if p := new(PanicError); !errors.As(err, &p) || p.Value != "handler" {
		t.Errorf("panic: Run = %v", err)
	}
	returned := false
	over := make(chan struct{})
	go func() {
		defer close(over)
		v := NewVirtual(1)
		defer v.Close()
		v.Run("main", func(ctx context.Context) {
			v.Foreign(ctx, func() error { runtime.Goexit(); return nil })
		})
		returned = true
	}()
	<-over
	if returned {
		t.Error("a Goexit in a handler did not end the caller of Run")
	}
	err = inBubble(t, 1, func(v *Virtual, ctx context.Context) {
		v.NewGate("never").Wait(ctx, 0)
	})
	if !errors.Is(err, ErrDeadlock) {
		t.Errorf("deadlock: Run = %v", err)
	}
}

// TestForeignOutsideBubble: the call is direct, and not made for an ended context.
func TestForeignOutsideBubble(t *testing.T) {
	failed := errors.New("failed")
	bothClocks(t, func(t *testing.T, c runner) {
		run(t, c, func(ctx context.Context) {
			if err := c.Foreign(ctx, func() error { return failed }); err != failed || c.Now() != 0 {
				t.Errorf("Foreign = %v at %v", err, c.Now())
			}
			ctx, cancel := c.WithCancel(ctx)
			cancel(nil)
			if err := c.Foreign(ctx, func() error { return failed }); err != context.Canceled {
				t.Errorf("Foreign with an ended context = %v", err)
			}
		})
	})
}

// TestPlainVirtualInBubble: it works, but the bubble's time stands still.
func TestPlainVirtualInBubble(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		start := time.Now()
		produceAndWork(t, NewVirtual(1), true)
		if d := time.Since(start); d != 0 {
			t.Errorf("the bubble's time moved by %v", d)
		}
	})
}

// TestBubbleChangesNothing: the same seed gives the same history in step with a bubble.
func TestBubbleChangesNothing(t *testing.T) {
	want := produceAndWork(t, NewVirtual(5), true).hash
	synctest.Test(t, func(t *testing.T) {
		v := NewVirtual(5)
		v.InBubble(synctest.Wait)
		if got := produceAndWork(t, v, true).hash; got != want {
			t.Errorf("hash %x in a bubble, %x outside", got, want)
		}
	})
}
