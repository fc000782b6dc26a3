// SPDX-License-Identifier: Apache-2.0

package main

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"testing"
)

// TestAFileIsReplacedAtOnceOrNotAtAll, and nothing is left beside it.
func TestAFileIsReplacedAtOnceOrNotAtAll(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "file")
	full := errors.New("full")
	for _, row := range []struct {
		text string
		err  error
		want string
	}{{"half", full, ""}, {"first", nil, "first"}, {"half", full, "first"}, {"second", nil, "second"}} {
		err := replaceFile(path, func(w io.Writer) error {
			_, wrote := io.WriteString(w, row.text)
			return errors.Join(row.err, wrote)
		})
		got, _ := os.ReadFile(path)
		entries, _ := os.ReadDir(dir)
		if !errors.Is(err, row.err) || string(got) != row.want || len(entries) > 1 {
			t.Errorf("%q, %v: file %q, %v, %d entries", row.text, row.err, got, err, len(entries))
		}
	}
}

// TestWhatIsNoPlainFileIsRefused: neither waited for nor read without end.
func TestWhatIsNoPlainFileIsRefused(t *testing.T) {
	dir, run := t.TempDir(), filepath.Join(t.TempDir(), "run")
	huge := filepath.Join(dir, "huge.yaml")
	if err := errors.Join(os.WriteFile(huge, nil, 0o600), os.Truncate(huge, 1<<40)); err != nil {
		t.Fatal(err)
	}
	for _, file := range []string{os.DevNull, dir, huge} {
		for _, args := range [][]string{
			{"report", file}, {"verify", "--file", file, "--", "true"}, {"check", file}, {"explain", file, "p0/1"},
			{"history", "import", "--format", "kafka-verifiable", file, run}, {"selftest", "--cases", file},
		} {
			if _, stderr, code := harness(args...); code != exitUsage || lines(stderr) != 1 {
				t.Errorf("%q: exit %d, %q", args, code, stderr)
			}
		}
	}
}
