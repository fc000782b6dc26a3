// SPDX-License-Identifier: Apache-2.0

//go:build !linux && !darwin

package spawn

import (
	"errors"
	"syscall"
)

// Supported: processes can be stopped and followed here.
const Supported = false

const (
	stopping = syscall.Signal(0)
	goingOn  = syscall.Signal(0)
	leaving  = syscall.SIGTERM
	ending   = syscall.SIGKILL
)

func ownGroup() *syscall.SysProcAttr { return nil }

func nextState(int) (syscall.WaitStatus, error) { return syscall.WaitStatus{}, errors.ErrUnsupported }

func send(int, syscall.Signal) {}
