// SPDX-License-Identifier: Apache-2.0

package clock

import (
	"cmp"
	"context"
	"runtime"
	"slices"
	"sync"
	"time"
)

// bubble keeps virtual time and the time of a testing/synctest bubble together.
type bubble struct {
	settle  func() // returns when all other goroutines of the bubble are blocked
	base    time.Time
	started int
	calls   []*foreignCall // under way
	arrived chan struct{}  // holds one: a call has come back
	timer   *time.Timer    // of sleep, nil before the first

	mu   sync.Mutex
	back []*foreignCall
}

// foreignCall is a function on a goroutine of its own, for which its task waits.
type foreignCall struct {
	id       int
	task     *virtualTask
	err      error
	panicked *PanicError
	exited   bool // by runtime.Goexit
}

// InBubble makes the clock step the time of the testing/synctest bubble it is called in
// together with its own, so that foreign calls may use goroutines, channels and package
// time. wait is synctest.Wait: handed in, so that nothing here imports testing. Call it
// before Run; make, run and close the clock in the bubble.
func (v *Virtual) InBubble(wait func()) {
	base := time.Now().Add(-v.now)
	v.bubble = &bubble{settle: wait, base: base, arrived: make(chan struct{}, 1)}
	v.epoch = base
}

// Foreign implements Clock. In a bubble fn runs on a goroutine of its own, and calls that
// come back at one instant do so in an order drawn from the seed. Elsewhere it is called
// directly: virtual time stands still meanwhile, and it must not wait for another task.
func (v *Virtual) Foreign(ctx context.Context, fn func() error) error {
	c, t := v.mayWait(ctx, "Foreign")
	if c.err != nil {
		return c.err
	}
	if v.bubble == nil {
		return fn()
	}
	call := &foreignCall{task: t}
	v.bubble.start(call, fn)
	_ = t.wait(nil, nil, "is in a foreign call", -1)
	return call.result()
}

func (b *bubble) start(call *foreignCall, fn func() error) {
	b.started++
	call.id = b.started
	b.calls = append(b.calls, call)
	go func() {
		defer b.finish(call)
		call.exited = true
		call.err = fn()
		call.exited = false
	}()
}

// finish is deferred by the call's goroutine.
func (b *bubble) finish(call *foreignCall) {
	if p := recover(); p != nil {
		call.panicked = newPanicError(call.task.name, p)
	}
	b.mu.Lock()
	b.back = append(b.back, call)
	b.mu.Unlock()
	select {
	case b.arrived <- struct{}{}:
	default:
	}
}

// result passes on how fn ended: by a return, a panic or a Goexit.
func (call *foreignCall) result() error {
	switch {
	case call.panicked != nil:
		panic(call.panicked)
	case call.exited:
		runtime.Goexit()
	}
	return call.err
}

// sync lets both times pass until the clock's next event is due: it may be that of a call
// that came back.
func (b *bubble) sync(v *Virtual) {
	for {
		b.settle()
		b.collect()
		if len(v.agenda) == 0 && !b.busy() {
			return
		}
		if len(v.agenda) > 0 && v.agenda[0].at <= time.Since(b.base) {
			return
		}
		b.sleep(v)
	}
}

// busy reports whether a living task waits for a call.
func (b *bubble) busy() bool {
	return slices.ContainsFunc(b.calls, func(c *foreignCall) bool { return !c.task.isDead() })
}

// collect resumes the tasks whose calls came back. Goroutines end in any order, therefore
// theirs does not count.
func (b *bubble) collect() {
	b.mu.Lock()
	back := b.back
	b.back = nil
	b.mu.Unlock()
	slices.SortFunc(back, func(x, y *foreignCall) int { return cmp.Compare(x.id, y.id) })
	for _, call := range back {
		b.calls = slices.DeleteFunc(b.calls, func(c *foreignCall) bool { return c == call })
		call.task.rouseAt(time.Since(b.base), nil)
	}
}

// sleep waits for the clock's next event or the first call that comes back.
func (b *bubble) sleep(v *Virtual) {
	var due <-chan time.Time
	if len(v.agenda) > 0 {
		wait := v.agenda[0].at - time.Since(b.base)
		if b.timer == nil {
			b.timer = time.NewTimer(wait)
		} else {
			b.timer.Reset(wait)
		}
		defer b.timer.Stop()
		due = b.timer.C
	}
	select {
	case <-due:
	case <-b.arrived:
	}
}
