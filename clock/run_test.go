// SPDX-License-Identifier: Apache-2.0

package clock

import (
	"context"
	"errors"
	"math"
	"runtime"
	"strings"
	"testing"
	"time"
)

func TestTimeMoves(t *testing.T) {
	bothClocks(t, func(t *testing.T, c runner) {
		j := &journal{c: c}
		run(t, c, func(ctx context.Context) {
			c.Sleep(ctx, 30*time.Second)
			j.note("slept")
			c.Sleep(ctx, -time.Second)
			j.note("negative")
			c.At(ctx, c.Now()+time.Second, func() { j.note("timer") })
			c.Go(ctx, "task", func(ctx context.Context) { c.Sleep(ctx, 2*time.Second) }).Join(ctx)
			j.note("joined")
		})
		j.check(t, "30s slept", "30s negative", "31s timer", "32s joined")
	})
}

// TestForEver: the longest duration does not wrap around.
func TestForEver(t *testing.T) {
	v := NewVirtual(1)
	defer v.Close()
	run(t, v, func(ctx context.Context) {
		v.Sleep(ctx, time.Second)
		under, cancel := v.WithTimeout(ctx, math.MaxInt64)
		defer cancel()
		v.Go(ctx, "killer", func(ctx context.Context) {
			v.Sleep(ctx, time.Hour)
			cancel()
		})
		if err := v.Sleep(under, math.MaxInt64); err != context.Canceled || v.Now() != time.Hour+time.Second {
			t.Errorf("Sleep = %v at %v", err, v.Now())
		}
	})
}

// TestRunAgain: time goes on, and what the first run left behind is gone.
func TestRunAgain(t *testing.T) {
	bothClocks(t, func(t *testing.T, c runner) {
		for i := range 3 {
			run(t, c, func(ctx context.Context) {
				c.Go(ctx, "left over", func(ctx context.Context) {
					c.Sleep(ctx, 1500*time.Millisecond)
					t.Error("a task outlived its run")
				})
				c.Sleep(ctx, time.Second)
				if want := time.Duration(i+1) * time.Second; c.Now() != want {
					t.Errorf("Now = %v, want %v", c.Now(), want)
				}
			})
		}
	})
}

func TestDeadlockNamesWaits(t *testing.T) {
	v := NewVirtual(1)
	defer v.Close()
	err := v.Run("main", func(ctx context.Context) {
		gate := v.NewGate("orders/0")
		worker := v.Go(ctx, "worker", func(ctx context.Context) {
			v.Go(ctx, "heartbeat", func(ctx context.Context) { v.NewGate("beat").Wait(ctx, 0) })
			v.Go(ctx, "done", func(context.Context) {})
			gate.Wait(ctx, gate.Ticket())
		})
		v.Sleep(ctx, time.Second)
		worker.Join(ctx)
	})
	const want = "clock: deadlock at 1s:\n\tmain joins task worker\n\tworker waits on gate orders/0\n\theartbeat waits on gate beat"
	if !errors.Is(err, ErrDeadlock) || err.Error() != want {
		t.Errorf("Run = %v\nwant %s", err, want)
	}
}

// TestLivelock: whoever goes round at one instant, by the fast path or not.
func TestLivelock(t *testing.T) {
	tests := map[string]func(v *Virtual, ctx context.Context){
		"sleep zero": func(v *Virtual, ctx context.Context) {
			for {
				v.Sleep(ctx, 0)
			}
		},
		"poll zero": func(v *Virtual, ctx context.Context) {
			for gate := v.NewGate("never"); ; {
				gate.WaitFor(ctx, gate.Ticket(), 0)
			}
		},
		"callbacks": func(v *Virtual, ctx context.Context) {
			var again func()
			again = func() { v.Post(ctx, again) }
			again()
			v.Sleep(ctx, time.Second)
		},
		"two tasks": func(v *Virtual, ctx context.Context) {
			gate := v.NewGate("ball")
			play := func(ctx context.Context) {
				for {
					ticket := gate.Ticket()
					gate.Wake()
					gate.Wait(ctx, ticket)
					v.Sleep(ctx, 0)
				}
			}
			v.Go(ctx, "player", play)
			play(ctx)
		},
	}
	for name, program := range tests {
		for _, noSkip := range []bool{false, true} {
			v := NewVirtual(1)
			v.limit, v.noSkip = 1000, noSkip
			err := v.Run("main", func(ctx context.Context) {
				v.Sleep(ctx, time.Second)
				program(v, ctx)
			})
			v.Close()
			if !errors.Is(err, ErrLivelock) || !strings.HasPrefix(err.Error(), "clock: livelock at 1s:\n\tmain ") {
				t.Errorf("%s: Run = %v", name, err)
			}
		}
	}
}

