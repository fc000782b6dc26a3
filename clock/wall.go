// SPDX-License-Identifier: Apache-2.0

package clock

import (
	"context"
	"errors"
	"math/rand/v2"
	"runtime"
	"sync"
	"time"
)

// closeGrace is how long Wall.Close waits for code that blocks outside of the clock.
const closeGrace = 5 * time.Second

// Wall is a Clock of real time: tasks are goroutines, time is the monotonic clock.
// It is safe for concurrent use. In a testing/synctest bubble it keeps exact time.
//
// Kill and Freeze act at a task's next clock call, or Check: a task that computes, or
// blocks elsewhere, lives on until then.
type Wall struct {
	seed    uint64
	base    time.Time
	waiters sync.Pool
	engine  *wallMailbox

	mu      sync.Mutex
	changed chan struct{} // closed and replaced by every kill and thaw
	run     *wallRun      // in progress
	live    int           // goroutines of tasks and mailboxes
	closed  bool
	quiet   chan struct{} // closed when closed and live is zero
}

var _ Clock = (*Wall)(nil)

// NewWall returns a clock whose instant zero is now. The seed is for Rand alone.
func NewWall(seed uint64) *Wall { return NewWallAt(seed, time.Now()) }

// NewWallAt returns a clock with the instant zero of another one, from its Base: several
// processes of one host stamp the same offsets. A base that has been sent through text
// or as a number has lost its monotonic reading; it is placed on this process's monotonic
// clock once, here, so a later step of the wall clock changes nothing.
func NewWallAt(seed uint64, base time.Time) *Wall {
	if base == base.Round(0) {
		now := time.Now()
		base = now.Add(base.Sub(now.Round(0)))
	}
	w := &Wall{seed: seed, base: base, changed: make(chan struct{}), quiet: make(chan struct{})}
	w.waiters.New = func() any { return newWaiter() }
	w.engine = &wallMailbox{w: w}
	return w
}

// Base is instant zero, with a monotonic reading.
func (w *Wall) Base() time.Time { return w.base }

// Now implements Clock.
func (w *Wall) Now() time.Duration { return time.Since(w.base) }

// Rand implements Clock.
func (w *Wall) Rand(name string) *rand.Rand { return rand.New(stream(w.seed, name)) }

// wallRun is one call of Run. The clock's mu guards err.
type wallRun struct {
	main *wallTask
	over chan struct{} // closed when err is set
	err  error

	returned bool // by fn; written before main is over
}

// errGoexit ends a run in which code called runtime.Goexit by itself, as testing's
// FailNow does.
var errGoexit = errors.New("goexit")

// Run runs fn as the main task on a goroutine of its own until it returns, then kills the
// tasks that are left; it does not wait for them, Close does. It may be called again
// afterwards. It returns nil, an error for which errors.Is says ErrKilled, or the
// *PanicError of the first task or callback that panicked, without waiting for fn.
//
// A runtime.Goexit in a task that is not dead, such as testing's FailNow, ends the
// goroutine that called Run.
func (w *Wall) Run(name string, fn func(context.Context)) error {
	r := &wallRun{over: make(chan struct{})}
	r.main = w.newTask(context.Background(), nil, name)
	w.begin(r)
	w.start(r.main, func(ctx context.Context) {
		fn(ctx)
		r.returned = true
		r.main.Kill() // before its context ends: what is left is not to see that
	})
	select {
	case <-r.main.over:
	case <-r.over:
	}
	err := w.finish(r)
	if errors.Is(err, errGoexit) {
		runtime.Goexit()
	}
	return err
}

func (w *Wall) begin(r *wallRun) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.closed {
		panic(closedRun)
	}
	if w.run != nil {
		panic(nestedRun)
	}
	w.run = r
}

func (w *Wall) finish(r *wallRun) error {
	r.main.Kill()
	w.mu.Lock()
	defer w.mu.Unlock()
	w.run = nil
	if r.err == nil && !r.returned {
		return mainKilled(r.main.name)
	}
	return r.err
}

// Close waits until no code of the tasks and callbacks that Run left behind runs any
// more, but at most five seconds for code that blocks outside of the clock. No callback
// begins afterwards.
func (w *Wall) Close() {
	if w.shut() {
		return
	}
	grace := time.NewTimer(closeGrace)
	defer grace.Stop()
	select {
	case <-w.quiet:
	case <-grace.C:
	}
}

// shut lets nothing start any more and reports whether nothing is left running.
func (w *Wall) shut() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.closed = true
	return w.live == 0
}

// spawn runs fn on a goroutine that Close waits for; not after Close.
func (w *Wall) spawn(fn func()) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.closed {
		return
	}
	w.live++
	go func() {
		defer w.leave()
		fn()
	}()
}

func (w *Wall) leave() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.live--
	if w.closed && w.live == 0 {
		close(w.quiet)
	}
}

// end ends the run because code of t, or of the engine, panicked or called Goexit. What
// the dead do is of no interest, and there may be no run any more.
func (w *Wall) end(t *wallTask, why error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if r := w.run; r != nil && r.err == nil && !t.isDead() {
		r.err = why
		close(r.over)
	}
}

// broadcast makes held code look again whether it may go on.
func (w *Wall) broadcast() {
	w.mu.Lock()
	defer w.mu.Unlock()
	close(w.changed)
	w.changed = make(chan struct{})
}

func (w *Wall) nextChange() <-chan struct{} {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.changed
}
