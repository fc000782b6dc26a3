// SPDX-License-Identifier: Apache-2.0

package checkers

import (
	"maps"
	"slices"

	"github.com/seed-720a3c77/harness/contract"
	"github.com/seed-720a3c77/harness/msg"
)

// analysis is what the rules of a log look at.
type analysis struct {
	c       *Case
	ops     []*logOp
	writer  map[msg.ID]*logOp
	readers map[msg.ID][]*logOp
	okRead  map[msg.ID]bool
	logs    map[uint32]*placeLog
	places  []uint32 // sorted by name
}

// placeLog is one partition as it was observed, by anybody and whatever came of it.
type placeLog struct {
	ids     map[int64][]msg.ID // by offset, each once
	offsets []int64            // sorted; the place in it is the index
	// index is that of the one id which stands for each offset; first and last are those
	// at which an id stands at all.
	index, first, last map[msg.ID]int
}

func analyse(c *Case, ops []*logOp) *analysis {
	a := &analysis{c: c, ops: ops, writer: map[msg.ID]*logOp{}, readers: map[msg.ID][]*logOp{}, okRead: map[msg.ID]bool{}, logs: map[uint32]*placeLog{}}
	for _, op := range ops {
		for _, s := range op.sends {
			a.writer[s.id] = op
		}
		for _, r := range op.reads {
			a.readers[r.id] = append(a.readers[r.id], op)
			a.okRead[r.id] = a.okRead[r.id] || op.class == contract.OK
		}
	}
	a.gather()
	for _, l := range a.logs {
		l.sort()
	}
	a.places = slices.SortedFunc(maps.Keys(a.logs), func(p, q uint32) int {
		return slices.Compare([]byte(c.place(p).text), []byte(c.place(q).text))
	})
	return a
}

// gather notes who stands where. Sends count where they are known to have been applied;
// what was read counts whatever came of the reader.
func (a *analysis) gather() {
	for _, op := range a.ops {
		if a.committed(op) {
			for _, s := range op.sends {
				a.stands(s.place, s.off, s.id)
			}
		}
		for _, r := range op.reads {
			a.stands(r.place, r.off, r.id)
		}
	}
}

func (a *analysis) stands(place uint32, off int64, id msg.ID) {
	if off < 0 {
		return
	}
	l := a.logs[place]
	if l == nil {
		l = &placeLog{ids: map[int64][]msg.ID{}}
		a.logs[place] = l
	}
	if !slices.Contains(l.ids[off], id) {
		l.ids[off] = append(l.ids[off], id)
	}
}

// committed tells whether an operation certainly took effect: it went well, or something
// of it was read by one that did.
func (a *analysis) committed(op *logOp) bool {
	switch op.class {
	case contract.OK:
		return true
	case contract.Unknown:
		return slices.ContainsFunc(op.sends, func(s logSend) bool { return a.okRead[s.id] })
	}
	return false
}

func (l *placeLog) sort() {
	l.offsets = slices.Sorted(maps.Keys(l.ids))
	l.index, l.first, l.last = map[msg.ID]int{}, map[msg.ID]int{}, map[msg.ID]int{}
	for i, off := range l.offsets {
		l.index[l.ids[off][0]] = i
		for _, id := range l.ids[off] {
			if _, seen := l.first[id]; !seen {
				l.first[id] = i
			}
			l.last[id] = i
		}
	}
}

// at is the id that stands for an index.
func (l *placeLog) at(index int) msg.ID { return l.ids[l.offsets[index]][0] }

// standing is one id where it was met; the offset is -1 where that was not told.
type standing struct {
	id  msg.ID
	off int64
}

// indexOf is where a standing is, by the offset where the id stands at several.
func (l *placeLog) indexOf(s standing) (int, bool) {
	if l.first[s.id] != l.last[s.id] && s.off >= 0 {
		return slices.BinarySearch(l.offsets, s.off)
	}
	i, known := l.index[s.id]
	return i, known
}

// step is how far one stands behind another, and what is between them: 1 is next, and
// what is not known is taken for it.
func (l *placeLog) step(from, to standing) (delta int, between []msg.ID) {
	i, known := l.indexOf(from)
	j, alsoKnown := l.indexOf(to)
	if !known || !alsoKnown {
		return 1, nil
	}
	for k := i + 1; k < j; k++ {
		between = append(between, l.at(k))
	}
	return j - i, between
}

// log is the partition of a place, an empty one where nothing was observed.
func (a *analysis) log(place uint32) *placeLog {
	if l := a.logs[place]; l != nil {
		return l
	}
	return &placeLog{}
}
