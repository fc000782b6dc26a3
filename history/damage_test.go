// SPDX-License-Identifier: Apache-2.0

package history

import (
	"os"
	"path/filepath"
	"slices"
	"testing"
)

// recordOne records events in one segment of a new run and returns its directory. The
// recording is left as a process that was killed leaves it, unless it is to be closed.
func recordOne(t testing.TB, events []Event, closed bool) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "run")
	r, err := Create(dir, Header{})
	if err != nil {
		t.Fatal(err)
	}
	s := mustSegment(t, r, "task")
	for i := range events {
		s.Append(&events[i])
	}
	if !closed {
		t.Cleanup(func() { r.Close() })
		return dir
	}
	if err := r.Close(); err != nil {
		t.Fatal(err)
	}
	return dir
}

// simple makes n events that are told apart.
func simple(n int) []Event {
	events := make([]Event, n)
	for i := range events {
		events[i] = Event{Kind: Delivery, T: int64(i), Seq: uint64(i), Off: int64(i * i), D: int64(i % 7), Producer: uint32(i % 3)}
		if i%5 == 0 {
			events[i] = Event{Kind: Receive, T: int64(i), N: uint32(i)}
		}
	}
	return events
}

func mustOpen(t testing.TB, dir string) *Run {
	t.Helper()
	run, err := Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	return run
}

func TestKilledLosesNothing(t *testing.T) {
	for _, n := range []int{0, 1, growth, growth + 1, maxRows - 1, maxRows, maxRows + 1, 3*maxRows + 17} {
		want := simple(n)
		run := mustOpen(t, recordOne(t, want, false))
		if got := readAll(t, run, AllKinds); !slices.Equal(got, want) {
			t.Errorf("%d events: %d read", n, len(got))
		}
		finding := run.Integrity.Findings[len(run.Integrity.Findings)-1]
		if !run.Integrity.Complete() || !finding.NotClosed || finding.Missing != 0 || run.Integrity.Events != int64(n) {
			t.Errorf("%d events: integrity %+v", n, run.Integrity)
		}
	}
}

func TestClosedLeavesNoOpenBlock(t *testing.T) {
	dir := recordOne(t, simple(10), true)
	files, err := filepath.Glob(filepath.Join(dir, "*"))
	if err != nil {
		t.Fatal(err)
	}
	for i := range files {
		files[i] = filepath.Base(files[i])
	}
	if want := []string{"000-task.seg", "manifest.json", "names.seg"}; !slices.Equal(files, want) {
		t.Errorf("files = %q, want %q", files, want)
	}
}

// TestTornAnywhere cuts the file at each byte of its last block, as a crash of the
// machine would, with the open block gone too.
func TestTornAnywhere(t *testing.T) {
	events := simple(2*maxRows + 50)
	dir := recordOne(t, events, true)
	path := filepath.Join(dir, "000-task.seg")
	whole := mustRead(t, path)
	run := mustOpen(t, dir)
	last := run.parts[0].blocks[2]
	for size := last.at - frameSize; size < last.at+int64(last.size); size++ {
		mustWrite(t, path, whole[:size])
		run := mustOpen(t, dir)
		got := readAll(t, run, AllKinds)
		if !slices.Equal(got, events[:2*maxRows]) {
			t.Fatalf("cut at byte %d: %d events read", size, len(got))
		}
		want := Finding{File: "000-task.seg", Task: "task", NotClosed: true, Torn: size - (last.at - frameSize), Missing: maxRows}
		if !slices.Equal(run.Integrity.Findings, []Finding{want}) {
			t.Fatalf("cut at byte %d: %+v", size, run.Integrity)
		}
	}
}

// TestNamesTornAnywhere cuts the names of a run that was closed at each byte: what is gone
// is noticed, or events would lose their names in silence.
func TestNamesTornAnywhere(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "run")
	r, err := Create(dir, Header{})
	if err != nil {
		t.Fatal(err)
	}
	s := mustSegment(t, r, "task")
	for _, name := range []string{"a", "b", "c"} {
		s.Append(&Event{Kind: Receive, Place: r.Intern(Places, name)})
	}
	if err := r.Close(); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(dir, "names.seg")
	whole := mustRead(t, path)
	if run := mustOpen(t, dir); !run.Integrity.Complete() {
		t.Fatalf("whole: %+v", run.Integrity)
	}
	for size := range whole {
		mustWrite(t, path, whole[:size])
		if run := mustOpen(t, dir); run.Integrity.Complete() {
			t.Errorf("cut at byte %d: %+v, want names missing", size, run.Integrity)
		}
	}
}

