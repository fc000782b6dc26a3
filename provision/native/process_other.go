// SPDX-License-Identifier: Apache-2.0

//go:build !linux && !darwin

package native

import (
	"errors"
	"os/exec"
)

// Nothing here is reached: Up refuses first.
const supported = false

func spawn(command, string, string) (process, error) {
	return process{}, errors.ErrUnsupported
}

func endWholeGroup(*exec.Cmd) {}
