// SPDX-License-Identifier: Apache-2.0

//go:build linux || darwin

package watchdog

import (
	"os/exec"
	"syscall"
)

// apart gives a command a session of its own: what ends the harness or its terminal does
// not end it.
func apart(cmd *exec.Cmd) { cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true} }
