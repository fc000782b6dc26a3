// SPDX-License-Identifier: Apache-2.0

package consumertest

import (
	"errors"
	"fmt"
	"io"
	"os"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

// stuckAfter is how long, of real time, one schedule may take before somebody is told.
const stuckAfter = 20 * time.Second

// inBubble runs f in a testing/synctest bubble. Goroutines that are left behind when f has
// returned are its error.
func inBubble(t *testing.T, f func()) (err error) {
	t.Helper()
	var mark atomic.Value // of the bubble, as stacks show it
	mark.Store("")
	watch := time.AfterFunc(stuckAfter, func() { tellStuck(os.Stderr, t.Name(), mark.Load().(string)) }) //nolint:forbidigo // a log of t is not shown while it is stuck
	defer watch.Stop()
	defer func() {
		if value := recover(); value != nil {
			err = leftBehindError(fmt.Sprint(value), mark.Load().(string))
		}
	}()
	synctest.Test(t, func(*testing.T) {
		mark.Store(bubbleMark())
		f()
	})
	return nil
}

var bubbleOf = regexp.MustCompile(`synctest bubble \d+`)

// bubbleMark is how stacks name the bubble of the calling goroutine.
func bubbleMark() string {
	buffer := make([]byte, 256)
	return bubbleOf.FindString(string(buffer[:runtime.Stack(buffer, false)]))
}

// goroutines are the stacks of a bubble.
func goroutines(mark string) (stacks []string) {
	buffer := make([]byte, 1<<20)
	buffer = buffer[:runtime.Stack(buffer, true)]
	for stack := range strings.SplitSeq(string(buffer), "\n\n") {
		head, _, _ := strings.Cut(stack, "\n")
		if mark != "" && strings.HasSuffix(head, mark+"]:") {
			stacks = append(stacks, stack)
		}
	}
	return stacks
}

// tellStuck says why no virtual time passes: a goroutine of the bubble waits for
// something that is not in it.
func tellStuck(w io.Writer, test, mark string) {
	var stacks []string
	for _, stack := range goroutines(mark) {
		head, _, _ := strings.Cut(stack, "\n")
		if !strings.Contains(head, "durable") {
			stacks = append(stacks, shortened(stack))
		}
	}
	fmt.Fprintf(w, "\nconsumertest: a schedule of %s has made no progress for %v of real time.\n"+
		"A handler in virtual time must not wait for anything real: a network, a process, a mutex that is held across\n"+
		"an operation, or a channel made outside of the handler. Use consumertest.RealTime() if it has to.\n\n%s\n",
		test, stuckAfter, strings.Join(stacks, "\n\n"))
}

// mostFrames of a stack are shown at each of its ends: what waits, and the handler below.
const mostFrames = 6

// shortened leaves out the middle of a stack. A frame has two lines.
func shortened(stack string) string {
	lines := strings.Split(stack, "\n")
	if len(lines) <= 1+4*mostFrames {
		return stack
	}
	head, tail := lines[:1+2*mostFrames], lines[len(lines)-2*mostFrames:]
	return strings.Join(slices.Concat(head, []string{"..."}, tail), "\n")
}

// leftBehindError names what still ran at the end.
func leftBehindError(why, mark string) error {
	var names []string
	for _, stack := range goroutines(mark) {
		names = append(names, goroutineName(stack))
	}
	if len(names) == 0 {
		return errors.New(why)
	}
	slices.Sort(names)
	return fmt.Errorf("goroutines are left behind when a scenario is over: %s", strings.Join(slices.Compact(names), "; "))
}

// goroutineName is the function of a goroutine and who started it.
func goroutineName(stack string) string {
	lines := strings.Split(strings.TrimSpace(stack), "\n")
	name, by := "", ""
	for i := 1; i < len(lines); i += 2 {
		call := lines[i]
		if started, ok := strings.CutPrefix(call, "created by "); ok {
			by, _, _ = strings.Cut(started, " in goroutine")
			break
		}
		name = call
	}
	if open := strings.LastIndex(name, "("); open > 0 {
		name = name[:open]
	}
	return fmt.Sprintf("%s, started by %s", name, by)
}
