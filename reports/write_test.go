// SPDX-License-Identifier: Apache-2.0

package reports

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"testing"

	"github.com/seed-720a3c77/harness/checkers"
	"github.com/seed-720a3c77/harness/internal/testenv"
)

func TestAnOutputThatIsNoPlainFileIsNotReplaced(t *testing.T) {
	dir := t.TempDir()
	target, link := filepath.Join(dir, "target"), filepath.Join(dir, "link")
	if err := os.WriteFile(target, []byte("before"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(target, link); err != nil {
		testenv.Lacks(t, "symlinks", err.Error())
	}
	one := Format{Name: "one", Write: func(w io.Writer, _ *checkers.Results) error {
		_, err := io.WriteString(w, "after")
		return err
	}}
	if err := WriteFile(link, one, sample()); err != nil {
		t.Fatal(err)
	}
	info, err := os.Lstat(link)
	if err != nil || info.Mode()&os.ModeSymlink == 0 {
		t.Errorf("the link was replaced: %v %v", info, err)
	}
	if text, _ := os.ReadFile(target); string(text) != "after" {
		t.Errorf("the link's file holds %q", text)
	}
}

func TestAFailedReportLeavesWhatWasThere(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "report")
	if err := os.WriteFile(path, []byte("before"), 0o600); err != nil {
		t.Fatal(err)
	}
	full := errors.New("disk full")
	err := WriteFile(path, Format{Name: "one", Write: func(io.Writer, *checkers.Results) error { return full }}, sample())
	if !errors.Is(err, full) {
		t.Errorf("WriteFile = %v, want %v", err, full)
	}
	if text, _ := os.ReadFile(path); string(text) != "before" {
		t.Errorf("it holds %q now", text)
	}
	if entries, _ := os.ReadDir(dir); len(entries) != 1 {
		t.Errorf("%d files, want 1: nothing half written stays", len(entries))
	}
}
