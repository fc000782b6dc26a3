// SPDX-License-Identifier: Apache-2.0

package inmem

import "time"

// expirer is what a deadline belongs to.
type expirer interface {
	// expire acts at the deadline's instant. The deadline is no longer armed.
	expire(at time.Duration)
}

// deadline is part of what it belongs to, so that arming allocates nothing.
type deadline struct {
	slot int // index in the agenda plus one; zero: not armed
	of   expirer
}

func (d *deadline) armed() bool { return d.slot != 0 }

type entry struct {
	at     time.Duration
	arming uint64
	of     *deadline
}

func (a *entry) before(b *entry) bool {
	return a.at < b.at || a.at == b.at && a.arming < b.arming
}

// agenda is a heap, four children to a node, in (time, arming) order. A deadline knows
// its place and leaves at once when it is no longer wanted.
type agenda struct {
	heap    []entry
	armings uint64
}

// next is the earliest instant.
func (a *agenda) next() (time.Duration, bool) {
	if len(a.heap) == 0 {
		return 0, false
	}
	return a.heap[0].at, true
}

// arm sets or moves a deadline.
func (a *agenda) arm(d *deadline, at time.Duration) {
	a.disarm(d)
	a.armings++
	e := entry{at, a.armings, d}
	a.heap = append(a.heap, e)
	a.up(len(a.heap)-1, e)
}

func (a *agenda) disarm(d *deadline) {
	if d.slot == 0 {
		return
	}
	i := d.slot - 1
	d.slot = 0
	last := len(a.heap) - 1
	moved := a.heap[last]
	a.heap[last] = entry{}
	a.heap = a.heap[:last]
	if i == last {
		return
	}
	if i > 0 && moved.before(&a.heap[(i-1)/4]) {
		a.up(i, moved)
		return
	}
	a.down(i, moved)
}

// run fires the deadlines up to an instant, which is included or not.
func (a *agenda) run(until time.Duration, included bool) {
	for len(a.heap) > 0 {
		first := a.heap[0]
		if first.at > until || first.at == until && !included {
			return
		}
		a.disarm(first.of)
		first.of.of.expire(first.at)
	}
}

func (a *agenda) up(i int, e entry) {
	for i > 0 {
		parent := (i - 1) / 4
		if !e.before(&a.heap[parent]) {
			break
		}
		a.put(i, a.heap[parent])
		i = parent
	}
	a.put(i, e)
}

func (a *agenda) down(i int, e entry) {
	for {
		least := 4*i + 1
		if least >= len(a.heap) {
			break
		}
		for c := least + 1; c < min(4*i+5, len(a.heap)); c++ {
			if a.heap[c].before(&a.heap[least]) {
				least = c
			}
		}
		if !a.heap[least].before(&e) {
			break
		}
		a.put(i, a.heap[least])
		i = least
	}
	a.put(i, e)
}

func (a *agenda) put(i int, e entry) {
	a.heap[i] = e
	e.of.slot = i + 1
}

// nextTick is the first tick at or after an instant; ticks are counted from a start. A
// period of zero has a tick at every instant.
func nextTick(at, start, period time.Duration) time.Duration {
	if period <= 0 || at <= start {
		return max(at, start)
	}
	over := (at - start) % period
	if over == 0 {
		return at
	}
	return at - over + period
}
