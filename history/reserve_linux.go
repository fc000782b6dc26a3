// SPDX-License-Identifier: Apache-2.0

package history

import (
	"errors"
	"os"
	"syscall"
)

// reserve takes room for n more bytes of a file on the disk.
func reserve(f *os.File, at, n int64) error {
	for {
		err := syscall.Fallocate(int(f.Fd()), 0, at, n)
		switch {
		case errors.Is(err, syscall.EINTR):
		case errors.Is(err, syscall.EOPNOTSUPP), errors.Is(err, syscall.ENOSYS):
			return reserveZeros(f, at, n)
		default:
			return err
		}
	}
}
