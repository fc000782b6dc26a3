// SPDX-License-Identifier: Apache-2.0

//go:build linux || darwin

package watchdog

import (
	"os/exec"
	"syscall"
)

// kill ends the group that the process leads, the stopped ones too.
func (m Mark) kill() {
	if !m.Alive() {
		return
	}
	if group, err := syscall.Getpgid(m.PID); err == nil && group == m.PID {
		_ = syscall.Kill(-m.PID, syscall.SIGKILL)
		return
	}
	_ = syscall.Kill(m.PID, syscall.SIGKILL)
}

// apart gives a command a session of its own: what ends the harness or its terminal does
// not end it.
func apart(cmd *exec.Cmd) { cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true} }
