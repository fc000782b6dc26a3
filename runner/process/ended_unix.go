// SPDX-License-Identifier: Apache-2.0

//go:build linux || darwin

package process

import (
	"fmt"
	"syscall"
)

// ended is how a process ended and the last that it said.
type ended struct {
	status syscall.WaitStatus
	output string
}

func (e *ended) Error() string {
	how := fmt.Sprintf("exit status %d", e.status.ExitStatus())
	if e.status.Signaled() {
		how = "signal: " + e.status.Signal().String()
	}
	if e.output == "" {
		return how
	}
	return how + ": " + e.output
}
