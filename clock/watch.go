// SPDX-License-Identifier: Apache-2.0

package clock

import (
	"runtime"
	"sync"
	"time"
)

// Watch looks every d of real time whether the run still makes events, and calls report
// with the stacks of all goroutines, once each time it has stopped making them: a task
// then waits for something real, shown as "goroutine N [chan receive]" with the line, or
// computes without end, shown as "[running]" or "[runnable]". It can report, not cure;
// report runs on the watchdog's goroutine. Call Watch before Run, and stop when done.
func (v *Virtual) Watch(d time.Duration, report func(stacks []byte)) (stop func()) {
	v.watched = true
	quit := make(chan struct{})
	go v.watch(d, report, quit)
	return sync.OnceFunc(func() { close(quit) })
}

func (v *Virtual) watch(d time.Duration, report func([]byte), quit <-chan struct{}) {
	tick := time.NewTicker(d)
	defer tick.Stop()
	for last, told := v.beat.Load(), false; ; {
		select {
		case <-quit:
			return
		case <-tick.C:
		}
		beat := v.beat.Load()
		still := beat == last && v.busy.Load()
		if still && !told {
			report(allStacks())
		}
		last, told = beat, still
	}
}

func allStacks() []byte {
	for size := 1 << 16; ; size *= 2 {
		buf := make([]byte, size)
		if n := runtime.Stack(buf, true); n < size {
			return buf[:n]
		}
	}
}
