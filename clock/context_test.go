// SPDX-License-Identifier: Apache-2.0

package clock

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"
)

type key struct{}

// TestCancelIsSynchronous: whatever lies between, an end has reached every context below
// and every wait before cancel returns, with its cause.
func TestCancelIsSynchronous(t *testing.T) {
	tests := []struct {
		name   string
		derive func(c Clock, ctx context.Context) context.Context
	}{
		{"itself", func(_ Clock, ctx context.Context) context.Context { return ctx }},
		{"value", func(_ Clock, ctx context.Context) context.Context {
			return context.WithValue(ctx, key{}, 1)
		}},
		{"clock's below value", func(c Clock, ctx context.Context) context.Context {
			under, _ := c.WithCancel(context.WithValue(ctx, key{}, 1))
			return under
		}},
		{"clock's timeout", func(c Clock, ctx context.Context) context.Context {
			under, _ := c.WithTimeout(ctx, time.Hour)
			return under
		}},
		{"package context's", func(_ Clock, ctx context.Context) context.Context {
			under, cancel := context.WithCancel(ctx)
			_ = cancel
			return under
		}},
		{"package context's below value", func(_ Clock, ctx context.Context) context.Context {
			under, cancel := context.WithCancel(context.WithValue(ctx, key{}, 1))
			_ = cancel
			return under
		}},
		{"package context's timeout below value below clock's", func(c Clock, ctx context.Context) context.Context {
			ctx, _ = c.WithCancel(ctx)
			under, cancel := context.WithTimeout(context.WithValue(ctx, key{}, 1), time.Hour)
			_ = cancel
			return under
		}},
	}
	cause := errors.New("cause")
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			bothClocks(t, func(t *testing.T, c runner) {
				run(t, c, func(ctx context.Context) {
					ctx, cancel := c.WithCancel(ctx)
					under := test.derive(c, ctx)
					if under.Err() != nil || context.Cause(under) != nil {
						t.Error("ended too early")
					}
					cancel(cause)
					cancel(errors.New("too late"))
					select {
					case <-under.Done():
					default:
						t.Error("Done is open after cancel")
					}
					if under.Err() != context.Canceled || context.Cause(under) != cause {
						t.Errorf("Err %v, Cause %v", under.Err(), context.Cause(under))
					}
				})
			})
		})
	}
}

// TestManyWaitersUnderOneContext: all are woken.
func TestManyWaitersUnderOneContext(t *testing.T) {
	bothClocks(t, func(t *testing.T, c runner) {
		run(t, c, func(ctx context.Context) {
			under, cancel := c.WithTimeout(ctx, time.Second)
			defer cancel()
			gate := c.NewGate("never")
			waits := []func(context.Context) error{
				func(ctx context.Context) error { return c.Sleep(ctx, time.Hour) },
				func(ctx context.Context) error { return gate.Wait(ctx, 0) },
				func(ctx context.Context) error { return gate.WaitFor(ctx, 0, time.Hour) },
				func(ctx context.Context) error { return c.Go(ctx, "x", nap(c)).Join(ctx) },
				func(ctx context.Context) error { return c.Sleep(context.WithValue(ctx, key{}, 1), time.Hour) },
			}
			errs, tasks := make([]error, len(waits)), make([]Task, len(waits))
			for i, wait := range waits {
				tasks[i] = c.Go(ctx, "waiter", func(context.Context) { errs[i] = wait(under) })
			}
			join(ctx, tasks...)
			for i, err := range errs {
				if !errors.Is(err, context.DeadlineExceeded) {
					t.Errorf("wait %d returned %v, want DeadlineExceeded", i, err)
				}
			}
		})
	})
}

func nap(c Clock) func(context.Context) {
	return func(ctx context.Context) { c.Sleep(ctx, time.Hour) }
}

