// SPDX-License-Identifier: Apache-2.0

package clock

import (
	"context"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"
)

// TestWatch: a task that waits for something real, or computes without end, stops the
// whole run; the watchdog shows it with its line.
func TestWatch(t *testing.T) {
	var answer chan struct{}
	var computed atomic.Bool
	tests := []struct {
		name   string
		hang   func()
		rescue func()
		states []string
	}{
		{"channel", func() { <-answer }, func() { close(answer) }, []string{"[chan receive"}},
		{"computes", func() {
			for !computed.Load() {
			}
		}, func() { computed.Store(true) }, []string{"[running", "[runnable"}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			answer = make(chan struct{})
			v := NewVirtual(1)
			defer v.Close()
			// The report may come a moment before the task hangs: look until it does.
			stop := v.Watch(time.Millisecond, func(stacks []byte) {
				for !shows(stacks, test.states) {
					stacks = allStacks()
				}
				test.rescue()
			})
			defer stop()
			run(t, v, func(ctx context.Context) {
				v.Go(ctx, "worker", func(context.Context) { test.hang() })
				v.Sleep(ctx, time.Second)
			})
		})
	}
}

// shows reports whether a coroutine is in one of the states, in a line of this file.
func shows(stacks []byte, states []string) bool {
	for part := range strings.SplitSeq(string(stacks), "\n\n") {
		head, rest, _ := strings.Cut(part, "\n")
		if strings.Contains(rest, "coroutine") && strings.Contains(rest, "watch_test.go") && containsAny(head, states) {
			return true
		}
	}
	return false
}

func containsAny(s string, parts []string) bool {
	return slices.ContainsFunc(parts, func(part string) bool { return strings.Contains(s, part) })
}

// TestBeat: every event is a sign of life, also on the fast path.
func TestBeat(t *testing.T) {
	v := NewVirtual(1)
	defer v.Close()
	defer v.Watch(time.Hour, func([]byte) {})()
	run(t, v, func(ctx context.Context) {
		for range 10 {
			before := v.beat.Load()
			v.Sleep(ctx, time.Second)
			if v.beat.Load() == before {
				t.Error("no beat")
			}
		}
	})
}
