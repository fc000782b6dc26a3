// SPDX-License-Identifier: Apache-2.0

package history

import (
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"sync"
	"testing"
)

// TestWrittenOpenBlock has the open block of systems without shared mappings: what was
// appended up to the latest effect is there, and the rest is said to be missing.
func TestWrittenOpenBlock(t *testing.T) {
	for _, row := range []struct{ events, effect, want int }{
		{0, -1, 0}, {10, -1, 0}, {10, 9, 10}, {10, 3, 4}, {600, 550, 551},
		{maxRows + 10, 5, maxRows}, {maxRows + 10, maxRows + 3, maxRows + 4}, {3*maxRows + 10, 5, 3 * maxRows},
	} {
		dir := filepath.Join(t.TempDir(), "run")
		r, err := Create(dir, Header{})
		if err != nil {
			t.Fatal(err)
		}
		s := mustSegment(t, r, "task")
		if err := s.open.close(true); err != nil {
			t.Fatal(err)
		}
		if s.open, err = openWritten(filepath.Join(dir, "000-task.open")); err != nil {
			t.Fatal(err)
		}
		events := simple(row.events)
		for i := range events {
			if i == row.effect {
				events[i].Kind = EffectResult
			}
			s.Append(&events[i])
		}
		run := mustOpen(t, dir)
		if got := readAll(t, run, AllKinds); !slices.Equal(got, events[:row.want]) {
			t.Errorf("%+v: %d events read", row, len(got))
		}
		if got, want := run.Integrity.Missing(), int64(maxRows-row.want%maxRows); got != want || run.Integrity.Findings[1].Damaged != 0 {
			t.Errorf("%+v: missing %d, want %d: %+v", row, got, want, run.Integrity)
		}
		if err := r.Close(); err != nil {
			t.Fatal(err)
		}
		if got := readAll(t, mustOpen(t, dir), AllKinds); !slices.Equal(got, events) {
			t.Errorf("%+v: %d events read once closed", row, len(got))
		}
	}
}

func TestSharedSegmentAndNames(t *testing.T) {
	const tasks, each = 8, 2000
	dir := filepath.Join(t.TempDir(), "run")
	r, err := Create(dir, Header{})
	if err != nil {
		t.Fatal(err)
	}
	s := mustSegment(t, r, "completions", Shared)
	var all sync.WaitGroup
	for task := range uint32(tasks) {
		all.Go(func() {
			for i := range uint64(each) {
				key := r.Intern(Keys, fmt.Sprint("key ", i%100))
				s.Append(&Event{Kind: PublishAnswer, Producer: task, Seq: i, Key: key})
			}
		})
	}
	all.Wait()
	if err := r.Close(); err != nil {
		t.Fatal(err)
	}
	run := mustOpen(t, dir)
	var next [tasks]uint64
	for _, e := range readAll(t, run, AllKinds) {
		if e.Seq != next[e.Producer] || run.Name(Keys, e.Key) != fmt.Sprint("key ", e.Seq%100) {
			t.Fatalf("event %+v, want %d; key %q", e, next[e.Producer], run.Name(Keys, e.Key))
		}
		next[e.Producer]++
	}
	if run.Integrity.Events != tasks*each || len(run.Names(Keys)) != 101 {
		t.Errorf("%d events, %d keys", run.Integrity.Events, len(run.Names(Keys)))
	}
}

func TestAppendAndInternAllocateNothing(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "run")
	r, err := Create(dir, Header{})
	if err != nil {
		t.Fatal(err)
	}
	s := mustSegment(t, r, "task")
	defer r.Close()
	e := Event{Kind: Delivery}
	r.Intern(Keys, "key")
	// One block is sealed before, so that the encoder is there.
	for range maxRows + 1 {
		s.Append(&e)
	}
	allocs := testing.AllocsPerRun(2*maxRows, func() {
		e.Key = r.Intern(Keys, "key")
		s.Append(&e)
	})
	if allocs != 0 {
		t.Errorf("%v allocations an event", allocs)
	}
}

func TestAppendSaysWhatIsWrong(t *testing.T) {
	for _, row := range []struct {
		name  string
		spoil func(*Segment)
		want  error
	}{
		{"no kind", func(s *Segment) { s.Append(&Event{}) }, errKind},
		{"kind of the future", func(s *Segment) { s.Append(&Event{Kind: Kinds}) }, errKind},
		{"after the end", func(s *Segment) { s.Close(); s.Append(&Event{Kind: Phase}) }, errClosed},
	} {
		dir := filepath.Join(t.TempDir(), "run")
		file, err := Create(dir, Header{})
		if err != nil {
			t.Fatal(err)
		}
		for _, r := range []*Recording{file, NewMemory(Header{})} {
			s := mustSegment(t, r, "task")
			s.Append(&Event{Kind: Phase})
			row.spoil(s)
			if err := r.Close(); !errors.Is(err, row.want) || !errors.Is(r.Err(), row.want) {
				t.Errorf("%s: Close = %v, want %v", row.name, err, row.want)
			}
			if _, err := r.Segment("late"); err == nil {
				t.Errorf("%s: a segment after Close", row.name)
			}
		}
		if n := mustOpen(t, dir).Integrity.Events; n != 1 {
			t.Errorf("%s: %d events in the file", row.name, n)
		}
		if n := len(readAll(t, mustOpen(t, dir), AllKinds)); n != 1 {
			t.Errorf("%s: %d events read", row.name, n)
		}
	}
}
