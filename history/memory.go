// SPDX-License-Identifier: Apache-2.0

package history

import (
	"slices"
	"sync"
	"sync/atomic"
)

// Memory records runs one after another, each where the one before was: for thousands of
// small runs, whose memory would cost more than they do. The zero value is ready. It is
// not safe for concurrent use.
type Memory struct {
	last     *Recording
	names    *interner
	slots    [][]Event
	encoders *sync.Pool
	merge    atomic.Pointer[merge] // idle
}

// Record begins a run that is kept in memory, as NewMemory does. From then on the run
// recorded before must neither be read nor written.
func (m *Memory) Record(h Header) *Recording {
	if m.last == nil {
		m.last = NewMemory(h)
		m.names, m.encoders = m.last.names, m.last.encoders
		m.last.memory = m
		return m.last
	}
	for _, s := range m.last.segments {
		m.give(s.slots)
	}
	m.names.reset()
	h.Format = FormatVersion
	m.last = &Recording{header: h, names: m.names, encoders: m.encoders, memory: m, segments: m.last.segments[:0]}
	return m.last
}

// more returns kept slots, more than those given, with the same content; nil if there are
// none. Without a Memory there never are.
func (m *Memory) more(slots []Event) []Event {
	if m == nil {
		return nil
	}
	for i := len(m.slots) - 1; i >= 0; i-- {
		if kept := m.slots[i]; len(kept) > len(slots) {
			m.slots = slices.Delete(m.slots, i, i+1)
			copy(kept, slots)
			return kept
		}
	}
	return nil
}

func (m *Memory) give(slots []Event) {
	if m != nil && cap(slots) > 0 {
		m.slots = append(m.slots, slots[:cap(slots)])
	}
}
