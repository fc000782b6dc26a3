// SPDX-License-Identifier: Apache-2.0

package clock

import (
	"context"
	"errors"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

// TestVirtualKill: whatever the victim does, no code of it runs after Kill, and Close
// unwinds it, whose deferred clock calls do not get through.
func TestVirtualKill(t *testing.T) {
	tests := []struct {
		name   string
		victim func(v *Virtual, log func(string)) func(context.Context)
	}{
		{"sleeps", func(v *Virtual, log func(string)) func(context.Context) {
			return func(ctx context.Context) {
				v.Sleep(ctx, time.Hour)
				log("went on")
			}
		}},
		{"recovers in a loop", func(v *Virtual, log func(string)) func(context.Context) {
			return func(ctx context.Context) {
				for {
					func() {
						defer func() {
							if recover() != nil {
								log("recovered")
							}
						}()
						v.Sleep(ctx, time.Hour)
						log("went on")
					}()
				}
			}
		}},
		{"defers a clock call", func(v *Virtual, log func(string)) func(context.Context) {
			return func(ctx context.Context) {
				defer func() {
					v.Check(ctx)
					log("reached the engine")
				}()
				defer func() {
					v.Sleep(ctx, 0)
					log("slept")
				}()
				v.NewGate("never").Wait(ctx, 0)
			}
		}},
		{"tries again in a deferred call", func(v *Virtual, log func(string)) func(context.Context) {
			try := func(ctx context.Context) {
				defer func() { recover() }()
				v.Sleep(ctx, time.Second)
				log("slept")
			}
			return func(ctx context.Context) {
				defer func() {
					for {
						try(ctx)
					}
				}()
				v.Sleep(ctx, time.Hour)
			}
		}},
		{"panics while it unwinds", func(v *Virtual, log func(string)) func(context.Context) {
			return func(ctx context.Context) {
				defer panic("unwinding")
				v.Sleep(ctx, time.Hour)
				log("went on")
			}
		}},
		{"has not started", func(v *Virtual, log func(string)) func(context.Context) {
			return func(context.Context) { log("started") }
		}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			v := NewVirtual(1)
			run(t, v, func(ctx context.Context) {
				log := func(what string) { t.Error("the dead task", what) }
				task := v.Go(ctx, "victim", test.victim(v, log))
				if test.name != "has not started" {
					v.Sleep(ctx, time.Minute)
				}
				task.Kill()
				task.Kill() // a no-op
				if task.Alive() || task.Join(ctx) != nil {
					t.Error("a killed task is over")
				}
				v.Sleep(ctx, 2*time.Hour)
			})
			v.Close()
		})
	}
}

// TestCloseUnwindsTheDead: deferred calls of killed tasks wait for Close, when the history
// is closed, and release what they hold; a mutex stays locked until then.
func TestCloseUnwindsTheDead(t *testing.T) {
	v := NewVirtual(1)
	var mu sync.Mutex
	unwound := 0
	run(t, v, func(ctx context.Context) {
		for range 3 {
			v.Go(ctx, "bystander", func(ctx context.Context) {
				defer func() { unwound++ }()
				v.Sleep(ctx, time.Hour)
			})
		}
		holder := v.Go(ctx, "holder", func(ctx context.Context) {
			mu.Lock()
			defer mu.Unlock()
			v.Sleep(ctx, time.Hour)
		})
		v.Sleep(ctx, time.Second)
		holder.Kill()
	})
	if unwound != 0 || mu.TryLock() {
		t.Error("deferred calls ran before Close")
	}
	v.Close()
	if unwound != 3 || !mu.TryLock() {
		t.Errorf("Close unwound %d of 3 bystanders, or left the mutex locked", unwound)
	}
	v.Close() // a no-op
}

// TestKillTakesTheTree: what the killed task started goes with it, also what a task that
// has returned left behind, and nothing else.
func TestKillTakesTheTree(t *testing.T) {
	bothClocks(t, func(t *testing.T, c runner) {
		var mu sync.Mutex
		ticks := map[string]int{}
		tick := func(name string) func(context.Context) {
			return func(ctx context.Context) {
				for c.Sleep(ctx, time.Second) == nil {
					mu.Lock()
					ticks[name]++
					mu.Unlock()
				}
			}
		}
		run(t, c, func(ctx context.Context) {
			process := c.Go(ctx, "process", func(ctx context.Context) {
				c.Go(ctx, "thread", func(ctx context.Context) {
					c.Go(ctx, "grandson", tick("grandson"))
					tick("thread")(ctx)
				})
				c.Sleep(ctx, time.Hour)
			})
			c.Go(ctx, "other", tick("other"))
			c.Sleep(ctx, 2500*time.Millisecond)
			process.Kill()
			c.Sleep(ctx, 2*time.Second)
			mu.Lock()
			defer mu.Unlock()
			if ticks["thread"] != 2 || ticks["grandson"] != 2 || ticks["other"] != 4 {
				t.Errorf("ticks %v, want 2 of each in the tree and 4 of the other", ticks)
			}
		})
	})
}

// TestReturnCancels: what a returned task started is asked to stop, and may still be
// killed through it.
func TestReturnCancels(t *testing.T) {
	bothClocks(t, func(t *testing.T, c runner) {
		run(t, c, func(ctx context.Context) {
			errs, gate := make([]error, 2), c.NewGate("never")
			var stays Task
			parent := c.Go(ctx, "parent", func(ctx context.Context) {
				stays = c.Go(ctx, "child", func(ctx context.Context) {
					errs[0] = gate.Wait(ctx, 0)
					errs[1] = c.Sleep(ctx, time.Second)
				})
				c.Sleep(ctx, time.Second)
			})
			parent.Join(ctx)
			stays.Join(ctx)
			if !errors.Is(errs[0], context.Canceled) || !errors.Is(errs[1], context.Canceled) {
				t.Errorf("the child's waits returned %v, want context.Canceled", errs)
			}
		})
	})
}

