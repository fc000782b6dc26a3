// SPDX-License-Identifier: Apache-2.0

package clock

import "iter"

// A coroutine runs tasks, one after another, on a stack of its own. The scheduler enters
// it with next; it comes back with yield.
type coroutine struct {
	next  func() (struct{}, bool)
	stop  func()
	yield func(struct{}) bool
	task  *virtualTask
}

func newCoroutine() *coroutine {
	c := new(coroutine)
	c.next, c.stop = iter.Pull(c.serve)
	return c
}

// serve runs the task given before each entry, until stop.
func (c *coroutine) serve(yield func(struct{}) bool) {
	c.yield = yield
	for {
		c.task.main()
		if !yield(struct{}{}) {
			return
		}
	}
}

// reap unwinds a parked coroutine. The Goexit that unwinds it passes through to whoever
// called stop, therefore on a goroutine of its own.
func (c *coroutine) reap() {
	done := make(chan struct{})
	go func() {
		defer close(done)
		c.stop()
	}()
	<-done
}
