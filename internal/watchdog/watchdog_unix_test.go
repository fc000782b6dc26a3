// SPDX-License-Identifier: Apache-2.0

//go:build linux || darwin

package watchdog

import (
	"bufio"
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/seed-720a3c77/harness/internal/proc"
)

// The test binary plays the harness, its watchdog and a guarded process.
func TestMain(m *testing.M) {
	switch role := os.Getenv("WATCHDOG_TEST_ROLE"); {
	case len(os.Args) == 3 && os.Args[1] == "watch":
		if err := Watch(os.Stdin, os.Args[2], noteRepair); err != nil {
			os.Exit(1)
		}
	case role == "harness":
		playHarness()
	case role == "guarded":
		forever()
	default:
		os.Exit(m.Run())
	}
}

// forever is until it is killed.
func forever() { time.Sleep(time.Hour) }

// noteRepair writes the words beside the journal.
func noteRepair(_ context.Context, words []string) error {
	if words[0] == "fail" {
		return errors.New("cannot")
	}
	return os.WriteFile(words[1], []byte(words[0]), 0o600)
}

// playHarness guards one process that runs and one that is stopped, tells who they are,
// and waits to be killed.
func playHarness() {
	k := &Keeper{Dir: os.Getenv("WATCHDOG_TEST_DIR"), Command: []string{os.Args[0], "watch"}}
	for n := range 3 {
		p := spawn()
		release, err := k.Guard(p)
		if err != nil {
			panic(err)
		}
		switch n {
		case 1:
			syscall.Kill(p, syscall.SIGSTOP)
		case 2:
			release() // not the watchdog's business any more
		}
		os.Stdout.WriteString(strconv.Itoa(p) + "\n")
	}
	_, err := k.Repair("repaired", filepath.Join(os.Getenv("WATCHDOG_TEST_DIR"), "repair"))
	done, err2 := k.Repair("not needed", filepath.Join(os.Getenv("WATCHDOG_TEST_DIR"), "needless"))
	if err != nil || err2 != nil {
		panic("repair")
	}
	done()
	os.Stdout.WriteString("ready\n")
	forever()
}

func spawn() int {
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), "WATCHDOG_TEST_ROLE=guarded")
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if err := cmd.Start(); err != nil {
		panic(err)
	}
	return cmd.Process.Pid
}

// startHarness returns it with the marks of its three processes.
func startHarness(t *testing.T, dir string) (*exec.Cmd, []proc.Process) {
	t.Helper()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), "WATCHDOG_TEST_ROLE=harness", "WATCHDOG_TEST_DIR="+dir)
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	var marks []proc.Process
	for lines := bufio.NewScanner(out); lines.Scan() && lines.Text() != "ready"; {
		pid, err := strconv.Atoi(lines.Text())
		if err != nil {
			t.Fatalf("harness says %q", lines.Text())
		}
		m, ok := proc.Of(pid)
		if !ok {
			t.Fatalf("process %d is gone already", pid)
		}
		marks = append(marks, m)
		t.Cleanup(m.Kill)
	}
	if len(marks) != 3 {
		t.Fatalf("%d processes", len(marks))
	}
	return cmd, marks
}

// TestAKilledHarnessIsCleanedUpAfter: what was guarded is killed, stopped or not, what was
// released is left alone, what was to be repaired is.
func TestAKilledHarnessIsCleanedUpAfter(t *testing.T) {
	dir := t.TempDir()
	harness, marks := startHarness(t, dir)
	harness.Process.Kill()
	harness.Wait()
	eventually(t, "the journal is settled", func() bool { return len(journalsIn(t, dir)) == 0 })
	for i, alive := range []bool{false, false, true} {
		if marks[i].Alive() != alive {
			t.Errorf("process %d alive: %t", i, !alive)
		}
	}
	if text, err := os.ReadFile(filepath.Join(dir, "repair")); string(text) != "repaired" {
		t.Errorf("repair: %q, %v", text, err)
	}
	if _, err := os.Stat(filepath.Join(dir, "needless")); err == nil {
		t.Error("what was repaired already was repaired again")
	}
}

