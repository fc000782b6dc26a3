// SPDX-License-Identifier: Apache-2.0

package history

import (
	"fmt"
	"math"
	"sync"
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
type Segment struct {
	recording *Recording
	task      string
	number    uint16
	lock      *sync.Mutex // nil if owned
	events    []Event
}

// Segment begins the segment of a task. The name need not be unique; the reader shows it.
func (r *Recording) Segment(task string, sharing ...Sharing) (*Segment, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.closed {
		return nil, fmt.Errorf("history: segment %s: the recording is closed", task)
	}
	if len(r.segments) > math.MaxUint16 {
		return nil, fmt.Errorf("history: segment %s: more than %d tasks", task, math.MaxUint16)
	}
	s := &Segment{recording: r, task: task, number: uint16(len(r.segments))}
	if len(sharing) > 0 && sharing[0] == Shared {
		s.lock = new(sync.Mutex)
	}
	r.segments = append(r.segments, s)
	return s, nil
}

// Append records a copy of an event; Task is filled in. T must not be lower than that of
// the event before it, except by the little that goroutines sharing a segment race.
func (s *Segment) Append(e *Event) {
	if s.lock != nil {
		s.lock.Lock()
		defer s.lock.Unlock()
	}
	s.events = append(s.events, *e)
	s.events[len(s.events)-1].Task = s.number
}
