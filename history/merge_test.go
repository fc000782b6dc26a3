// SPDX-License-Identifier: Apache-2.0

package history

import (
	"cmp"
	"math/rand/v2"
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

// TestMergeOfManyBlocks is TestMergeIsAStableSort over more than a batch and more than a
// block, with tasks that share a segment and race a little.
func TestMergeOfManyBlocks(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	r := NewMemory(Header{})
	var want []Event
	for task := range uint16(5) {
		s := mustSegment(t, r, "task")
		now, highest := int64(0), int64(0)
		for i := range uint64(3000 * int(task)) {
			now += rng.Int64N(4) - 1 // back by 1 at times
			highest = max(highest, now)
			e := Event{Kind: Delivery, T: now, Seq: i}
			s.Append(&e)
			e.Task, e.Until = task, highest // its place
			want = append(want, e)
		}
	}
	if err := r.Close(); err != nil {
		t.Fatal(err)
	}
	slices.SortStableFunc(want, func(a, b Event) int { return cmp.Or(cmp.Compare(a.Until, b.Until), cmp.Compare(a.Task, b.Task)) })
	for i := range want {
		want[i].Until = 0
	}
	got := readAll(t, r.Run(), AllKinds)
	if len(got) != len(want) {
		t.Fatalf("%d events, want %d", len(got), len(want))
	}
	for i := range want {
		if got[i] != want[i] {
			t.Fatalf("event %d is %+v, want %+v", i, got[i], want[i])
		}
	}
}
