// SPDX-License-Identifier: Apache-2.0

package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/seed-720a3c77/harness/internal/suite"
)

// ran runs workloads on the in-memory Kafka and returns the suite's directory.
func ran(t *testing.T, workloads ...string) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "suite")
	if _, stderr, code := harness(append([]string{"run", "--on", "inmem:kafka", "--out", dir, "--quiet"}, workloads...)...); code != exitPass {
		t.Fatalf("exit %d, %s", code, stderr)
	}
	return dir
}

func lines(text string) int { return strings.Count(text, "\n") }

// TestAnUnreadablePredictionHidesNoVerdict: the history is judged all the same.
func TestAnUnreadablePredictionHidesNoVerdict(t *testing.T) {
	run := filepath.Join(ran(t, "steady"), "steady.inmem-kafka")
	want, _, _ := harness("check", run)
	kept := filepath.Join(run, suite.PredictionFile)
	for name, put := range map[string]func() error{
		"garbage":     func() error { return os.WriteFile(kept, []byte("\x00{"), 0o600) },
		"empty":       func() error { return os.WriteFile(kept, nil, 0o600) },
		"of nothing":  func() error { return os.WriteFile(kept, []byte("{}"), 0o600) },
		"of another":  func() error { return os.WriteFile(kept, []byte(`{"counts":"many"}`), 0o600) },
		"a directory": func() error { return os.Mkdir(kept, 0o700) },
		"without end": func() error { return os.Symlink("/dev/zero", kept) },
		"of a huge size": func() error {
			if err := os.WriteFile(kept, nil, 0o600); err != nil {
				return err
			}
			return os.Truncate(kept, 1<<40)
		},
	} {
		if err := put(); err != nil {
			t.Fatal(err)
		}
		stdout, stderr, code := harness("check", run)
		if code != exitPass || stdout != want || !strings.Contains(stderr, "the kept prediction is unreadable") || lines(stderr) != 1 {
			t.Errorf("%s: exit %d, %q\n%s", name, code, stderr, stdout)
		}
		if err := os.Remove(kept); err != nil {
			t.Fatal(err)
		}
	}
}

// TestAnUnreadableRunHidesNoOther: it is named, it fails, and the others are judged.
func TestAnUnreadableRunHidesNoOther(t *testing.T) {
	dir := ran(t, "steady", "analytics-5s-commit")
	broken := filepath.Join(dir, "steady.inmem-kafka", manifest)
	if err := os.WriteFile(broken, []byte("{"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, args := range [][]string{{"check", dir}, {"check", "--json", dir}, {"check", "--quick", dir}} {
		stdout, stderr, code := harness(args...)
		if code != exitFailed || !strings.Contains(stdout, "analytics-5s-commit") || !strings.Contains(stderr, broken) || lines(stderr) != 1 {
			t.Errorf("%q: exit %d, %q\n%s", args, code, stderr, stdout)
		}
	}
}

// TestRunsOfOneNameAreAllShown: a copy beside its original has a row of its own.
func TestRunsOfOneNameAreAllShown(t *testing.T) {
	dir := ran(t, "steady")
	run, archive := filepath.Join(dir, "steady.inmem-kafka"), filepath.Join(dir, "archive")
	if _, stderr, code := harness("history", "archive", run, archive); code != exitPass {
		t.Fatalf("exit %d, %s", code, stderr)
	}
	stdout, _, code := harness("check", dir)
	if code != exitPass || !strings.Contains(stdout, "(steady.inmem-kafka)") || strings.Count(stdout, "pass ") != 2 {
		t.Errorf("exit %d\n%s", code, stdout)
	}
}
