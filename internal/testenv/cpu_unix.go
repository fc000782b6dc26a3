// SPDX-License-Identifier: Apache-2.0

//go:build unix

package testenv

import (
	"syscall"
	"time"
)

// CPUTime is what this process used of the processors so far: on a machine that others
// share, the only time worth comparing.
func CPUTime() time.Duration {
	var u syscall.Rusage
	if syscall.Getrusage(syscall.RUSAGE_SELF, &u) != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
