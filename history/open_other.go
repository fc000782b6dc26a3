// SPDX-License-Identifier: Apache-2.0

//go:build !(linux || darwin || freebsd || netbsd || openbsd)

package history

func openIn(path string) (openBlock, error) { return openWritten(path) }
