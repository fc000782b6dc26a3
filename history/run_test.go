// SPDX-License-Identifier: Apache-2.0

package history

import (
	"errors"
	"io/fs"
	"path/filepath"
	"reflect"
	"testing"
	"time"
)

func mustSegment(t testing.TB, r *Recording, task string, sharing ...Sharing) *Segment {
	t.Helper()
	s, err := r.Segment(task, sharing...)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func readAll(t testing.TB, run *Run, kinds KindSet) []Event {
	t.Helper()
	var all []Event
	if err := run.Each(kinds, func(e *Event) { all = append(all, *e) }); err != nil {
		t.Fatal(err)
	}
	return all
}

// recordTwoTasks writes events that tie in time, and texts.
func recordTwoTasks(t testing.TB, r *Recording) {
	t.Helper()
	a, b := mustSegment(t, r, "a"), mustSegment(t, r, "b/0", Shared)
	place := r.Intern(Places, "orders|0")
	b.Append(&Event{Kind: Delivery, T: 1, Place: place, Off: -1, Flags: Redelivered})
	a.Append(&Event{Kind: PublishStart, T: 1, Place: place, N: 100, CRC: 0xffffffff})
	a.Append(&Event{Kind: PublishAnswer, T: 3, Text: r.Intern(Texts, "timed out"), Seq: 1 << 63})
	b.Append(&Event{Kind: HandlerStart, T: 2})
	if err := r.Close(); err != nil {
		t.Fatal(err)
	}
}

var twoTasks = []Event{
	{Kind: PublishStart, T: 1, Place: 1, N: 100, CRC: 0xffffffff},
	{Kind: Delivery, T: 1, Place: 1, Off: -1, Flags: Redelivered, Task: 1},
	{Kind: HandlerStart, T: 2, Task: 1},
	{Kind: PublishAnswer, T: 3, Text: 1, Seq: 1 << 63},
}

func checkTwoTasks(t *testing.T, run *Run) {
	t.Helper()
	if got := readAll(t, run, AllKinds); !reflect.DeepEqual(got, twoTasks) {
		t.Errorf("events = %+v\nwant %+v", got, twoTasks)
	}
	if got := readAll(t, run, Only(HandlerStart)); !reflect.DeepEqual(got, twoTasks[2:3]) {
		t.Errorf("handler starts = %+v", got)
	}
	if run.Name(Places, 1) != "orders|0" || run.Name(Texts, 1) != "timed out" || run.Name(Texts, 2) != "" {
		t.Errorf("names = %q, %q", run.Names(Places), run.Names(Texts))
	}
	if !reflect.DeepEqual(run.Tasks(), []string{"a", "b/0"}) {
		t.Errorf("tasks = %q", run.Tasks())
	}
	if run.Integrity.Events != 4 || !run.Integrity.Complete() || len(run.Integrity.Findings) != 0 {
		t.Errorf("integrity = %+v", run.Integrity)
	}
}

func TestMemory(t *testing.T) {
	r := NewMemory(Header{Run: "r1"})
	recordTwoTasks(t, r)
	checkTwoTasks(t, r.Run())
}

func TestDirectory(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "runs", "r1")
	r, err := Create(dir, Header{Run: "r1"})
	if err != nil {
		t.Fatal(err)
	}
	if err := r.Amend(func(h *Header) { h.Host = "linux" }); err != nil {
		t.Fatal(err)
	}
	recordTwoTasks(t, r)
	run, err := Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	checkTwoTasks(t, run)
	if run.Header.Run != "r1" || run.Header.Host != "linux" || run.Header.Format != FormatVersion {
		t.Errorf("header = %+v", run.Header)
	}
	if _, err := Create(dir, Header{}); !errors.Is(err, fs.ErrExist) {
		t.Errorf("second Create = %v, want %v", err, fs.ErrExist)
	}
}

func TestEveryKindHasAName(t *testing.T) {
	seen := map[string]bool{}
	for k := range Kinds {
		if k.String() == "" || seen[k.String()] {
			t.Errorf("kind %d is called %q", k, k)
		}
		seen[k.String()] = true
	}
}

// TestCreateLeavesNothingBehind: a run that could not be begun is not there.
func TestCreateLeavesNothingBehind(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "run")
	noTime := Header{Started: time.Date(20_000, 1, 1, 0, 0, 0, 0, time.UTC)} // JSON has no such year
	if _, err := Create(dir, noTime); err == nil {
		t.Fatal("a header without a form was written")
	}
	if r, err := Create(dir, Header{}); err != nil || r.Close() != nil {
		t.Errorf("after a run that could not be begun: %v", err)
	}
}
