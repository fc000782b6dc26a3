// SPDX-License-Identifier: Apache-2.0

package clock

// list is a doubly linked list whose links are part of its elements: adding and removing
// allocate nothing and take constant time.
type list[T any] struct{ first, last *link[T] }

// link is the place of one element in at most one list.
type link[T any] struct {
	prev, next *link[T]
	of         *T
}

func (l *list[T]) empty() bool { return l.first == nil }

// add appends n.
func (l *list[T]) add(n *link[T]) {
	n.prev = l.last
	if l.last == nil {
		l.first = n
	} else {
		l.last.next = n
	}
	l.last = n
}

// remove takes n out, if it is in.
func (l *list[T]) remove(n *link[T]) {
	if n.prev == nil && l.first != n {
		return
	}
	if n.prev == nil {
		l.first = n.next
	} else {
		n.prev.next = n.next
	}
	if n.next == nil {
		l.last = n.prev
	} else {
		n.next.prev = n.prev
	}
	n.prev, n.next = nil, nil
}
