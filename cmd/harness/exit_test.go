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

func TestAnErrorIsToldOnce(t *testing.T) {
	disk := errors.New("write f: no space left")
	for _, row := range []struct {
		err  error
		want string
	}{
		{errors.Join(disk, disk), "write f: no space left"},
		{errors.Join(fmt.Errorf("report: %w", disk), disk), "report: write f: no space left"},
		{errors.Join(disk, fmt.Errorf("report: %w", disk), errors.New("close f")), "write f: no space left; report: write f: no space left; close f"},
	} {
		if got := oneLine(row.err); got != row.want {
			t.Errorf("%q, want %q", got, row.want)
		}
	}
}

func TestAFullDiskIsNoUsage(t *testing.T) {
	full := usage(fmt.Errorf("archive: %w", syscall.ENOSPC))
	if exitCode(full) != exitFailed || exitCode(usage(errors.New("what"))) != exitUsage {
		t.Errorf("exit %d for a full disk, want %d", exitCode(full), exitFailed)
	}
}
