// SPDX-License-Identifier: Apache-2.0

package history

import (
	"cmp"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// TestMergeIsAStableSort compares the merge of many tasks with sorting all events.
func TestMergeIsAStableSort(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		r := NewMemory(Header{})
		var want []Event
		for task := range rapid.IntRange(0, 40).Draw(t, "tasks") {
			s, err := r.Segment("task")
			if err != nil {
				t.Fatal(err)
			}
			now := int64(0)
			for i := range rapid.SampledFrom([]int{0, 1, 5, 40}).Draw(t, "events") {
				now += rapid.Int64Range(0, 3).Draw(t, "later")
				e := Event{Kind: Delivery + Kind(i%3), T: now, Seq: uint64(i)}
				s.Append(&e)
				e.Task = uint16(task)
				want = append(want, e)
			}
		}
		if err := r.Close(); err != nil {
			t.Fatal(err)
		}
		slices.SortStableFunc(want, func(a, b Event) int { return cmp.Or(cmp.Compare(a.T, b.T), cmp.Compare(a.Task, b.Task)) })
		kinds := rapid.SampledFrom([]KindSet{AllKinds, Only(Delivery), Only(Delivery, HandlerStart), Only(Phase), 0}).Draw(t, "kinds")
		want = slices.DeleteFunc(want, func(e Event) bool { return !kinds.Has(e.Kind) })
		var got []Event
		if err := r.Run().Each(kinds, func(e *Event) { got = append(got, *e) }); err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(got, want) {
			t.Fatalf("got %+v\nwant %+v", got, want)
		}
	})
}

// TestLongSegmentsInMemory go through sealed blocks.
func TestLongSegmentsInMemory(t *testing.T) {
	r := NewMemory(Header{})
	a, b := mustSegment(t, r, "a"), mustSegment(t, r, "b")
	events := simple(3*maxRows + 5)
	for i := range events {
		a.Append(&events[i])
		b.Append(&events[i])
	}
	if err := r.Close(); err != nil {
		t.Fatal(err)
	}
	run := r.Run()
	for range 2 { // a run is read any number of times
		i := 0
		for _, got := range readAll(t, run, AllKinds) {
			want := events[i/2]
			want.Task = uint16(i % 2)
			if got != want {
				t.Fatalf("event %d = %+v, want %+v", i, got, want)
			}
			i++
		}
		if i != 2*len(events) || run.Integrity.Events != int64(i) {
			t.Errorf("%d events, integrity %+v", i, run.Integrity)
		}
	}
}
