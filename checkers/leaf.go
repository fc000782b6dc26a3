// SPDX-License-Identifier: Apache-2.0

package checkers

import (
	"cmp"
	"math"
	"slices"
)

// leaf holds what is not clean of a folded page. Messages that something may still happen
// to are known exactly. Of one at rest only its shape is kept, a byte, while millions
// have the same: what was counted of it and how it stands. Its times are then those of all
// of its page that rest, and its hold is forgotten. Where it is stored in a log is kept
// while it is waited for.
type leaf struct {
	exact []oddMessage // by number in the page, as few and many are
	few   []resting
	many  *[pageSize]uint8 // of more than few: frequent shapes plus one, 0 is none
	where []position       // of those at rest that are waited for

	from, to int64 // times of those at rest
	packed   bool
	packAt   int // so many exact ones are looked at again
}

type oddMessage struct {
	k uint16
	message
}

type resting struct{ k, shape uint16 }

type position struct {
	off   int64
	place uint32
	k     uint16
}

const (
	// manyAtRest is how many fit into less memory as few.
	manyAtRest = pageSize / 4
	// Shapes from here on are seldom seen: they do not fit into a byte.
	seldom = math.MaxUint8
)

func (l *leaf) empty() bool { return len(l.exact)+len(l.few) == 0 && l.many == nil }

func byNumber(m oddMessage, k uint16) int { return cmp.Compare(m.k, k) }

func byPlace(p position, k uint16) int { return cmp.Compare(p.k, k) }

func byRest(r resting, k uint16) int { return cmp.Compare(r.k, k) }

// get finds a message that is not clean.
func (l *leaf) get(k uint16, memory *memory) (message, bool) {
	if i, found := slices.BinarySearchFunc(l.exact, k, byNumber); found {
		return l.exact[i].message, true
	}
	if l.many != nil && l.many[k] != 0 {
		return l.restore(k, uint16(l.many[k])-1, memory), true
	}
	if i, found := slices.BinarySearchFunc(l.few, k, byRest); found {
		return l.restore(k, l.few[i].shape, memory), true
	}
	return message{}, false
}

func (l *leaf) restore(k, shape uint16, memory *memory) message {
	m := memory.shapes.list[shape]
	if m == (message{}) {
		return m
	}
	m.sent, m.due, m.last = l.from, l.from, l.to
	if i, known := slices.BinarySearchFunc(l.where, k, byPlace); known {
		m.off, m.place = l.where[i].off, l.where[i].place
	}
	return m
}

// put adds a message that is not there.
func (l *leaf) put(k uint16, m *message) {
	i, _ := slices.BinarySearchFunc(l.exact, k, byNumber)
	l.exact = slices.Insert(l.exact, i, oddMessage{k, *m})
}

func (l *leaf) remove(k uint16) {
	if i, found := slices.BinarySearchFunc(l.exact, k, byNumber); found {
		l.exact = slices.Delete(l.exact, i, i+1)
		return
	}
	if i, known := slices.BinarySearchFunc(l.where, k, byPlace); known {
		l.where = slices.Delete(l.where, i, i+1)
	}
	if l.many != nil && l.many[k] != 0 {
		l.many[k] = 0
	} else if i, found := slices.BinarySearchFunc(l.few, k, byRest); found {
		l.few = slices.Delete(l.few, i, i+1)
	}
}

// odd lists the numbers of all that are not clean, in order. They are valid until the
// next call.
func (l *leaf) odd(memory *memory) []uint16 {
	all := memory.numbers[:0]
	for i := range l.exact {
		all = append(all, l.exact[i].k)
	}
	for _, r := range l.few {
		all = append(all, r.k)
	}
	for k := 0; l.many != nil && k < pageSize; k++ {
		if l.many[k] != 0 {
			all = append(all, uint16(k))
		}
	}
	slices.Sort(all)
	memory.numbers = all
	return all
}

// pack reduces the messages of a leaf that are at rest to their shapes.
func (p *pages) pack(l *leaf) {
	left := l.exact[:0]
	for i := range l.exact {
		if one := l.exact[i]; !p.packOne(l, one.k, &one.message) {
			left = append(left, one)
		}
	}
	l.exact = slices.Clone(left)
	l.packAt = 2*len(left) + fewOdd
	if l.many == nil && len(l.few) > manyAtRest {
		l.spread()
	}
	l.few, l.where = slices.Clip(l.few), slices.Clip(l.where)
}

// spread moves frequent shapes from few to many.
func (l *leaf) spread() {
	l.many = new([pageSize]uint8)
	left := l.few[:0]
	for _, r := range l.few {
		if r.shape < seldom {
			l.many[r.k] = uint8(r.shape) + 1
		} else {
			left = append(left, r)
		}
	}
	l.few = slices.Clone(left)
}

func (p *pages) packOne(l *leaf, k uint16, m *message) bool {
	if !p.rest(m) {
		return false
	}
	shape, any := p.memory.shapes.of(m)
	if !any {
		return false
	}
	if p.memory.letGo != nil {
		p.memory.letGo(m)
	}
	if m.sent > 0 && (l.from == 0 || m.sent < l.from) {
		l.from = m.sent
	}
	l.to = max(l.to, m.last)
	if m.place != 0 && (p.sub == nil || p.sub.log && !m.through(p.sub)) {
		i, _ := slices.BinarySearchFunc(l.where, k, byPlace)
		l.where = slices.Insert(l.where, i, position{m.off, m.place, k})
	}
	l.lay(k, shape)
	return true
}

func (l *leaf) lay(k, shape uint16) {
	if l.many != nil && shape < seldom {
		l.many[k] = uint8(shape) + 1
		return
	}
	i, _ := slices.BinarySearchFunc(l.few, k, byRest)
	l.few = slices.Insert(l.few, i, resting{k, shape})
}

// shapes number what is left of messages without times and places.
type shapes struct {
	list    []message
	numbers map[message]uint16
}

// of is the number of a message's shape; there is none when there are too many shapes.
func (s *shapes) of(m *message) (uint16, bool) {
	shape := *m
	shape.hold = ref{}
	shape.off, shape.due, shape.sent, shape.acked, shape.last, shape.well, shape.place = 0, 0, 0, 0, 0, 0, 0
	if n, known := s.numbers[shape]; known {
		return n, true
	}
	if len(s.list) == math.MaxUint16 {
		return 0, false
	}
	if s.numbers == nil {
		s.numbers = map[message]uint16{}
	}
	s.list = append(s.list, shape)
	s.numbers[shape] = uint16(len(s.list) - 1)
	return uint16(len(s.list) - 1), true
}
