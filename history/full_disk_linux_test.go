// SPDX-License-Identifier: Apache-2.0

package history

import (
	"errors"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"syscall"
	"testing"
)

// fullDir tells the child of TestFileLimitIsAnError where to record.
const fullDir = "HISTORY_TEST_FULL_DIR"

const fullEvents = 100_000

// recordUntilFull records until long after there is no more room, and returns what
// Create, Err and Close said.
func recordUntilFull(dir string) (created, failed, closed error) {
	r, err := Create(dir, Header{})
	if err != nil {
		return err, nil, nil
	}
	s, err := r.Segment("task")
	if err != nil {
		return err, nil, nil
	}
	for i := range uint64(fullEvents) {
		e := killedEvent(i)
		s.Append(&e)
	}
	return nil, r.Err(), r.Close()
}

func TestFullDiskIsAnError(t *testing.T) {
	disk := t.TempDir()
	if err := syscall.Mount("tmpfs", disk, "tmpfs", 0, "size=1m"); err != nil {
		t.Logf("no tmpfs to fill (%v): TestFileLimitIsAnError covers it alone", err)
		return
	}
	t.Cleanup(func() { syscall.Unmount(disk, 0) })
	dir := filepath.Join(disk, "run")
	created, failed, closed := recordUntilFull(dir)
	if created != nil {
		t.Fatal(created)
	}
	if !errors.Is(failed, syscall.ENOSPC) || !errors.Is(closed, syscall.ENOSPC) {
		t.Errorf("Err = %v, Close = %v, want %v", failed, closed, syscall.ENOSPC)
	}
	checkFull(t, dir)
}

// TestFileLimitIsAnError records in a child, because a limit binds a whole process.
func TestFileLimitIsAnError(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "run")
	child := exec.Command(os.Args[0])
	child.Env = append(os.Environ(), fullDir+"="+dir)
	if out, err := child.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	checkFull(t, dir)
}

// recordLimited is the child: its files end at 200 kB.
func recordLimited(dir string) {
	signal.Ignore(syscall.SIGXFSZ)
	check(syscall.Setrlimit(syscall.RLIMIT_FSIZE, &syscall.Rlimit{Cur: 200 << 10, Max: 200 << 10}))
	created, failed, closed := recordUntilFull(dir)
	check(created)
	if !errors.Is(failed, syscall.EFBIG) || !errors.Is(closed, syscall.EFBIG) {
		check(errors.Join(errors.New("want file too large"), failed, closed))
	}
	os.Exit(0)
}

// checkFull reads back what was recorded before; what was not is counted exactly.
func checkFull(t *testing.T, dir string) {
	t.Helper()
	run := mustOpen(t, dir)
	n := uint64(0)
	for _, e := range readAll(t, run, AllKinds) {
		if e != killedEvent(n) {
			t.Fatalf("event %d is %+v", n, e)
		}
		n++
	}
	if n == 0 || n == fullEvents {
		t.Errorf("%d events read", n)
	}
	if run.Integrity.Missing() != fullEvents-int64(n) || run.Integrity.Complete() {
		t.Errorf("%d events read, integrity %+v", n, run.Integrity)
	}
}

func TestDirectoryThatCannotBeWritten(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	mustWrite(t, file, nil)
	if _, err := Create(filepath.Join(file, "run"), Header{}); err == nil {
		t.Error("Create below a file succeeded")
	}
	if _, err := Attach(t.TempDir(), "child"); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("Attach to no run = %v", err)
	}
}