// TestSweepUndoesWhatNobodyDid: harness and watchdog were killed together.
func TestSweepUndoesWhatNobodyDid(t *testing.T) {
	dir := t.TempDir()
	harness, marks := startHarness(t, dir)
	if n, err := Sweep(dir, noteRepair); n != 0 || err != nil {
		t.Fatalf("of a living harness %d were undone: %v", n, err)
	}
	syscall.Kill(-watchdogOf(t, harness.Process.Pid), syscall.SIGKILL)
	harness.Process.Kill()
	harness.Wait()
	n, err := Sweep(dir, noteRepair)
	if n != 3 || err != nil || len(journalsIn(t, dir)) != 0 {
		t.Errorf("undone %d, %v; journals left: %v", n, err, journalsIn(t, dir))
	}
	if marks[0].Alive() || marks[1].Alive() || !marks[2].Alive() {
		t.Errorf("alive: %t %t %t", marks[0].Alive(), marks[1].Alive(), marks[2].Alive())
	}
}

// watchdogOf finds the child that leads a session and is not one of the guarded.
func watchdogOf(t *testing.T, parent int) int {
	t.Helper()
	out, err := exec.Command("ps", "-A", "-o", "pid=,ppid=,args=").Output()
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(out)) {
		f := strings.Fields(line)
		if len(f) > 3 && f[1] == strconv.Itoa(parent) && f[3] == "watch" {
			pid, _ := strconv.Atoi(f[0])
			return pid
		}
	}
	t.Fatal("no watchdog")
	return 0
}

func TestAnEndInPeaceLeavesNothing(t *testing.T) {
	dir := t.TempDir()
	k := &Keeper{Dir: dir, Command: []string{os.Args[0], "watch"}}
	pid := spawn()
	defer syscall.Kill(pid, syscall.SIGKILL)
	if _, err := k.Guard(pid); err != nil {
		t.Fatal(err)
	}
	if err := k.Close(); err != nil {
		t.Fatal(err)
	}
	if left := journalsIn(t, dir); len(left) != 0 {
		t.Errorf("left: %v", left)
	}
	if m, ok := proc.Of(pid); !ok || !m.Alive() {
		t.Error("the process was killed")
	}
}

// TestAFailedRepairStaysOwed: the journal is kept, for days, and the error names what to do.
func TestAFailedRepairStaysOwed(t *testing.T) {
	dir := t.TempDir()
	j, err := createJournal(filepath.Join(dir, "1"+journalEnding), proc.Process{PID: 1 << 30, Started: "never"})
	if err != nil {
		t.Fatal(err)
	}
	if err := j.write(entry{Repair: &repair{1, []string{"fail", "kafka"}}}); err != nil {
		t.Fatal(err)
	}
	_, err = Sweep(dir, noteRepair)
	if err == nil || !strings.Contains(err.Error(), "by hand: fail kafka: cannot") || len(journalsIn(t, dir)) != 1 {
		t.Errorf("%v; journals %v", err, journalsIn(t, dir))
	}
	old := time.Now().Add(-2 * owedFor)
	if err := os.Chtimes(journalsIn(t, dir)[0], old, old); err != nil {
		t.Fatal(err)
	}
	_, err = Sweep(dir, noteRepair)
	if err == nil || !strings.Contains(err.Error(), "by hand: fail kafka: cannot; not tried again") || len(journalsIn(t, dir)) != 0 {
		t.Errorf("after days: %v; journals %v", err, journalsIn(t, dir))
	}
}

func TestReadJournal(t *testing.T) {
	a, b := proc.Process{PID: 1, Started: "a"}, proc.Process{PID: 2, Started: "b"}
	path := filepath.Join(t.TempDir(), "x"+journalEnding)
	j, err := createJournal(path, a)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range []entry{{Guard: &a}, {Guard: &b}, {Release: &a}, {Repair: &repair{1, []string{"x"}}}, {Repair: &repair{2, []string{"y"}}}, {Repaired: 1}} {
		if err := j.write(e); err != nil {
			t.Fatal(err)
		}
	}
	j.file.WriteString(`{"guard":{"pid":3,"sta`) // cut short by a kill
	d, err := readJournal(path)
	if err != nil || d.owner != a || len(d.guarded) != 1 || !d.guarded[b] || len(d.repairs) != 1 || !slices.Equal(d.repairs[2], []string{"y"}) {
		t.Errorf("%+v, %v", d, err)
	}
}

func journalsIn(t *testing.T, dir string) []string {
	t.Helper()
	paths, err := filepath.Glob(filepath.Join(dir, "*.journal*"))
	if err != nil {
		t.Fatal(err)
	}
	return paths
}

// eventually waits for what another process does; the limit is for a broken one alone.
func eventually(t *testing.T, what string, done func() bool) {
	t.Helper()
	for limit := time.Now().Add(30 * time.Second); !done(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(limit) {
			t.Fatal("in vain: " + what)
		}
	}
}
