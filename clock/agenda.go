// SPDX-License-Identifier: Apache-2.0

package clock

import "time"

// An event is something due at an instant. It is part of what it belongs to (a task, a
// timer, a mailbox, a context), so that scheduling allocates nothing.
type event struct {
	slot int // index in the agenda plus one; zero: not scheduled
	act  actor
}

// An actor is what an event belongs to.
type actor interface {
	// due acts at the event's instant.
	due()
	// owned is the task whose code the event runs, nil if it is the engine's.
	owned() *virtualTask
}

func (e *event) scheduled() bool { return e.slot != 0 }

// entry keeps the keys of an event next to each other: sifting compares without
// following pointers.
type entry struct {
	at  time.Duration
	tie uint64
	ev  *event
}

func (a *entry) before(b *entry) bool {
	return a.at < b.at || a.at == b.at && a.tie < b.tie
}

// agenda is a heap, four children to a node, ordered by instant and tie. Every event
// knows its place, so that one that is no longer wanted leaves at once.
type agenda []entry

func (a *agenda) add(at time.Duration, tie uint64, ev *event) {
	*a = append(*a, entry{at, tie, ev})
	a.up(len(*a)-1, entry{at, tie, ev})
}

// remove takes ev out, if it is there.
func (a *agenda) remove(ev *event) {
	if ev.slot == 0 {
		return
	}
	i := ev.slot - 1
	ev.slot = 0
	last := len(*a) - 1
	moved := (*a)[last]
	(*a)[last] = entry{}
	*a = (*a)[:last]
	if i == last {
		return
	}
	if i > 0 && moved.before(&(*a)[(i-1)/4]) {
		a.up(i, moved)
		return
	}
	a.down(i, moved)
}

// removeIf takes out every event of which drop says so.
func (a *agenda) removeIf(drop func(*event) bool) {
	all := *a
	*a = all[:0]
	for _, e := range all {
		e.ev.slot = 0
		if !drop(e.ev) {
			a.add(e.at, e.tie, e.ev)
		}
	}
	clear(all[len(*a):])
}

// up puts e at i or above.
func (a *agenda) up(i int, e entry) {
	h := *a
	for i > 0 {
		parent := (i - 1) / 4
		if !e.before(&h[parent]) {
			break
		}
		h[i] = h[parent]
		h[i].ev.slot = i + 1
		i = parent
	}
	h[i] = e
	e.ev.slot = i + 1
}

// down puts e at i or below.
func (a *agenda) down(i int, e entry) {
	h := *a
	for {
		least := 4*i + 1
		if least >= len(h) {
			break
		}
		for c := least + 1; c < min(4*i+5, len(h)); c++ {
			if h[c].before(&h[least]) {
				least = c
			}
		}
		if !h[least].before(&e) {
			break
		}
		h[i] = h[least]
		h[i].ev.slot = i + 1
		i = least
	}
	h[i] = e
	e.ev.slot = i + 1
}
