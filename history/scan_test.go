// SPDX-License-Identifier: Apache-2.0

package history

import (
	"testing"

	"pgregory.net/rapid"

	"github.com/seed-720a3c77/harness/msg"
)

// TestScanIsEachWithoutTheOrder: the same events task by task, with the fields asked for.
func TestScanIsEachWithoutTheOrder(t *testing.T) {
	run := syntheticRun(t, 3*maxRows)
	rapid.Check(t, func(t *rapid.T) {
		kinds := rapid.SampledFrom([]KindSet{AllKinds, Only(Delivery), Only(PublishAnswer, EffectResult), Only(Phase)}).Draw(t, "kinds")
		fields := Fields(rapid.Uint32().Draw(t, "fields")) | rapid.SampledFrom([]Fields{0, FieldT, FieldSeq, FieldOff, AllFields}).Draw(t, "more")
		fields |= needed(fields)
		var want, got [syntheticTasks][]Event
		each := func(e *Event) { want[e.Task] = append(want[e.Task], *e) }
		if err := run.Each(kinds, each); err != nil {
			t.Fatal(err)
		}
		scanned := func(events []Event) { got[events[0].Task] = append(got[events[0].Task], events...) }
		if err := run.Scan(kinds, fields, scanned); err != nil {
			t.Fatal(err)
		}
		for task := range want {
			if len(got[task]) != len(want[task]) {
				t.Fatalf("task %d: %d events, want %d", task, len(got[task]), len(want[task]))
			}
			for i := range want[task] {
				if !sameFields(fields, &got[task][i], &want[task][i]) {
					t.Fatalf("task %d, event %d: %+v, want the fields %b of %+v", task, i, got[task][i], fields, want[task][i])
				}
			}
		}
	})
}

// needed adds what a field is stored by.
func needed(f Fields) (more Fields) {
	if f.hasColumn(seqColumn) {
		more |= FieldSeq
	}
	if f.hasColumn(offColumn) {
		more |= FieldOff
	}
	return more
}

func sameFields(f Fields, a, b *Event) bool {
	same := a.Kind == b.Kind && (f&FieldT == 0 || a.T == b.T)
	for i := range columns {
		same = same && (!f.hasColumn(i) || columns[i].get(a) == columns[i].get(b))
	}
	return same
}

// TestScanGoesByTime: what is outstanding stays little for a fold that forgets what is through.
func TestScanGoesByTime(t *testing.T) {
	run := syntheticRun(t, 20*maxRows)
	sent, most := map[msg.ID]bool{}, 0
	err := run.Scan(Only(PublishAnswer, EffectResult), FieldSeq, func(events []Event) {
		for i := range events {
			id := events[i].ID()
			if sent[id] {
				delete(sent, id)
			} else {
				sent[id] = true
			}
		}
		most = max(most, len(sent))
	})
	if err != nil || len(sent) != 0 || most > 10*maxRows {
		t.Errorf("%d left, %d at most, %v", len(sent), most, err)
	}
}

// syntheticRun is n messages a producer, read from a directory.
func syntheticRun(t *testing.T, n int) *Run {
	dir := t.TempDir() + "/run"
	r, err := Create(dir, Header{})
	if err != nil {
		t.Fatal(err)
	}
	var tasks [syntheticTasks]*Segment
	for i := range tasks {
		tasks[i] = mustSegment(t, r, "task")
	}
	newSynthetic(7).messages(n, func(task int, e *Event) { tasks[task].Append(e) })
	if err := r.Close(); err != nil {
		t.Fatal(err)
	}
	return mustOpen(t, dir)
}