// TestFlippedBitAnywhere flips one bit in each byte of the last block.
func TestFlippedBitAnywhere(t *testing.T) {
	events := simple(2*maxRows + 50)
	dir := recordOne(t, events, true)
	path := filepath.Join(dir, "000-task.seg")
	whole := mustRead(t, path)
	run := mustOpen(t, dir)
	last := run.parts[0].blocks[2]
	for at := last.at - frameSize; at < last.at+int64(last.size); at++ {
		whole[at] ^= 1 << (at % 8)
		mustWrite(t, path, whole)
		whole[at] ^= 1 << (at % 8)
		run := mustOpen(t, dir)
		got := readAll(t, run, AllKinds)
		if !slices.Equal(got, events[:2*maxRows]) {
			t.Fatalf("bit of byte %d: %d events read", at, len(got))
		}
		want := Finding{File: "000-task.seg", Task: "task", Damaged: 1, Missing: 50}
		if !slices.Equal(run.Integrity.Findings, []Finding{want}) {
			t.Fatalf("bit of byte %d: %+v", at, run.Integrity)
		}
	}
}

func TestDamageInTheMiddleIsSkipped(t *testing.T) {
	events := simple(3 * maxRows)
	dir := recordOne(t, events, true)
	path := filepath.Join(dir, "000-task.seg")
	whole := mustRead(t, path)
	middle := mustOpen(t, dir).parts[0].blocks[1]
	whole[middle.at+100] ^= 1
	mustWrite(t, path, whole)
	run := mustOpen(t, dir)
	want := slices.Concat(events[:maxRows], events[2*maxRows:])
	if got := readAll(t, run, AllKinds); !slices.Equal(got, want) {
		t.Errorf("%d events read", len(got))
	}
	if run.Integrity.Missing() != maxRows || run.Integrity.Complete() {
		t.Errorf("integrity = %+v", run.Integrity)
	}
}

// TestKilledBetweenSealAndReset puts the slots of a block that is sealed back.
func TestKilledBetweenSealAndReset(t *testing.T) {
	events := simple(maxRows + 1)
	dir := recordOne(t, events[:maxRows], false)
	open := mustRead(t, filepath.Join(dir, "000-task.open"))
	dir = recordOne(t, events, false)
	mustWrite(t, filepath.Join(dir, "000-task.open"), open)
	run := mustOpen(t, dir)
	if got := readAll(t, run, AllKinds); !slices.Equal(got, events[:maxRows]) {
		t.Errorf("%d events read", len(got))
	}
	if !run.Integrity.Complete() {
		t.Errorf("integrity = %+v", run.Integrity)
	}
}

func TestOpenBlockOfAnotherBuildIsRefused(t *testing.T) {
	dir := recordOne(t, simple(10), false)
	path := filepath.Join(dir, "000-task.open")
	open := mustRead(t, path)
	open[8] ^= 1 // of the layout
	mustWrite(t, path, open)
	run := mustOpen(t, dir)
	if got := readAll(t, run, AllKinds); len(got) != 0 || run.Integrity.Missing() != maxRows {
		t.Errorf("%d events read, integrity %+v", len(got), run.Integrity)
	}
}

func TestDamagedNameHasAStandIn(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "run")
	r, err := Create(dir, Header{})
	if err != nil {
		t.Fatal(err)
	}
	for _, key := range []string{"red", "green", "blue"} {
		r.Intern(Keys, key)
	}
	if err := r.Close(); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(dir, "names.seg")
	whole := mustRead(t, path)
	whole[slices.Index(whole, 'g')] ^= 1
	mustWrite(t, path, whole)
	run := mustOpen(t, dir)
	if got := run.Names(Keys); !slices.Equal(got, []string{"", "red", "?2", "blue"}) {
		t.Errorf("keys = %q", got)
	}
	if run.Integrity.Complete() || run.Integrity.Findings[0].Unnamed != 1 {
		t.Errorf("integrity = %+v", run.Integrity)
	}
}

func mustRead(t testing.TB, path string) []byte {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func mustWrite(t testing.TB, path string, b []byte) {
	t.Helper()
	if err := os.WriteFile(path, b, 0o644); err != nil {
		t.Fatal(err)
	}
}
