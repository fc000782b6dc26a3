// SPDX-License-Identifier: Apache-2.0

package history

import (
	"cmp"
	"slices"
)

// Scan hands over the events of the kinds asked for, a block at a time and roughly in order
// of time, and of each event only the fields asked for. It is for folds that do not care
// which of two events came first: nothing is merged, and what is not asked for is not
// decoded. Events of one task keep their order, and are valid during the call only.
func (r *Run) Scan(kinds KindSet, fields Fields, observe func([]Event)) error {
	s := scan{kinds: kinds, fields: fields}
	defer s.close()
	for i := range r.parts {
		if err := s.add(&r.parts[i]); err != nil {
			return err
		}
	}
	slices.SortStableFunc(s.blocks, func(a, b scanBlock) int { return cmp.Compare(a.first, b.first) })
	for _, b := range s.blocks {
		b.cursor.memory = s.events
		if err := b.cursor.decode(b.number); err != nil {
			return err
		}
		s.events = b.cursor.memory
		if len(b.cursor.events) > 0 {
			observe(b.cursor.events)
		}
	}
	for _, c := range s.cursors {
		if tail := only(nil, c.part.tail, kinds); len(tail) > 0 {
			observe(tail)
		}
	}
	return nil
}

// scan is the blocks to read.
type scan struct {
	kinds   KindSet
	fields  Fields
	reader  blockReader
	events  []Event // memory for all
	cursors []*cursor
	blocks  []scanBlock
}

type scanBlock struct {
	cursor *cursor
	number int
	first  int64
}

func (s *scan) add(p *part) error {
	if !p.has(s.kinds) {
		return nil
	}
	c, err := newCursor(p, s.kinds, s.fields, &s.reader)
	if err != nil {
		return err
	}
	s.cursors = append(s.cursors, c)
	for i, b := range p.blocks {
		if b.kinds&s.kinds != 0 {
			s.blocks = append(s.blocks, scanBlock{c, i, b.first})
		}
	}
	return nil
}

func (s *scan) close() {
	for _, c := range s.cursors {
		c.close()
	}
}
