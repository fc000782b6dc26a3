// SPDX-License-Identifier: Apache-2.0

package history

import "slices"

// Each calls observe for every event of the kinds asked for, merged over all tasks by
// time, then by task number; events of one task keep their order. The event is valid
// during the call only and must not be changed. Blocks without those kinds are not
// decoded. The error is one of reading; what is known to be missing is in Integrity.
func (r *Run) Each(kinds KindSet, observe func(*Event)) error {
	return r.EachBatch(kinds, AllFields, func(events []*Event) {
		for _, e := range events {
			observe(e)
		}
	})
}

// EachBatch is Each for batches of consecutive events, at least one, of which only the
// fields asked for are told. Between two batches an instant may go on.
func (r *Run) EachBatch(kinds KindSet, fields Fields, observe func([]*Event)) error {
	m := r.merge()
	defer r.merged(m)
	for i := range r.parts {
		if err := m.add(&r.parts[i], kinds, fields); err != nil {
			return err
		}
	}
	for {
		if err := m.fill(); err != nil {
			return err
		}
		if len(m.heads) == 0 {
			return nil
		}
		observe(m.batch())
	}
}

// merge is an idle one of the memory that the run was recorded in, or a new one.
func (r *Run) merge() *merge {
	if r.memory != nil {
		if m := r.memory.merge.Swap(nil); m != nil {
			return m
		}
	}
	return new(merge)
}

func (r *Run) merged(m *merge) {
	m.close()
	if r.memory != nil {
		r.memory.merge.Store(m)
	}
}

// perBatch is how many events a cursor gives to a batch: few enough that a batch stays in
// the cache of a processor, and many against what a batch costs.
const perBatch = 256

// merge makes batches. From each cursor it takes what lies before the earliest end, and
// merges that two by two, without a branch that depends on whose turn it is: that cannot
// be predicted, and would cost more than all else.
type merge struct {
	heads  []*cursor // that have events, by task
	all    []*cursor
	spare  []*cursor
	reader blockReader
	taken  []timed // of all cursors, one after another
	merged []timed
	ends   []int // of the runs within taken
	events []*Event
}

// timed is an event beside its time, so that comparing does not touch the event.
type timed struct {
	t     int64
	event *Event
}

func (m *merge) add(p *part, kinds KindSet, fields Fields) error {
	if !p.has(kinds) {
		return nil
	}
	c := m.cursor()
	m.all = append(m.all, c)
	m.heads = append(m.heads, c)
	return c.begin(p, kinds, fields)
}

// cursor is one that an earlier merge in the same memory had, or a new one.
func (m *merge) cursor() *cursor {
	n := len(m.spare)
	if n == 0 {
		return &cursor{reader: &m.reader}
	}
	c := m.spare[n-1]
	m.spare = m.spare[:n-1]
	return c
}

// fill gets the next events of cursors that have none, and drops those at their end.
func (m *merge) fill() error {
	left := m.heads[:0]
	for _, c := range m.heads {
		if err := c.fill(); err != nil {
			return err
		}
		if len(c.events) > 0 {
			left = append(left, c)
		}
	}
	m.heads = left
	return nil
}

// batch takes the events up to the earliest of the cursors' ends.
func (m *merge) batch() []*Event {
	limit := m.heads[0].end()
	for _, c := range m.heads[1:] {
		if end := c.end(); end.t < limit.t { // of the same time, the lower task's
			limit = end
		}
	}
	m.taken, m.ends = m.taken[:0], m.ends[:0]
	for _, c := range m.heads {
		if m.take(c, limit) {
			m.ends = append(m.ends, len(m.taken))
		}
	}
	for len(m.ends) > 2 {
		m.pairs()
	}
	m.events = slices.Grow(m.events[:0], len(m.taken))[:len(m.taken)]
	mergeLast(m.events, m.taken, m.ends[0])
	return m.events
}

// instant is a time in a task: the order of a merged history.
type instant struct {
	t    int64
	task uint16
}

// end is up to where a cursor takes part in the next batch: at least to its first event.
func (c *cursor) end() instant {
	last := min(len(c.events), perBatch) - 1
	return instant{max(c.events[0].T, c.events[last].T), c.part.task}
}

// take adds the events of a cursor up to a limit, and tells whether there are any.
func (m *merge) take(c *cursor, limit instant) bool {
	last := limit.t
	if c.part.task > limit.task {
		last-- // at that instant it is another's turn
	}
	before, events := len(m.taken), c.events
	m.taken = slices.Grow(m.taken, len(events))
	taken := m.taken[before : before+len(events)]
	n := 0
	for n < len(events) && n < len(taken) && events[n].T <= last {
		taken[n] = timed{events[n].T, &events[n]}
		n++
	}
	m.taken, c.events = m.taken[:before+n], events[n:]
	return n > 0
}

// pairs merges every two neighbouring runs.
func (m *merge) pairs() {
	if cap(m.merged) < len(m.taken) {
		m.merged = make([]timed, len(m.taken), 2*len(m.taken))
	}
	m.merged = m.merged[:len(m.taken)]
	start, ends := 0, m.ends[:0]
	for i := 0; i < len(m.ends); i += 2 {
		middle, end := m.ends[i], m.ends[min(i+1, len(m.ends)-1)]
		mergePair(m.merged[start:end], m.taken[start:end], middle-start)
		start, ends = end, append(ends, end)
	}
	m.ends = ends
	m.taken, m.merged = m.merged, m.taken
}

// mergePair merges the runs before and from middle on; of the same time, the first one's
// events come first.
func mergePair(to, from []timed, middle int) {
	i, j, n := 0, middle, 0
	for i < middle && j < len(from) {
		second := 0
		if from[j].t < from[i].t {
			second = 1
		}
		to[n] = from[i+(j-i)&-second]
		n, i, j = n+1, i+1-second, j+second
	}
	n += copy(to[n:], from[i:middle])
	copy(to[n:], from[j:])
}

// mergeLast is mergePair for the last two runs, or the only one: of them the times are
// not asked for again.
func mergeLast(to []*Event, from []timed, middle int) {
	i, j, n := 0, middle, 0
	for i < middle && j < len(from) {
		second := 0
		if from[j].t < from[i].t {
			second = 1
		}
		to[n] = from[i+(j-i)&-second].event
		n, i, j = n+1, i+1-second, j+second
	}
	if i == middle {
		i, middle = j, len(from)
	}
	for ; i < middle; n, i = n+1, i+1 {
		to[n] = from[i].event
	}
}

func (m *merge) close() {
	for _, c := range m.all {
		c.close()
	}
	m.spare = append(m.spare, m.all...)
	m.all, m.heads = m.all[:0], m.heads[:0]
}