// TestNoLivelock: many events are none, if time moves.
func TestNoLivelock(t *testing.T) {
	v := NewVirtual(1)
	defer v.Close()
	v.limit = 10
	run(t, v, func(ctx context.Context) {
		for range 100 {
			v.Sleep(ctx, 1)
		}
	})
}

// TestReturnedTasksAreForgotten: a run may start any number of them.
func TestReturnedTasksAreForgotten(t *testing.T) {
	v := NewVirtual(1)
	defer v.Close()
	run(t, v, func(ctx context.Context) {
		for range 10 {
			v.Go(ctx, "parent", func(ctx context.Context) {
				v.Go(ctx, "child", func(context.Context) {})
			})
		}
		v.Go(ctx, "killed", func(context.Context) {}).Kill()
		v.Sleep(ctx, time.Second)
		if !v.main.sons.empty() || v.main.ctx.children.first != nil {
			t.Error("ended tasks are still in the tree")
		}
	})
}

// TestPanic: the run fails with the stack of the panic, whoever panicked.
func TestPanic(t *testing.T) {
	broken := errors.New("broken")
	tests := []struct {
		task    string
		program func(c Clock, ctx context.Context)
	}{
		{"main", func(Clock, context.Context) { explode(broken) }},
		{"worker", func(c Clock, ctx context.Context) {
			c.Go(ctx, "worker", func(context.Context) { explode(broken) })
		}},
		{"main", func(c Clock, ctx context.Context) {
			c.At(ctx, time.Second, func() { explode(broken) })
		}},
		{"engine", func(c Clock, ctx context.Context) {
			c.Post(context.Background(), func() { explode(broken) })
		}},
	}
	for _, test := range tests {
		bothClocks(t, func(t *testing.T, c runner) {
			err := c.Run("main", func(ctx context.Context) {
				test.program(c, ctx)
				c.Sleep(ctx, time.Hour)
			})
			p := new(PanicError)
			if !errors.As(err, &p) || p.Task != test.task || !errors.Is(err, broken) {
				t.Fatalf("Run = %v, want the panic of %s", err, test.task)
			}
			if !strings.Contains(string(p.Stack), "clock.explode") {
				t.Errorf("the stack does not show the place:\n%s", p.Stack)
			}
			if c.Now() >= time.Hour {
				t.Error("the run went on")
			}
		})
	}
}

func explode(err error) { panic(err) }

// TestGoexitEndsRun: FailNow in a task ends the goroutine that called Run, and its
// deferred Close works; so do later runs of other clocks.
func TestGoexitEndsRun(t *testing.T) {
	programs := map[string]func(c Clock, ctx context.Context){
		"main": func(Clock, context.Context) { runtime.Goexit() },
		"task": func(c Clock, ctx context.Context) {
			c.Go(ctx, "task", func(context.Context) { runtime.Goexit() }).Join(ctx)
			c.Sleep(ctx, time.Second)
		},
		"callback": func(c Clock, ctx context.Context) {
			c.Post(ctx, runtime.Goexit)
			c.Sleep(ctx, time.Second)
		},
	}
	for name, program := range programs {
		t.Run(name, func(t *testing.T) {
			bothClocks(t, func(t *testing.T, c runner) {
				over, returned := make(chan struct{}), false
				go func() {
					defer close(over)
					defer c.Close()
					c.Run("main", func(ctx context.Context) { program(c, ctx) })
					returned = true
				}()
				<-over
				if returned {
					t.Error("Run returned")
				}
			})
		})
	}
}

func TestRunRefuses(t *testing.T) {
	bothClocks(t, func(t *testing.T, c runner) {
		err := c.Run("main", func(context.Context) { c.Run("again", func(context.Context) {}) })
		if err == nil || !strings.Contains(err.Error(), nestedRun) {
			t.Errorf("nested Run = %v", err)
		}
		c.Close()
		defer func() {
			if p := recover(); p != closedRun {
				t.Errorf("Run after Close: %v", p)
			}
		}()
		c.Run("late", func(context.Context) {})
	})
}

// TestCloseLeavesNoGoroutine: the coroutines of killed tasks, and idle ones, have ended.
func TestCloseLeavesNoGoroutine(t *testing.T) {
	for range 20 {
		v := NewVirtual(1)
		run(t, v, func(ctx context.Context) {
			for range 10 {
				v.Go(ctx, "sleeper", nap(v))
			}
			v.Sleep(ctx, time.Second)
		})
		v.Close()
	}
	if n := strings.Count(string(allStacks()), "clock.(*coroutine).serve"); n != 0 {
		t.Errorf("%d coroutines are left", n)
	}
}
