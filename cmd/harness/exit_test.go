// SPDX-License-Identifier: Apache-2.0

package main

import (
	"errors"
	"fmt"
	"syscall"
	"testing"
)

// TestAnErrorDoesNotSteerTheTerminal: it may repeat words of a file.
func TestAnErrorDoesNotSteerTheTerminal(t *testing.T) {
	got := oneLine(errors.New("unknown \x1b[2J\x07name\nnext\rline\x00é"))
	if want := "unknown \ufffd[2J\ufffdname; next\ufffdline\ufffdé"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}

func TestAFullDiskIsNoUsage(t *testing.T) {
	full := usage(fmt.Errorf("archive: %w", syscall.ENOSPC))
	if exitCode(full) != exitFailed || exitCode(usage(errors.New("what"))) != exitUsage {
		t.Errorf("exit %d for a full disk, want %d", exitCode(full), exitFailed)
	}
}
