// SPDX-License-Identifier: Apache-2.0

package history

import (
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"sync/atomic"
)

// Sharing says who may append to a segment.
type Sharing uint8

const (
	// Owned by one task: Append is not called concurrently.
	Owned Sharing = iota
	// Shared by several goroutines: Append takes a lock. Completions of a client library
	// on the wall clock need one.
	Shared
)

// Segment holds the events of one task in the order in which they are appended.
//
// The latest of them are the open block: slots in memory that is also a file, so that
// a process that is killed leaves behind every event it appended. A full block is sealed:
// encoded and written to the segment's file in one call.
type Segment struct {
	recording *Recording
	head      head
	lock      *sync.Mutex // nil if owned
	open      openBlock
	file      *os.File   // nil in memory
	size      int64      // of the file, as far as it is whole
	blocks    []blockRef // in memory, with their payloads
	payloads  [][]byte
	slots     []Event
	n         int    // slots in use
	room      int    // slots that may be used
	ordinal   uint64 // of the open block
	dropped   uint64
	wait      int // events to drop before room is asked for again
	closed    bool
}

var (
	errClosed = errors.New("history: event after the end of its segment")
	errKind   = errors.New("history: event without a kind")
)

// Segment begins the segment of a task. The name need not be unique; the reader shows it.
func (r *Recording) Segment(task string, sharing ...Sharing) (*Segment, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.closed {
		return nil, fmt.Errorf("history: segment %s: the recording is closed", task)
	}
	if len(r.segments) >= math.MaxUint16 {
		return nil, fmt.Errorf("history: segment %s: more than %d tasks", task, math.MaxUint16)
	}
	s := &Segment{recording: r, head: head{process: r.process, number: uint16(len(r.segments)), task: readable(task)}}
	if len(sharing) > 0 && sharing[0] == Shared {
		s.lock = new(sync.Mutex)
	}
	if err := s.create(r.dir); err != nil {
		r.fail(err)
		return nil, err
	}
	r.segments = append(r.segments, s)
	return s, nil
}

func (s *Segment) create(dir string) (err error) {
	if dir == "" {
		s.open = openHeap(s.recording.memory)
		return nil
	}
	// The open block comes first: a segment without one has lost it.
	path := filepath.Join(dir, segmentName(s.head))
	if s.open, err = openIn(path + openEnding); err != nil {
		return fmt.Errorf("history: segment %s: %w", s.head.task, err)
	}
	if s.file, s.size, err = createFile(path+segmentEnding, s.head); err != nil {
		return errors.Join(err, s.open.close(true))
	}
	return nil
}

// Append records a copy of an event; Task is filled in. T must not be lower than that of
// the event before it, except by the little that goroutines sharing a segment race. An
// event that cannot be recorded is counted as missing and told by Recording.Err.
func (s *Segment) Append(e *Event) {
	if s.lock == nil {
		s.append(e)
		return
	}
	s.lock.Lock()
	s.append(e)
	s.lock.Unlock()
}

func (s *Segment) append(e *Event) {
	if e.Kind-1 >= Kinds-1 || s.n == s.room && !s.makeRoom() {
		s.drop(e)
		return
	}
	slot := &s.slots[s.n]
	*slot = *e
	slot.Task = s.head.number
	s.n++
	// The count is stored after the event, so that what it counts is there.
	atomic.StoreUint64(s.open.state, s.ordinal<<stateBits|uint64(s.n))
	if s.open.written != nil {
		s.flush(e.Kind)
	}
}

func (s *Segment) drop(e *Event) {
	if s.closed {
		s.recording.fail(errClosed)
		return
	}
	if e.Kind-1 >= Kinds-1 {
		s.recording.fail(errKind)
	}
	s.dropped++
	*s.open.dropped = s.dropped
}

// makeRoom makes sure that there is a slot. After an error it tries again only every so
// many events: there may be room on the disk by then.
func (s *Segment) makeRoom() bool {
	if s.closed {
		return false
	}
	if s.wait > 0 {
		s.wait--
		return false
	}
	if s.n == maxRows && !s.seal() || s.n == s.room && !s.grow() {
		s.wait = growth
		return false
	}
	return true
}

func (s *Segment) grow() bool {
	slots, err := s.open.grow(s.slots)
	if err != nil {
		s.recording.fail(fmt.Errorf("history: segment %s: %w", s.head.task, err))
		return false
	}
	s.slots, s.room = slots, len(slots)
	return true
}

// flush writes the open block where memory is no file: before and after each effect,
// which is where a lost event would make a wrong verdict.
func (s *Segment) flush(k Kind) {
	if k != EffectIntent && k != EffectResult {
		return
	}
	if err := s.open.written.flush(s.slots[:s.n]); err != nil {
		s.recording.fail(fmt.Errorf("history: segment %s: %w", s.head.task, err))
	}
}

// seal writes the open block to the file and begins the next.
func (s *Segment) seal() bool {
	w := s.recording.encoders.Get().(*encoder)
	defer s.recording.encoders.Put(w)
	w.buffer = w.block(beginFrame(w.buffer[:0]), s.slots[:s.n], s.ordinal, s.ordinal*maxRows)
	if !s.write(endFrame(w.buffer)) {
		return false
	}
	s.ordinal++
	s.n = 0
	// One store empties the slots and numbers the next block: a reader takes the slots
	// only for the block after the last one sealed.
	atomic.StoreUint64(s.open.state, s.ordinal<<stateBits)
	if s.open.written != nil {
		s.open.written.flushed = 0
		s.flush(EffectResult)
	}
	return true
}

// write adds a frame. What was written of one that does not fit is cut off again.
func (s *Segment) write(frame []byte) bool {
	if s.file == nil {
		s.keep(frame)
		return true
	}
	if _, err := s.file.Write(frame); err != nil {
		s.recording.fail(fmt.Errorf("history: %w", err))
		if err := s.file.Truncate(s.size); err != nil {
			s.recording.fail(fmt.Errorf("history: %w", err))
		}
		return false
	}
	s.size += int64(len(frame))
	return true
}

// keep holds a frame in memory.
func (s *Segment) keep(frame []byte) {
	payload := slices.Clone(frame[frameSize:])
	if v, err := new(unpacker).blockOf(payload); err == nil {
		s.blocks = append(s.blocks, blockRef{size: int32(len(payload)), rows: int32(v.n), kinds: v.holds, first: v.begins()})
		s.payloads = append(s.payloads, payload)
	}
}

// Close ends the segment with a footer before its recording ends, and gives back its file
// and memory. Appending to it is an error from then on. A second Close does nothing.
func (s *Segment) Close() {
	if s.lock != nil {
		s.lock.Lock()
		defer s.lock.Unlock()
	}
	if s.closed {
		return
	}
	s.closed = true
	if s.file == nil {
		s.room = s.n
		return
	}
	events := s.ordinal*maxRows + uint64(s.n) + s.dropped
	whole := s.n == 0 || s.seal()
	whole = whole && s.write(endFrame(appendFooter(beginFrame(nil), events, s.ordinal)))
	if err := s.file.Close(); err != nil {
		s.recording.fail(fmt.Errorf("history: %w", err))
		whole = false
	}
	if err := s.open.close(whole); err != nil {
		s.recording.fail(fmt.Errorf("history: segment %s: %w", s.head.task, err))
	}
	s.slots, s.n, s.room = nil, 0, 0
}
