// SPDX-License-Identifier: Apache-2.0

package history

import "math"

// Each calls observe for every event of the kinds asked for, merged over all tasks by
// time, then by task number; events of one task keep their order. The event is valid
// during the call only and must not be changed. Blocks without those kinds are not
// decoded. The error is one of reading; what is known to be missing is in Integrity.
func (r *Run) Each(kinds KindSet, observe func(*Event)) error {
	return r.EachStretch(kinds, func(events []Event, _ bool) {
		for i := range events {
			observe(&events[i])
		}
	})
}

// EachStretch is Each for stretches of events: consecutive ones of one task, at least one.
// Ties says that the next stretch may begin at the instant of the last event.
func (r *Run) EachStretch(kinds KindSet, observe func(events []Event, ties bool)) error {
	var m merge
	defer m.close()
	for i := range r.parts {
		if err := m.add(&r.parts[i], kinds); err != nil {
			return err
		}
	}
	for i := len(m.heads)/2 - 1; i >= 0; i-- {
		m.down(i)
	}
	for len(m.heads) > 0 {
		m.run(observe)
		if err := m.advance(); err != nil {
			return err
		}
	}
	return nil
}

// merge is a heap of cursors by their next event.
type merge struct {
	heads []mergeHead
	all   []*cursor
	// unpacker is one for all: a block is decoded before the next is unpacked.
	unpacker unpacker
}

type mergeHead struct {
	t      int64
	task   uint16
	cursor *cursor
}

func (h *mergeHead) before(other *mergeHead) bool {
	return h.t < other.t || h.t == other.t && h.task < other.task
}

func (m *merge) add(p *part, kinds KindSet) error {
	if !p.has(kinds) {
		return nil
	}
	c, err := newCursor(p, kinds, AllFields, &m.unpacker)
	if err != nil {
		return err
	}
	m.all = append(m.all, c)
	if err := c.fill(); err != nil {
		return err
	}
	if len(c.events) > 0 {
		m.heads = append(m.heads, mergeHead{c.events[0].T, p.task, c})
	}
	return nil
}

// run hands out the events of the first cursor up to the next event of another.
func (m *merge) run(observe func([]Event, bool)) {
	first := &m.heads[0]
	limit := m.limit()
	events := first.cursor.events
	t := limit.t
	if first.task < limit.task && t < math.MaxInt64 {
		t++ // its own events of that instant come first
	}
	n := 1
	for n < len(events) && events[n].T < t {
		n++
	}
	first.cursor.events = events[n:]
	observe(events[:n], n == len(events) || events[n-1].T >= limit.t)
}

// limit is the next event of any cursor but the first.
func (m *merge) limit() mergeHead {
	switch len(m.heads) {
	case 1:
		return mergeHead{t: math.MaxInt64, task: math.MaxUint16}
	case 2:
		return m.heads[1]
	}
	if m.heads[1].before(&m.heads[2]) {
		return m.heads[1]
	}
	return m.heads[2]
}

// advance moves the first cursor to its place, or ends it.
func (m *merge) advance() error {
	first := &m.heads[0]
	if len(first.cursor.events) == 0 {
		if err := first.cursor.fill(); err != nil {
			return err
		}
	}
	if len(first.cursor.events) > 0 {
		first.t = first.cursor.events[0].T
		m.down(0)
		return nil
	}
	last := len(m.heads) - 1
	m.heads[0] = m.heads[last]
	m.heads = m.heads[:last]
	m.down(0)
	return nil
}

func (m *merge) down(i int) {
	for {
		child := 2*i + 1
		if child >= len(m.heads) {
			return
		}
		if right := child + 1; right < len(m.heads) && m.heads[right].before(&m.heads[child]) {
			child = right
		}
		if !m.heads[child].before(&m.heads[i]) {
			return
		}
		m.heads[i], m.heads[child] = m.heads[child], m.heads[i]
		i = child
	}
}

func (m *merge) close() {
	for _, c := range m.all {
		c.close()
	}
}
