// SPDX-License-Identifier: Apache-2.0

package inmem

import "github.com/seed-720a3c77/harness/contract"

// place is where a message stands in its queue. It is part of the message.
type place struct {
	// seq is the number of the message in its queue, in the order of arrival.
	seq uint64
	// entries numbers the entries that the message has had among the ready: only the
	// newest counts, and only while waits is set.
	entries uint32
	waits   bool
}

// queued is a message that has a place.
type queued interface {
	comparable
	stand() *place
}

// spot is an entry among the ready. It may be out of date: taking a message out from
// the middle only marks it.
type spot[T queued] struct {
	item  T
	seq   uint64 // kept here: the item may be used again as another message
	entry uint32
}

func (s *spot[T]) current() bool {
	p := s.item.stand()
	return p.waits && p.entries == s.entry
}

// ready holds the messages of a queue that may be handed out: those that came back,
// which are usually few, and the rest in the order of arrival.
type ready[T queued] struct {
	fresh ring[spot[T]]
	// returned goes first, in the order of return (PlaceHead).
	returned ring[spot[T]]
	// original is a heap by arrival and competes with fresh (PlaceOriginal).
	original []spot[T]
	n        int
}

func (r *ready[T]) len() int { return r.n }

func (r *ready[T]) enter(item T) spot[T] {
	p := item.stand()
	p.entries++
	p.waits = true
	r.n++
	return spot[T]{item, p.seq, p.entries}
}

// add appends a message.
func (r *ready[T]) add(item T) { r.fresh.push(r.enter(item)) }

// back puts a message where a profile says.
func (r *ready[T]) back(item T, where contract.Place) {
	switch where {
	case contract.PlaceOriginal:
		r.original = append(r.original, r.enter(item))
		r.up(len(r.original) - 1)
	case contract.PlaceHead:
		r.returned.push(r.enter(item))
	default:
		r.add(item)
	}
}

// remove takes a message out wherever it stands.
func (r *ready[T]) remove(item T) {
	if p := item.stand(); p.waits {
		p.waits = false
		r.n--
	}
}

// next is the first message, which stays; there must be one.
func (r *ready[T]) next() T {
	r.skip()
	return r.first()
}

// pop takes the first message out; there must be one.
func (r *ready[T]) pop() T {
	r.skip()
	item := r.first()
	r.remove(item)
	r.skip()
	return item
}

// first is the first message; there must be one and the ends must be current.
func (r *ready[T]) first() T {
	switch {
	case r.returned.len() > 0:
		return r.returned.first().item
	case len(r.original) == 0:
		return r.fresh.first().item
	case r.fresh.len() == 0 || r.original[0].seq < r.fresh.first().seq:
		return r.original[0].item
	default:
		return r.fresh.first().item
	}
}

// skip drops what is out of date from the ends.
func (r *ready[T]) skip() {
	for r.returned.len() > 0 && !r.returned.first().current() {
		r.returned.pop()
	}
	for len(r.original) > 0 && !r.original[0].current() {
		r.popOriginal()
	}
	for r.fresh.len() > 0 && !r.fresh.first().current() {
		r.fresh.pop()
	}
}

func (r *ready[T]) popOriginal() {
	last := len(r.original) - 1
	r.original[0] = r.original[last]
	r.original[last] = spot[T]{}
	r.original = r.original[:last]
	r.down(0)
}

func (r *ready[T]) up(i int) {
	for i > 0 && r.original[i].seq < r.original[(i-1)/2].seq {
		r.original[i], r.original[(i-1)/2] = r.original[(i-1)/2], r.original[i]
		i = (i - 1) / 2
	}
}

func (r *ready[T]) down(i int) {
	for {
		least := 2*i + 1
		if least >= len(r.original) {
			return
		}
		if least+1 < len(r.original) && r.original[least+1].seq < r.original[least].seq {
			least++
		}
		if r.original[i].seq <= r.original[least].seq {
			return
		}
		r.original[i], r.original[least] = r.original[least], r.original[i]
		i = least
	}
}
