// SPDX-License-Identifier: Apache-2.0

//go:build unix

package history

import (
	"os"
	"path/filepath"
	"syscall"
	"testing"
)

// TestWhatIsNoFileIsNotRead: a pipe or a device under a segment's name would be read for
// ever. The segment counts as gone.
func TestWhatIsNoFileIsNotRead(t *testing.T) {
	for name, put := range map[string]func(path string) error{
		"pipe":      func(path string) error { return syscall.Mkfifo(path, 0o600) },
		"device":    func(path string) error { return os.Symlink("/dev/zero", path) },
		"directory": func(path string) error { return os.Mkdir(path, 0o700) },
	} {
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
