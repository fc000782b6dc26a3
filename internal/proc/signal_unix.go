// SPDX-License-Identifier: Apache-2.0

//go:build linux || darwin

package proc

import "syscall"

// Kill ends the process, and its group if it leads one, stopped or not. Nothing is done to
// another process that took the number.
func (p Process) Kill() { p.signal(syscall.SIGKILL) }

// Freeze holds what Kill would end.
func (p Process) Freeze() { p.signal(syscall.SIGSTOP) }

// Thaw undoes Freeze.
func (p Process) Thaw() { p.signal(syscall.SIGCONT) }

func (p Process) signal(s syscall.Signal) {
	if !p.Alive() {
		return
	}
	if group, err := syscall.Getpgid(p.PID); err == nil && group == p.PID {
		_ = syscall.Kill(-p.PID, s)
		return
	}
	_ = syscall.Kill(p.PID, s)
}
