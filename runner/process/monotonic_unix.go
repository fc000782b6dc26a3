// SPDX-License-Identifier: Apache-2.0

//go:build linux || darwin

package process

import (
	"time"

	"golang.org/x/sys/unix"
)

// monotonic reads a clock that all processes of the host share and that nobody sets.
func monotonic() (time.Duration, bool) {
	var now unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_MONOTONIC, &now); err != nil {
		return 0, false
	}
	return time.Duration(now.Nano()), true
}
