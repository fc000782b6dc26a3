// SPDX-License-Identifier: Apache-2.0

//go:build !linux && !darwin

package native

import (
	"errors"
	"os/exec"
	"syscall"
)

// Nothing here is reached: Up refuses first.
const supported = false

const (
	kill   = syscall.SIGKILL
	freeze = syscall.Signal(0)
	thaw   = syscall.Signal(0)
)

func spawn(command, string, string) (process, error) {
	return process{}, errors.ErrUnsupported
}

func endWholeGroup(*exec.Cmd) {}

func (process) signal(syscall.Signal) {}

func startOf(int) (string, bool) { return "", false }

func stopped(int) bool { return false }

func marked(string) []process { return nil }
