// SPDX-License-Identifier: Apache-2.0

package clock

import (
	"testing"

	"pgregory.net/rapid"
)

// TestQueue compares the queue with a slice.
func TestQueue(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var q queue[int]
		var model []int
		for i, push := range rapid.SliceOfN(rapid.Bool(), 0, 200).Draw(t, "pushes") {
			if push || len(model) == 0 {
				q.push(i)
				model = append(model, i)
				continue
			}
			if got := q.pop(); got != model[0] {
				t.Fatalf("pop = %d, want %d", got, model[0])
			}
			model = model[1:]
			if q.len() != len(model) || q.empty() != (len(model) == 0) {
				t.Fatalf("len %d, want %d", q.len(), len(model))
			}
		}
	})
}

// TestQueueMemory: a queue that never runs empty does not grow with what went through.
func TestQueueMemory(t *testing.T) {
	var q queue[int]
	q.push(0)
	for i := range 100_000 {
		q.push(i)
		q.pop()
	}
	if cap(q.items) > 16 {
		t.Errorf("capacity %d for a backlog of 2", cap(q.items))
	}
}
