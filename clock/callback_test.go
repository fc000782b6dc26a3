// SPDX-License-Identifier: Apache-2.0

package clock

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"
)

// TestOwnersOfCallbacks: what becomes of a timer of 2s and of what is posted soon after,
// when something happens to their owner at 1s, and another thing at 3s.
func TestOwnersOfCallbacks(t *testing.T) {
	nothing := func(Task) {}
	tests := []struct {
		name        string
		first, then func(owner Task)
		want        []string
	}{
		{"alive", nothing, nothing, []string{"2s timer", "2.1s posted 1", "2.1s posted 2"}},
		{"killed", Task.Kill, nothing, nil},
		{"frozen", Task.Freeze, nothing, nil},
		{"frozen and thawed", Task.Freeze, Task.Thaw, []string{"3s timer", "3s posted 1", "3s posted 2"}},
		{"frozen and killed", Task.Freeze, func(owner Task) { owner.Kill(); owner.Thaw() }, nil},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			bothClocks(t, func(t *testing.T, c runner) {
				j := &journal{c: c}
				run(t, c, func(ctx context.Context) {
					owner := c.Go(ctx, "owner", func(ctx context.Context) {
						c.At(ctx, 2*time.Second, func() { j.note("timer") })
						c.At(context.Background(), 2100*time.Millisecond, func() {
							c.Post(ctx, func() { j.note("posted 1") })
							c.Post(ctx, func() { j.note("posted 2") })
						})
						c.Sleep(ctx, time.Hour)
					})
					c.Sleep(ctx, time.Second)
					test.first(owner)
					c.Sleep(ctx, 2*time.Second)
					test.then(owner)
					c.Sleep(ctx, time.Second)
				})
				j.check(t, test.want...)
			})
		})
	}
}

// TestPostKeepsOrder: calls for one owner come in their order, calls for others between
// them, each after the code that posted has let go.
func TestPostKeepsOrder(t *testing.T) {
	orders := map[string]bool{}
	for seed := range uint64(50) {
		v := NewVirtual(seed)
		var order string
		run(t, v, func(ctx context.Context) {
			for _, letter := range []string{"a", "b", "c"} {
				v.Post(ctx, func() { order += letter })
				v.Post(context.Background(), func() { order += strings.ToUpper(letter) })
			}
			if order != "" {
				t.Error("called inside the poster")
			}
			v.Sleep(ctx, time.Second)
		})
		v.Close()
		if keep(order, "abc") != "abc" || keep(order, "ABC") != "ABC" {
			t.Fatalf("seed %d: order %s", seed, order)
		}
		orders[order] = true
	}
	if len(orders) < 10 {
		t.Errorf("50 seeds gave %d of 20 orders", len(orders))
	}
}

// keep leaves only these letters in s.
func keep(s, letters string) string {
	return strings.Map(func(r rune) rune {
		if strings.ContainsRune(letters, r) {
			return r
		}
		return -1
	}, s)
}

// TestTimerOfReturnedOwner: callbacks outlive the function of their owner, and end with
// the tree it belonged to.
func TestTimerOfReturnedOwner(t *testing.T) {
	for _, kill := range []bool{false, true} {
		bothClocks(t, func(t *testing.T, c runner) {
			j := &journal{c: c}
			run(t, c, func(ctx context.Context) {
				process := c.Go(ctx, "process", func(ctx context.Context) {
					c.Go(ctx, "short", func(ctx context.Context) {
						c.At(ctx, 2*time.Second, func() { j.note("timer") })
					})
					c.Sleep(ctx, time.Hour)
				})
				c.Sleep(ctx, time.Second)
				if kill {
					process.Kill()
				}
				c.Sleep(ctx, 2*time.Second)
			})
			if kill {
				j.check(t)
				return
			}
			j.check(t, "2s timer")
		})
	}
}

// TestCallbackKillsItsOwner: nothing of it runs afterwards, and the run goes on.
func TestCallbackKillsItsOwner(t *testing.T) {
	bothClocks(t, func(t *testing.T, c runner) {
		run(t, c, func(ctx context.Context) {
			owner := make(chan Task, 1)
			task := c.Go(ctx, "owner", func(ctx context.Context) {
				c.At(ctx, time.Second, func() {
					(<-owner).Kill()
					c.Check(ctx)
					t.Error("the callback went on")
				})
				c.Sleep(ctx, time.Hour)
			})
			owner <- task
			if err := task.Join(ctx); err != nil {
				t.Error(err)
			}
			c.Sleep(ctx, time.Second)
		})
	})
}

// TestStop: also a call that came due while its owner is frozen can be stopped.
func TestStop(t *testing.T) {
	bothClocks(t, func(t *testing.T, c runner) {
		j := &journal{c: c}
		run(t, c, func(ctx context.Context) {
			sessions := make(chan context.Context, 1)
			owner := c.Go(ctx, "owner", func(ctx context.Context) {
				sessions <- ctx
				c.Sleep(ctx, time.Hour)
			})
			c.Sleep(ctx, time.Second)
			session := <-sessions
			early := c.At(session, time.Hour, func() { j.note("stopped early") })
			if !early.Stop() {
				t.Error("Stop of a pending call must report true")
			}
			if early, ok := early.(*wallTimer); ok && early.real.Stop() {
				t.Error("the real timer still runs")
			}
			timer := c.At(session, 2*time.Second, func() { j.note("stopped while held") })
			owner.Freeze()
			c.Sleep(ctx, 2*time.Second)
			if !timer.Stop() || timer.Stop() {
				t.Error("Stop of a held call must report true, once")
			}
			owner.Thaw()
			dropped := c.At(session, 10*time.Second, func() { j.note("called for the dead") })
			owner.Kill()
			if dropped.Stop() {
				t.Error("Stop of a dropped call reports true")
			}
			called := c.At(ctx, 0, func() { j.note("overdue") })
			c.Sleep(ctx, time.Second)
			if called.Stop() {
				t.Error("Stop after the call reports true")
			}
		})
		j.check(t, "3s overdue")
	})
}

// TestCallbackMayNotWait: it is told so, and the panic names its owner.
func TestCallbackMayNotWait(t *testing.T) {
	v := NewVirtual(1)
	defer v.Close()
	err := v.Run("main", func(ctx context.Context) {
		v.Go(ctx, "owner", func(ctx context.Context) {
			v.Post(ctx, func() { v.Sleep(ctx, time.Second) })
		})
		v.Sleep(ctx, time.Hour)
	})
	p := new(PanicError)
	if !errors.As(err, &p) || p.Task != "owner" || !strings.Contains(fmt.Sprint(p.Value), "may not wait") {
		t.Errorf("Run = %v", err)
	}
}
