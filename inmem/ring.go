// SPDX-License-Identifier: Apache-2.0

package inmem

// ring is a queue whose elements are numbered in the order of their arrival. It grows
// with what is in it and gives its memory back once it has been empty after growing large.
type ring[T any] struct {
	slots []T // a power of two
	head  uint64
	tail  uint64
}

// keepSlots is the size up to which an empty ring keeps its memory.
const keepSlots = 1024

func (r *ring[T]) len() int { return int(r.tail - r.head) }

// push appends and returns the number of the element.
func (r *ring[T]) push(v T) uint64 {
	if r.len() == len(r.slots) {
		r.grow()
	}
	n := r.tail
	*r.at(n) = v
	r.tail++
	return n
}

func (r *ring[T]) grow() {
	larger := make([]T, max(8, 2*len(r.slots)))
	mask := uint64(len(larger) - 1)
	for i := r.head; i != r.tail; i++ {
		larger[i&mask] = *r.at(i)
	}
	r.slots = larger
}

// at is the slot of an element that is in the ring.
func (r *ring[T]) at(n uint64) *T { return &r.slots[n&uint64(len(r.slots)-1)] }

func (r *ring[T]) has(n uint64) bool { return n >= r.head && n < r.tail }

// first is the oldest element; the ring must not be empty.
func (r *ring[T]) first() *T { return r.at(r.head) }

func (r *ring[T]) pop() T {
	var zero T
	slot := r.first()
	v := *slot
	*slot = zero
	r.head++
	if r.head == r.tail && len(r.slots) > keepSlots {
		r.slots = nil
	}
	return v
}
