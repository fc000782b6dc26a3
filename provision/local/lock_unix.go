// SPDX-License-Identifier: Apache-2.0

//go:build unix

package local

import (
	"errors"
	"os"

	"golang.org/x/sys/unix"
)

// try takes the lock of f or answers errHeld. Closing f releases it.
func try(f *os.File) error {
	err := unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB)
	if errors.Is(err, unix.EWOULDBLOCK) {
		return errHeld
	}
	return err
}
