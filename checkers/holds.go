// SPDX-License-Identifier: Apache-2.0

package checkers

import (
	"cmp"
	"slices"
)

const (
	chunkSize = 64
	// kept is how many finished chunks a session keeps: acks without an answer may turn
	// out not to have arrived when the session dies.
	kept = 16
	// nearChunks are found without a search.
	nearChunks = 8
	// An old chunk is that many chunks behind a new one, and few of its holds are not finished.
	oldChunk      = 32
	fewUnfinished = chunkSize / 8
)

// holds are the deliveries of one session by number, in chunks; a chunk is used again
// when all of it is finished, so that memory follows what is outstanding. An old chunk
// with few holds that are not finished moves those out and is used again too.
type holds struct {
	chunks map[uint32]*chunk // by the number of their first hold
	near   [nearChunks]*chunk
	done   []*chunk // finished, and kept for a while
	strays map[uint32]*hold
}

type chunk struct {
	first    uint32
	used     uint32 // holds from here on never were
	finished int
	holds    [chunkSize]hold
}

func (c *chunk) reset(first uint32) {
	clear(c.holds[:c.used])
	c.first, c.used, c.finished = first, 0, 0
}

// at finds a hold, nil if it is not known.
func (s *holds) at(op uint32) *hold {
	if c := s.chunk(op); c != nil && c.holds[op%chunkSize].is(used) {
		return &c.holds[op%chunkSize]
	}
	return s.strays[op]
}

// chunk finds the chunk of a hold, nil if there is none.
func (s *holds) chunk(op uint32) *chunk {
	c := s.near[op/chunkSize%nearChunks]
	if c != nil && c.first == op-op%chunkSize {
		return c
	}
	return s.farChunk(op)
}

func (s *holds) farChunk(op uint32) *chunk {
	c := s.chunks[op-op%chunkSize]
	if c != nil {
		s.near[op/chunkSize%nearChunks] = c
	}
	return c
}

// open makes a hold for a delivery.
func (s *holds) open(op uint32, memory *memory) *hold {
	c := s.chunk(op)
	if c == nil {
		c = s.begin(op-op%chunkSize, memory)
	}
	c.used = max(c.used, op%chunkSize+1)
	h := &c.holds[op%chunkSize]
	*h = hold{state: used}
	return h
}

func (s *holds) begin(first uint32, memory *memory) *chunk {
	c := memory.chunk(first)
	if s.chunks == nil {
		s.chunks = map[uint32]*chunk{}
	}
	s.chunks[first], s.near[first/chunkSize%nearChunks] = c, c
	// A chunk that is finished waits among those done, which give it back.
	if old := s.chunks[first-oldChunk*chunkSize]; old != nil && old.finished < chunkSize && chunkSize-old.finished <= fewUnfinished {
		s.dissolve(old, memory)
	}
	return c
}

// dissolve moves out what is not finished.
func (s *holds) dissolve(c *chunk, memory *memory) {
	if s.strays == nil {
		s.strays = map[uint32]*hold{}
	}
	for i := range c.holds {
		if h := c.holds[i]; h.is(used) && !h.is(closed) {
			s.strays[c.first+uint32(i)] = &h
		}
	}
	s.forget(c, memory)
}

// forget gives a chunk back.
func (s *holds) forget(c *chunk, memory *memory) {
	delete(s.chunks, c.first)
	if near := &s.near[c.first/chunkSize%nearChunks]; *near == c {
		*near = nil
	}
	memory.chunks = append(memory.chunks, c)
}

// close notes that a hold is finished; a chunk with nothing left is kept for a while.
func (s *holds) close(op uint32, memory *memory) {
	c := s.chunk(op)
	if c == nil || !c.holds[op%chunkSize].is(used) {
		delete(s.strays, op)
		return
	}
	h := &c.holds[op%chunkSize]
	if h.is(closed) {
		return
	}
	h.state |= closed
	if c.finished++; c.finished < chunkSize {
		return
	}
	s.done = append(s.done, c)
	if len(s.done) > kept {
		s.forget(s.done[0], memory)
		s.done = slices.Delete(s.done, 0, 1)
	}
}

// each calls visit for every hold that is known, in order of number.
func (s *holds) each(visit func(op uint32, h *hold)) {
	strays := sortedKeys(s.strays)
	visitStrays := func(before uint32) {
		for len(strays) > 0 && strays[0] < before {
			visit(strays[0], s.strays[strays[0]])
			strays = strays[1:]
		}
	}
	for _, first := range sortedKeys(s.chunks) {
		visitStrays(first)
		c := s.chunks[first]
		for i := uint32(0); c != nil && i < c.used; i++ {
			if c.holds[i].is(used) {
				visit(first+i, &c.holds[i])
			}
		}
	}
	visitStrays(^uint32(0))
}

func sortedKeys[K cmp.Ordered, V any](m map[K]V) []K {
	keys := make([]K, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}
