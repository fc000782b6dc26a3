// SPDX-License-Identifier: Apache-2.0

package history

import (
	"os"
	"path/filepath"
	"slices"
	"testing"
)

// recordSmall makes the run of three processes, one of which was killed: a file of every
// sort that a run can have.
func recordSmall(t *testing.T) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "run")
	r, err := Create(dir, Header{Run: "r1", Producers: []Producer{{Name: "p", To: "orders", Count: 3}}})
	if err != nil {
		t.Fatal(err)
	}
	s := mustSegment(t, r, "producer")
	for i := range uint64(3) {
		s.Append(&Event{Kind: PublishStart, Seq: i, Key: r.Intern(Keys, "red"), T: int64(i)})
	}
	for _, process := range []string{"closed", "killed"} {
		child, err := Attach(dir, process)
		if err != nil {
			t.Fatal(err)
		}
		s := mustSegment(t, child, "handler")
		s.Append(&Event{Kind: Delivery, T: 5, Key: child.Intern(Keys, "blue")})
		if process == "killed" {
			t.Cleanup(func() { child.Close() })
		} else if err := child.Close(); err != nil {
			t.Fatal(err)
		}
	}
	if err := r.Close(); err != nil {
		t.Fatal(err)
	}
	return dir
}

// noticed tells whether a reader learns that a run is not as it was written.
func noticed(dir string) bool {
	run, err := Open(dir)
	return err != nil || !run.Integrity.Complete()
}

// TestAnyDamageOfARunIsNoticed cuts every file of a run at every byte, flips a bit of every
// byte, and takes every file away: a verdict must not rest on what is left without a word.
func TestAnyDamageOfARunIsNoticed(t *testing.T) {
	dir := recordSmall(t)
	if run := mustOpen(t, dir); !run.Integrity.Complete() || run.Header.Unfinished {
		t.Fatalf("whole: %+v", run.Integrity)
	}
	files, err := filepath.Glob(filepath.Join(dir, "*"))
	if err != nil || len(files) != 8 {
		t.Fatalf("files %q, %v", files, err)
	}
	for _, path := range files {
		step := 1
		if testing.Short() {
			step = 7
		}
		if filepath.Ext(path) == openEnding { // of the process that was killed: large
			step = 997
		}
		damageFile(t, dir, path, step)
		whole := mustRead(t, path)
		if err := os.Remove(path); err != nil {
			t.Fatal(err)
		}
		if !noticed(dir) {
			t.Errorf("%s taken away: not noticed", filepath.Base(path))
		}
		mustWrite(t, path, whole)
	}
	if noticed(dir) {
		t.Error("put back: not whole")
	}
}

// damageFile does that at every step-th byte.
func damageFile(t *testing.T, dir, path string, step int) {
	t.Helper()
	whole := mustRead(t, path)
	for at := 0; at < len(whole); at += step {
		mustWrite(t, path, whole[:at])
		if !noticed(dir) {
			t.Errorf("%s cut at byte %d of %d: not noticed", filepath.Base(path), at, len(whole))
		}
		damaged := slices.Clone(whole)
		damaged[at] ^= 1 << (at % 8)
		mustWrite(t, path, damaged)
		if !noticed(dir) {
			t.Errorf("%s with a bit of byte %d flipped: not noticed", filepath.Base(path), at)
		}
	}
	mustWrite(t, path, whole)
}

// TestAnotherFileIsNoticed puts a whole segment of another run in the place of one.
func TestAnotherFileIsNoticed(t *testing.T) {
	dir, other := recordOne(t, simple(10), true), recordOne(t, simple(11), true)
	mustWrite(t, filepath.Join(dir, "000-task.seg"), mustRead(t, filepath.Join(other, "000-task.seg")))
	run := mustOpen(t, dir)
	want := Finding{File: "000-task.seg", Task: "task", Altered: true, Missing: 1}
	if !slices.Equal(run.Integrity.Findings, []Finding{want}) {
		t.Errorf("%+v", run.Integrity)
	}
}