// TestTimeout: of two limits the nearer counts; an ended context ends what is derived from
// it, and every wait under it at once.
func TestTimeout(t *testing.T) {
	bothClocks(t, func(t *testing.T, c runner) {
		run(t, c, func(ctx context.Context) {
			outer, cancel := c.WithTimeout(ctx, 2*time.Second)
			defer cancel()
			inner, cancelInner := c.WithTimeout(outer, time.Hour)
			defer cancelInner()
			if err := c.Sleep(inner, time.Minute); err != context.DeadlineExceeded || c.Now() != 2*time.Second {
				t.Errorf("Sleep = %v at %v, want DeadlineExceeded at 2s", err, c.Now())
			}
			late, cancelLate := c.WithTimeout(inner, time.Second)
			defer cancelLate()
			gate := c.NewGate("woken")
			gate.Wake()
			for what, err := range map[string]error{
				"Err":   late.Err(),
				"Sleep": c.Sleep(late, time.Second),
				"Wait":  gate.Wait(late, 0),
				"For":   gate.WaitFor(late, 0, time.Second),
				"Join":  c.Go(ctx, "x", func(context.Context) {}).Join(late),
			} {
				if err != context.DeadlineExceeded {
					t.Errorf("%s = %v", what, err)
				}
			}
			if c.Now() != 2*time.Second {
				t.Errorf("time moved to %v", c.Now())
			}
		})
	})
}

// TestDeadlineIsVirtual: it counts from 2000-01-01, far from the real time.
func TestDeadlineIsVirtual(t *testing.T) {
	v := NewVirtual(1)
	defer v.Close()
	run(t, v, func(ctx context.Context) {
		if _, ok := ctx.Deadline(); ok {
			t.Error("the main task has a deadline")
		}
		v.Sleep(ctx, time.Minute)
		ctx, cancel := v.WithTimeout(ctx, time.Second)
		defer cancel()
		later, cancelLater := v.WithTimeout(ctx, time.Hour)
		defer cancelLater()
		for _, ctx := range []context.Context{ctx, later} {
			got, ok := ctx.Deadline()
			if want := time.Date(2000, 1, 1, 0, 1, 1, 0, time.UTC); !ok || !got.Equal(want) {
				t.Errorf("Deadline = %v, want %v", got, want)
			}
		}
	})
}

// TestForeignContexts: a context that cannot end a wait is refused with advice.
func TestForeignContexts(t *testing.T) {
	derived := func(ctx context.Context) context.Context {
		ctx, cancel := context.WithCancel(ctx)
		_ = cancel
		return ctx
	}
	background := func(context.Context) context.Context { return context.Background() }
	calls := map[string]func(v *Virtual, ctx context.Context){
		"Sleep":      func(v *Virtual, ctx context.Context) { v.Sleep(ctx, 1) },
		"Wait":       func(v *Virtual, ctx context.Context) { v.NewGate("g").Wait(ctx, 0) },
		"WaitFor":    func(v *Virtual, ctx context.Context) { v.NewGate("g").WaitFor(ctx, 0, 1) },
		"Go":         func(v *Virtual, ctx context.Context) { v.Go(ctx, "x", nap(v)) },
		"WithCancel": func(v *Virtual, ctx context.Context) { v.WithCancel(ctx) },
		"Foreign":    func(v *Virtual, ctx context.Context) { v.Foreign(ctx, func() error { return nil }) },
	}
	for name, call := range calls {
		for advice, derive := range map[string]func(context.Context) context.Context{
			"use the clock's WithCancel or WithTimeout": derived,
			"pass on the one given to Run or Go":        background,
		} {
			v := NewVirtual(1)
			err := v.Run("main", func(ctx context.Context) { call(v, derive(ctx)) })
			v.Close()
			if err == nil || !strings.Contains(err.Error(), advice) {
				t.Errorf("%s: %v, want advice to %s", name, err, advice)
			}
		}
	}
}

// TestContextOfAnotherClock is refused.
func TestContextOfAnotherClock(t *testing.T) {
	bothClocks(t, func(t *testing.T, c runner) {
		other := NewVirtual(1)
		defer other.Close()
		run(t, c, func(ctx context.Context) {
			err := other.Run("other", func(context.Context) { other.Sleep(ctx, time.Second) })
			if err == nil || !strings.Contains(err.Error(), foreignContext) {
				t.Errorf("Run = %v", err)
			}
		})
	})
}

// TestCheckPasses: a living task passes with any context that leads to it, and a context
// without a task is nobody's.
func TestCheckPasses(t *testing.T) {
	bothClocks(t, func(t *testing.T, c runner) {
		run(t, c, func(ctx context.Context) {
			c.Go(ctx, "dead", nap(c)).Kill()
			under, cancel := context.WithCancel(ctx)
			cancel()
			c.Check(ctx)
			c.Check(under)
			c.Check(context.Background())
		})
	})
}
