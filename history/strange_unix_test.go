// SPDX-License-Identifier: Apache-2.0

//go:build unix

package history

import (
	"errors"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/seed-720a3c77/harness/internal/regular"
)

// strange are things that are no file of a sensible size.
var strange = map[string]func(path string) error{
	"pipe":      func(path string) error { return syscall.Mkfifo(path, 0o600) },
	"device":    func(path string) error { return os.Symlink("/dev/zero", path) },
	"directory": func(path string) error { return os.Mkdir(path, 0o700) },
}

// TestAStrangeManifestIsNoRun: it is neither waited for nor read without end.
func TestAStrangeManifestIsNoRun(t *testing.T) {
	for name, put := range strange {
		dir := t.TempDir()
		if err := put(filepath.Join(dir, manifestName)); err != nil {
			t.Fatal(err)
		}
		if _, err := Open(dir); !errors.Is(err, regular.ErrNotRegular) {
			t.Errorf("%s: %v", name, err)
		}
	}
	huge := filepath.Join(t.TempDir(), manifestName)
	if err := errors.Join(os.WriteFile(huge, nil, 0o600), os.Truncate(huge, 1<<40)); err != nil {
		t.Fatal(err)
	}
	if _, err := Open(filepath.Dir(huge)); !errors.Is(err, regular.ErrTooLarge) {
		t.Errorf("huge: %v", err)
	}
}

// TestAStrangeOpenBlockIsMissing: what its process had open is gone, and the rest is read.
func TestAStrangeOpenBlockIsMissing(t *testing.T) {
	for name, put := range strange {
		dir := recordOne(t, simple(maxRows+10), false)
		path := filepath.Join(dir, "000-task.open")
		if err := errors.Join(os.Remove(path), put(path)); err != nil {
			t.Fatal(err)
		}
		run := mustOpen(t, dir)
		if got := len(readAll(t, run, AllKinds)); got != maxRows || run.Integrity.Complete() {
			t.Errorf("%s: %d events, %+v; want %d and some missing", name, got, run.Integrity.Findings, maxRows)
		}
	}
}

// TestWhatIsNoFileIsNotRead: a pipe or a device under a segment's name would be read for
// ever. The segment counts as gone.
func TestWhatIsNoFileIsNotRead(t *testing.T) {
	for name, put := range strange {
		dir := recordOne(t, simple(10), true)
		path := filepath.Join(dir, "000-task.seg")
		if err := os.Remove(path); err != nil {
			t.Fatal(err)
		}
		if err := put(path); err != nil {
			t.Fatal(err)
		}
		run := mustOpen(t, dir)
		if findings := run.Integrity.Findings; len(findings) != 1 || !findings[0].Gone || run.Integrity.Complete() {
			t.Errorf("%s: %+v, want the segment gone", name, findings)
		}
	}
}
