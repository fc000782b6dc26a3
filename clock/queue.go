// SPDX-License-Identifier: Apache-2.0

package clock

// queue is first in, first out. It reuses its memory when it runs empty.
type queue[T any] struct {
	items []T
	read  int
}

func (q *queue[T]) len() int    { return len(q.items) - q.read }
func (q *queue[T]) empty() bool { return q.len() == 0 }

func (q *queue[T]) push(item T) { q.items = append(q.items, item) }

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
