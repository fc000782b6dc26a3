// SPDX-License-Identifier: Apache-2.0

package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/seed-720a3c77/harness/explore"
)

func resumed(t *testing.T, file string, args ...string) (s explore.Summary) {
	t.Helper()
	stdout, stderr, code := harness(append([]string{"explore", "steady", "--json", "--resume", file}, args...)...)
	if err := json.Unmarshal([]byte(stdout), &s); err != nil || code != exitPass {
		t.Fatalf("exit %d, %v, %s", code, err, stderr)
	}
	return s
}

// TestResumeGoesOn: a trial that a crash cut off is tried again, and what follows it is kept.
func TestResumeGoesOn(t *testing.T) {
	file := filepath.Join(t.TempDir(), "trials")
	resumed(t, file, "--seeds", "2")
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, text[:len(text)-10], 0o600); err != nil {
		t.Fatal(err)
	}
	if s := resumed(t, file, "--seeds", "3"); s.Seeds != 3 {
		t.Errorf("%d seeds, want 3", s.Seeds)
	}
	before, _ := os.ReadFile(file)
	if s := resumed(t, file, "--first", "2", "--seeds", "2"); s.Seeds != 2 {
		t.Errorf("%d seeds, want the 2 that were asked for", s.Seeds)
	}
	if after, _ := os.ReadFile(file); string(after) != string(before) {
		t.Error("what was tried was tried again")
	}
}

// TestResumeOfSomethingElseIsRefused: trials of one space would be told as those of another.
func TestResumeOfSomethingElseIsRefused(t *testing.T) {
	dir := t.TempDir()
	file, notes := filepath.Join(dir, "trials"), filepath.Join(dir, "notes")
	resumed(t, file, "--seeds", "1")
	if err := os.WriteFile(notes, []byte("name: mine\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ args, file, want string }{
		{"poison-pill --variant dead-letter", file, "it keeps trials of steady ("},
		{"steady --on inmem:sqs", file, "this is steady ("},
		{"steady --jitter 5ms", file, "it keeps trials of steady ("},
		{"steady --fixed-faults", file, "it keeps trials of steady ("},
		{"steady", notes, "not a file that --resume made"},
		{"steady", os.DevNull, "not a plain file"},
		{"steady", dir, "is a directory"},
	} {
		before, _ := os.ReadFile(c.file)
		args := append([]string{"explore", "--seeds", "1", "--resume", c.file}, strings.Fields(c.args)...)
		_, stderr, code := harness(args...)
		if code != exitUsage || !strings.Contains(stderr, c.want) {
			t.Errorf("explore %s: exit %d, %q; want 64 and %q", c.args, code, stderr, c.want)
		}
		if after, _ := os.ReadFile(c.file); string(after) != string(before) {
			t.Errorf("explore %s changed %s", c.args, c.file)
		}
	}
}
