// SPDX-License-Identifier: Apache-2.0

package local

import (
	"errors"
	"os"

	"golang.org/x/sys/windows"
)

// try takes the lock of f or answers errHeld. Closing f releases it.
func try(f *os.File) error {
	const flags = windows.LOCKFILE_EXCLUSIVE_LOCK | windows.LOCKFILE_FAIL_IMMEDIATELY
	// One byte far behind the end, so that the holder's number can be read.
	err := windows.LockFileEx(windows.Handle(f.Fd()), flags, 0, 1, 0, &windows.Overlapped{OffsetHigh: 1})
	if errors.Is(err, windows.ERROR_LOCK_VIOLATION) {
		return errHeld
	}
	return err
}
