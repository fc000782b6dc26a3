// SPDX-License-Identifier: Apache-2.0

package checkers

import "github.com/seed-720a3c77/harness/history"

// ties puts the events of one instant into an order in which they can have happened. The
// merged history orders them by task, which says nothing: on virtual time a worker may
// give a message back and another get it at the same nanosecond. Each task's events keep
// their order; between tasks, what ends a hold goes before what a hold could follow from.
type ties struct {
	events []history.Event
	tasks  []stretch
	seen   int64
}

// stretch is what is left of one task's events.
type stretch struct{ next, end int }

// begin forgets everything but the memory.
func (t *ties) begin() {
	t.events, t.tasks, t.seen = t.events[:0], t.tasks[:0], 0
}

// batch takes consecutive events. Those of the last instant wait: the next batch may have
// more of them.
func (j *Judge) batch(events []*history.Event) {
	t, at := j.ties, 0
	if len(t.events) > 0 {
		if at = sameInstant(events, t.events[0].T); at > 0 {
			t.keep(events[:at])
		}
		if at == len(events) {
			return
		}
		j.release()
	}
	last := len(events) - 1
	for last > at && events[last-1].T == events[last].T {
		last--
	}
	for at < last {
		e := events[at]
		if e.T != events[at+1].T {
			j.observe(e, t.seen)
			t.seen++
			at++
			continue
		}
		n := sameInstant(events[at:], e.T)
		t.keep(events[at : at+n])
		j.release()
		at += n
	}
	t.keep(events[last:])
}

// release observes what waits, each with its index in the merged history.
func (j *Judge) release() {
	t := j.ties
	first := t.seen - int64(len(t.events))
	if n := len(t.events); n > 0 && t.events[0].Task == t.events[n-1].Task {
		for i := range t.events {
			j.observe(&t.events[i], first+int64(i))
		}
		t.events = t.events[:0]
		return
	}
	t.split()
	for range t.events {
		i := t.choose()
		j.observe(&t.events[i], first+int64(i))
	}
	t.events = t.events[:0]
}

// sameInstant is how many events at the beginning happened at an instant.
func sameInstant(events []*history.Event, at int64) int {
	for i := range events {
		if events[i].T != at {
			return i
		}
	}
	return len(events)
}

func (t *ties) keep(events []*history.Event) {
	for _, e := range events {
		t.events = append(t.events, *e)
	}
	t.seen += int64(len(events))
}

func (t *ties) split() {
	t.tasks = t.tasks[:0]
	for i := range t.events {
		if i == 0 || t.events[i].Task != t.events[i-1].Task {
			t.tasks = append(t.tasks, stretch{next: i})
		}
		t.tasks[len(t.tasks)-1].end = i + 1
	}
}

// choose takes the next event.
func (t *ties) choose() int {
	best := -1
	for k := range t.tasks {
		if s := &t.tasks[k]; s.next < s.end && (best < 0 || before(&t.events[s.next], &t.events[t.tasks[best].next])) {
			best = k
		}
	}
	t.tasks[best].next++
	return t.tasks[best].next - 1
}

// before tells whether an event goes first. Of two deliveries the one with the lower
// count of the broker does.
func before(a, b *history.Event) bool {
	if a.Kind == history.Delivery && b.Kind == history.Delivery {
		return a.N < b.N
	}
	return rank(a.Kind) < rank(b.Kind)
}

func rank(k history.Kind) int {
	switch k {
	case history.FaultRequested:
		return 0
	case history.SessionOpen, history.Assign:
		return 2
	case history.Delivery:
		return 3
	case history.HandlerStart:
		return 4
	}
	return 1
}
