// SPDX-License-Identifier: Apache-2.0

package blackbox

import (
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/seed-720a3c77/harness/clock"
	"github.com/seed-720a3c77/harness/msg"
	"github.com/seed-720a3c77/harness/runner/record"
)

var (
	// ErrEffects: what the program did cannot be told: its store or the query fails.
	ErrEffects = errors.New("the effects cannot be read")
	// ErrGarbage: what the program wrote is no effect of this run.
	ErrGarbage = errors.New("not an effect of this run")
	// ErrUsed: the store holds effects of this run's ids before the run.
	ErrUsed = errors.New("the store was used before")
)

// everybody stands for the worker of an effect where the source cannot tell.
const everybody = -1

// tally counts the effects of a run and records each as it is seen. Its methods may be
// called concurrently.
type tally struct {
	plan  *Plan
	clock clock.Clock
	task  *record.Task

	mu       sync.Mutex     // guards what follows
	sessions map[int]uint32 // by worker
	counts   map[uint64]int
	total    int
}

func newTally(p *Plan, clk clock.Clock, task *record.Task) *tally {
	return &tally{plan: p, clock: clk, task: task, sessions: map[int]uint32{}, counts: map[uint64]int{}}
}

// of says which session the effects of a worker belong to from now on.
func (t *tally) of(worker int, session uint32) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.sessions[worker] = session
}

// Happened implements Tell.
func (t *tally) Happened(worker int, id string) error {
	seq, known := t.plan.ids[id]
	if !known {
		return t.stranger(id)
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.count(worker, seq, t.counts[seq]+1)
	return nil
}

// Stands implements Tell.
func (t *tally) Stands(id string, count int) error {
	seq, known := t.plan.ids[id]
	if !known {
		return t.stranger(id)
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	before := t.counts[seq]
	if count < before {
		return fmt.Errorf("%w: %q had %d and has %d now: the query must count what was done, not what is left to do", ErrGarbage, id, before, count)
	}
	for n := before + 1; n <= count; n++ {
		t.count(everybody, seq, n)
	}
	return nil
}

func (t *tally) count(worker int, seq uint64, n int) {
	session, known := t.sessions[worker]
	if !known {
		session = t.sessions[everybody]
	}
	t.counts[seq] = n
	t.total++
	t.task.ProgramEffect(session, msg.ID{Seq: seq}, t.plan.Destination, n)
}

func (t *tally) stranger(id string) error {
	return fmt.Errorf("%w: of the id %s, at %s", ErrGarbage, quoted(id), t.clock.Now().Round(time.Millisecond))
}

// Before implements Tell.
func (t *tally) Before(id string) error {
	if _, known := t.plan.ids[id]; !known {
		return nil
	}
	return fmt.Errorf("%w: it has %s already: give the program an empty store, or messages ids of their own", ErrUsed, quoted(id))
}

// done tells whether a message had an effect.
func (t *tally) done(seq uint64) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.counts[seq] > 0
}

// seen is how many effects there are, and of how many messages.
func (t *tally) seen() (effects, messages int) {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.total, len(t.counts)
}

// quotedSize is how much of a foreign text an error shows.
const quotedSize = 120

func quoted(text string) string {
	if len(text) > quotedSize {
		return fmt.Sprintf("%q...", text[:quotedSize])
	}
	return fmt.Sprintf("%q", text)
}
