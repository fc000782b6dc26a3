// SPDX-License-Identifier: Apache-2.0

//go:build linux || darwin

package spawn

import (
	"errors"
	"syscall"
)

// Supported: processes can be stopped and followed here.
const Supported = true

const (
	stopping = syscall.SIGSTOP
	goingOn  = syscall.SIGCONT
	leaving  = syscall.SIGTERM
	ending   = syscall.SIGKILL
)

func ownGroup() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setpgid: true} }

// nextState waits until a child stops, goes on or ends. An error is a child that is gone.
func nextState(pid int) (status syscall.WaitStatus, err error) {
	for {
		_, err = syscall.Wait4(pid, &status, syscall.WUNTRACED|syscall.WCONTINUED, nil)
		if !errors.Is(err, syscall.EINTR) {
			return status, err
		}
	}
}

func send(group int, s syscall.Signal) { _ = syscall.Kill(-group, s) }
