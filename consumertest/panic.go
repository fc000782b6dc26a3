// SPDX-License-Identifier: Apache-2.0

package consumertest

import (
	"fmt"
	"path/filepath"
	"runtime"
	"strings"
)

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
