// SPDX-License-Identifier: Apache-2.0

package consumertest

import (
	"fmt"
	"path/filepath"
	"runtime"
	"strings"
)

// inHandler tells whether the calling goroutine is that of a handler's call, where a panic
// is recovered, and not one that the handler started.
func inHandler() bool {
	pcs := make([]uintptr, 256)
	frames := runtime.CallersFrames(pcs[:runtime.Callers(1, pcs)])
	for {
		frame, more := frames.Next()
		if strings.HasSuffix(frame.Function, "consumertest.(*call).run") {
			return true
		}
		if !more {
			return false
		}
	}
}

// panicSite tells, in a deferred function that recovers, where the panic was: " at
// orders.go:31", "" if that cannot be told.
func panicSite() string {
	pcs := make([]uintptr, 64)
	frames := runtime.CallersFrames(pcs[:runtime.Callers(1, pcs)])
	panicking := false
	for {
		frame, more := frames.Next()
		inRuntime := strings.HasPrefix(frame.Function, "runtime.")
		switch {
		case frame.Function == "runtime.gopanic":
			panicking = true
		case panicking && !inRuntime:
			return fmt.Sprintf(" at %s:%d", filepath.Base(frame.File), frame.Line)
		}
		if !more {
			return ""
		}
	}
}
