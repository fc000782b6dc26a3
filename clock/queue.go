// SPDX-License-Identifier: Apache-2.0

package clock

// queue is first in, first out. Its memory follows the largest backlog.
type queue[T any] struct {
	items []T
	read  int
}

func (q *queue[T]) len() int    { return len(q.items) - q.read }
func (q *queue[T]) empty() bool { return q.len() == 0 }

func (q *queue[T]) push(item T) {
	if len(q.items) == cap(q.items) && q.read > len(q.items)/2 {
		q.slide()
	}
	q.items = append(q.items, item)
}

// slide uses the room of what has been read.
func (q *queue[T]) slide() {
	n := copy(q.items, q.items[q.read:])
	clear(q.items[n:])
	q.items, q.read = q.items[:n], 0
}

// pop takes the oldest item; there must be one.
func (q *queue[T]) pop() T {
	var zero T
	item := q.items[q.read]
	q.items[q.read] = zero
	q.read++
	if q.read == len(q.items) {
		q.items, q.read = q.items[:0], 0
	}
	return item
}
