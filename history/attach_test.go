// SPDX-License-Identifier: Apache-2.0

package history

import (
	"path/filepath"
	"slices"
	"testing"
)

// TestProcessesAreJoined records one run from three processes that number the same texts
// differently, one of which is killed.
func TestProcessesAreJoined(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "run")
	r, err := Create(dir, Header{Run: "r1"})
	if err != nil {
		t.Fatal(err)
	}
	main := mustSegment(t, r, "producer")
	red := r.Intern(Keys, "red")
	main.Append(&Event{Kind: PublishStart, T: 1, Key: red})
	for i, process := range []string{"worker.2", "worker.1"} {
		child, err := Attach(dir, process)
		if err != nil {
			t.Fatal(err)
		}
		if child.Header().Run != "r1" || child.Amend(func(*Header) {}) == nil {
			t.Errorf("process %s: header %+v", process, child.Header())
		}
		s := mustSegment(t, child, "handler")
		blue, red := child.Intern(Keys, "blue"), child.Intern(Keys, "red")
		s.Append(&Event{Kind: Delivery, T: int64(2 + i), Key: blue, Text: 99})
		s.Append(&Event{Kind: Delivery, T: int64(2 + i), Key: red, Session: child.Intern(Sessions, process)})
		if i == 0 {
			if err := child.Close(); err != nil {
				t.Fatal(err)
			}
		} else {
			defer child.Close()
		}
	}
	if _, err := Attach(dir, "worker.1"); err == nil {
		t.Error("two processes of one name")
	}
	if err := r.Close(); err != nil {
		t.Fatal(err)
	}
	run := mustOpen(t, dir)
	if got := run.Tasks(); !slices.Equal(got, []string{"producer", "handler", "handler"}) {
		t.Errorf("tasks = %q", got)
	}
	var got []string
	for _, e := range readAll(t, run, AllKinds) {
		got = append(got, run.Tasks()[e.Task]+" "+string(rune('0'+e.Task))+" "+run.Name(Keys, e.Key)+" "+run.Name(Sessions, e.Session)+run.Name(Texts, e.Text))
	}
	want := []string{"producer 0 red ", "handler 2 blue ", "handler 2 red worker.2", "handler 1 blue ", "handler 1 red worker.1"}
	if !slices.Equal(got, want) {
		t.Errorf("events = %q, want %q", got, want)
	}
	if !run.Integrity.Complete() || len(run.Integrity.Findings) != 2 {
		t.Errorf("integrity = %+v", run.Integrity)
	}
}
