// SPDX-License-Identifier: Apache-2.0

package clock

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"
)

// journal is a log with instants, for tasks of either clock.
type journal struct {
	c     Clock
	mu    sync.Mutex
	lines []string
}

func (j *journal) note(what string) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.lines = append(j.lines, fmt.Sprint(j.c.Now(), " ", what))
}

func (j *journal) check(t *testing.T, want ...string) {
	t.Helper()
	j.mu.Lock()
	defer j.mu.Unlock()
	if !slices.Equal(j.lines, want) {
		t.Errorf("journal %q, want %q", j.lines, want)
	}
}

// TestFreeze: time goes on while a tree is frozen, waits run out and timers come due, but
// its code runs only after the thaw, callbacks in the order in which they came due.
func TestFreeze(t *testing.T) {
	bothClocks(t, func(t *testing.T, c runner) {
		j := &journal{c: c}
		run(t, c, func(ctx context.Context) {
			process := c.Go(ctx, "process", func(ctx context.Context) {
				c.At(ctx, 3*time.Second, func() { j.note("timer 3") })
				c.At(ctx, 4*time.Second, func() { j.note("timer 4") })
				under, cancel := c.WithTimeout(ctx, 5*time.Second)
				defer cancel()
				c.Go(under, "thread", func(ctx context.Context) {
					j.note(fmt.Sprint("gate: ", c.NewGate("never").Wait(ctx, 0)))
				}).Join(ctx)
				j.note("joined")
			})
			c.Sleep(ctx, 2*time.Second)
			process.Freeze()
			process.Freeze() // does not count up
			c.Sleep(ctx, 1500*time.Millisecond)
			c.Sleep(ctx, 6500*time.Millisecond)
			process.Thaw()
			process.Join(ctx)
			c.Sleep(ctx, time.Second)
		})
		if _, ok := c.(*Wall); ok {
			slices.Sort(j.lines) // callbacks run beside the owner's code
			j.check(t, "10s gate: context deadline exceeded", "10s joined", "10s timer 3", "10s timer 4")
			return
		}
		j.check(t, "10s timer 3", "10s timer 4", "10s gate: context deadline exceeded", "10s joined")
	})
}

// TestFreezeNests: a task is held until both it and the task above are thawed.
func TestFreezeNests(t *testing.T) {
	bothClocks(t, func(t *testing.T, c runner) {
		j := &journal{c: c}
		run(t, c, func(ctx context.Context) {
			inner := make(chan Task, 1)
			outer := c.Go(ctx, "outer", func(ctx context.Context) {
				task := c.Go(ctx, "inner", func(ctx context.Context) {
					c.Sleep(ctx, 2*time.Second)
					j.note("inner")
				})
				inner <- task
				task.Join(ctx)
			})
			c.Sleep(ctx, time.Second)
			in := <-inner
			outer.Freeze()
			in.Freeze()
			c.Sleep(ctx, 4*time.Second)
			outer.Thaw()
			c.Sleep(ctx, time.Second)
			in.Thaw()
			outer.Join(ctx)
		})
		j.check(t, "6s inner")
	})
}

// TestFreezeOneself: on virtual time Freeze of the running task holds it on the spot; on
// Wall at its next clock call. Killed while held, it never goes on.
func TestFreezeOneself(t *testing.T) {
	for _, kill := range []bool{false, true} {
		bothClocks(t, func(t *testing.T, c runner) {
			j := &journal{c: c}
			run(t, c, func(ctx context.Context) {
				self := make(chan Task, 1)
				task := c.Go(ctx, "task", func(ctx context.Context) {
					c.Sleep(ctx, time.Second)
					(<-self).Freeze()
					c.Check(ctx)
					j.note("went on")
				})
				self <- task
				c.Sleep(ctx, 10*time.Second)
				if kill {
					task.Kill()
				}
				task.Thaw()
				task.Join(ctx)
			})
			if kill {
				j.check(t)
				return
			}
			j.check(t, "10s went on")
		})
	}
}

// TestHeldComesFirst: what was held is not overtaken by what comes after the thaw.
func TestHeldComesFirst(t *testing.T) {
	for seed := range uint64(50) {
		v := NewVirtual(seed)
		j := &journal{c: v}
		run(t, v, func(ctx context.Context) {
			session := ctx
			task := v.Go(ctx, "task", func(ctx context.Context) {
				session = ctx
				v.Sleep(ctx, time.Second)
				j.note("resumed")
			})
			v.Sleep(ctx, 0)
			v.Sleep(ctx, time.Millisecond)
			v.At(session, 2*time.Second, func() { j.note("timer") })
			task.Freeze()
			v.Post(session, func() { j.note("posted") })
			v.Sleep(ctx, time.Minute-time.Millisecond)
			task.Thaw()
			v.Post(session, func() { j.note("new") })
			v.Sleep(ctx, time.Second)
		})
		v.Close()
		j.check(t, "1m0s posted", "1m0s resumed", "1m0s timer", "1m0s new")
	}
}

// TestFrozenForever: what waits on a frozen task is a deadlock, named as such.
func TestFrozenForever(t *testing.T) {
	v := NewVirtual(1)
	defer v.Close()
	err := v.Run("main", func(ctx context.Context) {
		task := v.Go(ctx, "worker", func(ctx context.Context) { v.Sleep(ctx, time.Second) })
		task.Freeze()
		task.Join(ctx)
	})
	const want = "clock: deadlock at 0s:\n\tmain joins task worker\n\tworker has not started (frozen)"
	if !errors.Is(err, ErrDeadlock) || err.Error() != want {
		t.Errorf("Run = %v, want %v", err, want)
	}
}
