// SPDX-License-Identifier: Apache-2.0

//go:build darwin || freebsd || netbsd || openbsd

package history

import "os"

// reserve takes room for n more bytes of a file on the disk.
func reserve(f *os.File, at, n int64) error { return reserveZeros(f, at, n) }
