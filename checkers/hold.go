// SPDX-License-Identifier: Apache-2.0

package checkers

import (
	"cmp"
	"maps"
	"slices"

	"github.com/seed-720a3c77/harness/history"
	"github.com/seed-720a3c77/harness/msg"
)

// ref names a hold: deliveries are numbered within their session.
type ref struct{ session, op uint32 }

// hold is one delivery, from when it came out of the client until nothing more can
// happen to it.
type hold struct {
	seq      uint64
	off      int64
	at       int64 // delivered
	until    int64 // the earliest end of its lease, 0 is none; on a log the position that its commit asked for
	due      int64 // intended time of the message
	began    int64 // handler start
	settleAt int64 // start of the latest settlement
	prev     ref   // the hold of the same message before
	producer uint32
	place    uint32
	key      uint32
	cause    Cause // why the message was delivered again, noCause the first time
	over     Cause // why the hold ended unsettled
	state    holdState
	verb     uint8 // of the latest settlement
}

type holdState uint16

const (
	used holdState = 1 << iota
	handling
	handled // the handler ended
	succeeded
	settling
	settledHold // the settlement was answered or will never be
	weak        // settled without an answer that proves it
	flagged     // the broker said that it was delivered before
	closed
)

func (h *hold) id() msg.ID { return msg.ID{Producer: h.producer, Seq: h.seq} }

func (h *hold) is(s holdState) bool { return h.state&s != 0 }

// finished tells whether nothing more is expected of the hold.
func (h *hold) finished() bool {
	return h.over != noCause && !h.is(handling) || h.is(settledHold) && h.is(handled)
}

// unfinished tells whether a crash now would leave something undone or unsettled.
func (h *hold) unfinished() bool {
	return h.over == noCause && !(h.is(settledHold) && h.is(handled))
}

// gone tells whether the hold ended in a way that leaves nothing to settle.
func (h *hold) gone() bool {
	return h.over != noCause && h.over != leaseExpired && h.over != settleUnknown
}

const (
	chunkSize = 256
	// kept is how many finished chunks a session keeps: acks without an answer may turn
	// out not to have arrived when the session dies.
	kept = 4
)

// holds are the deliveries of one session by number, in chunks; a chunk is used again
// when all of it is finished, so that memory follows what is outstanding.
type holds struct {
	chunks map[uint32]*chunk
	last   *chunk
	old    []*chunk
}

type chunk struct {
	first    uint32
	used     uint32 // holds from here on never were
	begun    int
	finished int
	holds    [chunkSize]hold
}

// at finds a hold, nil if it is not known.
func (s *holds) at(op uint32) *hold {
	c := s.chunk(op - op%chunkSize)
	if c == nil || !c.holds[op%chunkSize].is(used) {
		return nil
	}
	return &c.holds[op%chunkSize]
}

func (s *holds) chunk(first uint32) *chunk {
	if s.last != nil && s.last.first == first {
		return s.last
	}
	c := s.chunks[first]
	if c != nil {
		s.last = c
	}
	return c
}

// open makes a hold for a delivery.
func (s *holds) open(op uint32, memory *memory) *hold {
	first := op - op%chunkSize
	c := s.chunk(first)
	if c == nil {
		c = memory.chunk(first)
		if s.chunks == nil {
			s.chunks = map[uint32]*chunk{}
		}
		s.chunks[first], s.last = c, c
	}
	h := &c.holds[op%chunkSize]
	if !h.is(used) {
		c.begun++
	}
	c.used = max(c.used, op%chunkSize+1)
	*h = hold{state: used}
	return h
}

func (c *chunk) reset(first uint32) {
	clear(c.holds[:c.used])
	c.first, c.used, c.begun, c.finished = first, 0, 0, 0
}

// close notes that a hold is finished; a chunk with nothing left is kept for a while.
func (s *holds) close(op uint32, memory *memory) {
	h := s.at(op)
	if h == nil || h.is(closed) {
		return
	}
	h.state |= closed
	c := s.chunk(op - op%chunkSize)
	if c.finished++; c.finished < chunkSize {
		return
	}
	s.old = append(s.old, c)
	if len(s.old) <= kept {
		return
	}
	gone := s.old[0]
	s.old = slices.Delete(s.old, 0, 1)
	delete(s.chunks, gone.first)
	if s.last == gone {
		s.last = nil
	}
	memory.chunks = append(memory.chunks, gone)
}

// each calls visit for every hold that is known, in order of number.
func (s *holds) each(visit func(op uint32, h *hold)) {
	for _, first := range sortedKeys(s.chunks) {
		c := s.chunks[first]
		for i := uint32(0); c != nil && i < c.used; i++ {
			if c.holds[i].is(used) {
				visit(first+i, &c.holds[i])
			}
		}
	}
}

func sortedKeys[K cmp.Ordered, V any](m map[K]V) []K { return slices.Sorted(maps.Keys(m)) }

// isSettle tells whether a verb ends a delivery.
func isSettle(verb uint8) bool { return verb != history.VerbExtend && verb != 0 }