// TestKillOneself: Kill of the running task, or of a task above it, does not return on
// virtual time; on Wall the task ends at its next clock call.
func TestKillOneself(t *testing.T) {
	bothClocks(t, func(t *testing.T, c runner) {
		run(t, c, func(ctx context.Context) {
			self := make(chan Task, 1)
			process := c.Go(ctx, "process", func(ctx context.Context) {
				inner := c.Go(ctx, "inner", func(ctx context.Context) {
					(<-self).Kill()
					c.Check(ctx)
					t.Error("went on after Kill")
				})
				inner.Join(ctx)
				t.Error("the process went on")
			})
			self <- process
			if err := process.Join(ctx); err != nil || process.Alive() {
				t.Errorf("Join = %v, alive %v", err, process.Alive())
			}
		})
	})
}

func TestKillMain(t *testing.T) {
	bothClocks(t, func(t *testing.T, c runner) {
		main := make(chan Task, 1)
		err := c.Run("main", func(ctx context.Context) {
			self := c.Go(ctx, "child", func(ctx context.Context) { c.Sleep(ctx, time.Second) })
			main <- self
			c.Go(ctx, "killer", func(ctx context.Context) { killRoot(self) })
			c.Sleep(ctx, time.Hour)
		})
		if !errors.Is(err, ErrKilled) {
			t.Errorf("Run = %v, want ErrKilled", err)
		}
	})
}

// killRoot kills the task above: only a package-internal test gets hold of main.
func killRoot(task Task) {
	switch task := task.(type) {
	case *virtualTask:
		task.parent.Kill()
	case *wallTask:
		task.parent.Kill()
	}
}

// TestKilledContext: a living task that waits under a dead task's context is woken.
func TestKilledContext(t *testing.T) {
	bothClocks(t, func(t *testing.T, c runner) {
		run(t, c, func(ctx context.Context) {
			session := make(chan context.Context, 1)
			victim := c.Go(ctx, "victim", func(ctx context.Context) {
				session <- ctx
				c.Sleep(ctx, time.Hour)
			})
			c.Sleep(ctx, time.Second)
			under := <-session
			victim.Kill()
			if !errors.Is(under.Err(), context.Canceled) || !errors.Is(context.Cause(under), ErrKilled) {
				t.Errorf("Err %v, Cause %v", under.Err(), context.Cause(under))
			}
		})
	})
}

// TestWakeOfTheDead: a wake is for all who wait, so one that had been woken and dies
// before it acts takes nothing away from the others.
func TestWakeOfTheDead(t *testing.T) {
	bothClocks(t, func(t *testing.T, c runner) {
		run(t, c, func(ctx context.Context) {
			gate := c.NewGate("message")
			wait := func(ctx context.Context) { gate.Wait(ctx, 0) }
			dead, living := c.Go(ctx, "dead", wait), c.Go(ctx, "living", wait)
			c.Sleep(ctx, time.Second)
			gate.Wake()
			dead.Kill()
			if err := living.Join(ctx); err != nil {
				t.Error(err)
			}
		})
	})
}

// TestWallKill: the victim lives on until its next clock call, then runs its deferred
// calls with operations refused.
func TestWallKill(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := NewWall(1)
		defer w.Close()
		var log []string
		run(t, w, func(ctx context.Context) {
			computes := make(chan struct{})
			victim := w.Go(ctx, "victim", func(ctx context.Context) {
				defer func() { log = append(log, "deferred") }()
				defer func() {
					w.Check(ctx)
					log = append(log, "passed Check")
				}()
				<-computes
				log = append(log, "computed")
				w.Sleep(ctx, time.Second)
				log = append(log, "slept")
			})
			w.Sleep(ctx, time.Second)
			victim.Kill()
			if victim.Alive() {
				t.Error("alive after Kill")
			}
			close(computes)
			victim.Join(ctx)
		})
		if want := []string{"computed", "deferred"}; !slices.Equal(log, want) {
			t.Errorf("log %v, want %v", log, want)
		}
	})
}

// TestDeadContextElsewhere: a living task that operates in the name of a dead one is a
// mistake, and is told so.
func TestDeadContextElsewhere(t *testing.T) {
	calls := map[string]func(v *Virtual, ctx context.Context){
		"Check": func(v *Virtual, ctx context.Context) { v.Check(ctx) },
		"Go":    func(v *Virtual, ctx context.Context) { v.Go(ctx, "child", func(context.Context) {}) },
	}
	for name, call := range calls {
		v := NewVirtual(1)
		err := v.Run("main", func(ctx context.Context) {
			var session context.Context
			victim := v.Go(ctx, "victim", func(ctx context.Context) {
				session = ctx
				v.Sleep(ctx, time.Hour)
			})
			v.Sleep(ctx, time.Second)
			call(v, session)
			victim.Kill()
			v.Post(session, func() { t.Error("called for a dead owner") })
			if v.At(session, 0, func() { t.Error("called for a dead owner") }).Stop() {
				t.Error("Stop of a dropped timer reports true")
			}
			v.Sleep(ctx, time.Second)
			call(v, session)
		})
		v.Close()
		if p := new(PanicError); !errors.As(err, &p) || p.Value != "clock: the context of the dead task victim is used by other code" {
			t.Errorf("%s: Run = %v", name, err)
		}
	}
}
