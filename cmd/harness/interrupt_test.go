// SPDX-License-Identifier: Apache-2.0

//go:build unix

package main

import (
	"bufio"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/seed-720a3c77/harness/checkers"
	"github.com/seed-720a3c77/harness/internal/testenv"
)

// build makes the binary that the tests of processes run.
func build(t *testing.T) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "harness")
	if out, err := exec.Command("go", "build", "-o", path, ".").CombinedOutput(); err != nil {
		t.Fatalf("go build: %v\n%s", err, out)
	}
	return path
}

// interrupted starts a run, sends SIGINT when the given text was printed, and returns
// its exit code.
func interrupted(t *testing.T, when string, args ...string) int {
	t.Helper()
	cmd := exec.Command(build(t), args...)
	stderr, err := cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	for lines := bufio.NewScanner(stderr); lines.Scan(); {
		if strings.Contains(lines.Text(), when) {
			if err := cmd.Process.Signal(os.Interrupt); err != nil && !errors.Is(err, os.ErrProcessDone) {
				t.Error(err)
			}
			when = "\x00"
		}
	}
	var exit *exec.ExitError
	if err := cmd.Wait(); err != nil && !errors.As(err, &exit) {
		t.Fatal(err)
	}
	if status, ok := cmd.ProcessState.Sys().(syscall.WaitStatus); ok && status.Signaled() {
		t.Fatalf("the run was killed by %s instead of ending politely", status.Signal())
	}
	return cmd.ProcessState.ExitCode()
}

func TestInterruptedSuiteIsReported(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "suite")
	if code := interrupted(t, " 1/", "run", "--out", dir); code != exitInterrupted {
		t.Fatalf("exit %d, want 130", code)
	}
	var results checkers.Results
	read(t, filepath.Join(dir, "results.json"), &results)
	if len(results.Runs) == 0 || len(results.NotRun) == 0 {
		t.Errorf("%d runs, %d not run; want some of each", len(results.Runs), len(results.NotRun))
	}
}

// TestASecondInterruptEndsAtOnce, with the same exit code, and is no death by a signal.
func TestASecondInterruptEndsAtOnce(t *testing.T) {
	file := filepath.Join(t.TempDir(), "long.yaml")
	long := `name: long
about: Enough to be interrupted twice.
topology: {orders: {}}
produce: [{to: orders, count: 5000000, rate: 100000/s}]
consume: [{from: orders, group: billing, settle: {when: after-batch}}]
claims: at-least-once
`
	if err := os.WriteFile(file, []byte(long), 0o600); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(build(t), "run", file, "--on", "inmem:kafka", "--out", filepath.Join(t.TempDir(), "suite"))
	stderr, err := cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	began := filepath.Join(cmd.Args[len(cmd.Args)-1], "long.inmem-kafka") // signals are heard by then
	soon(t, "it never began", func() bool { _, err := os.Stat(began); return err == nil })
	if err := cmd.Process.Signal(os.Interrupt); err != nil {
		t.Error(err)
	}
	for lines := bufio.NewScanner(stderr); lines.Scan(); {
		if strings.Contains(lines.Text(), "once more to end at once") {
			_ = cmd.Process.Signal(os.Interrupt) // it may have ended meanwhile
		}
	}
	_ = cmd.Wait() // its code tells
	if code := cmd.ProcessState.ExitCode(); code != exitInterrupted {
		t.Errorf("exit %d (%s), want %d", code, cmd.ProcessState, exitInterrupted)
	}
}

func TestInterruptedRealRunDrainsAndJudges(t *testing.T) {
	address := testenv.Broker(t, "kafka")
	dir := filepath.Join(t.TempDir(), "suite")
	code := interrupted(t, " 1/", "run", "steady", "crash-mid-batch", "--on", "kafka", "--address", "kafka="+address, "--out", dir)
	if code != exitInterrupted {
		t.Fatalf("exit %d, want 130", code)
	}
	var results checkers.Results
	read(t, filepath.Join(dir, "results.json"), &results)
	for _, r := range results.Runs {
		if r.Trust.Interrupted && r.Counts["lost"] != 0 {
			t.Errorf("%s: an interrupted run lost %d", r.Run, r.Counts["lost"])
		}
	}
}
