// SPDX-License-Identifier: Apache-2.0

package consumertest

import (
	"fmt"
	"sync"
	"time"
)

// trace is what happened in a scenario, in order. It is safe for concurrent use.
type trace struct {
	base time.Time

	mu  sync.Mutex
	all []entry
}

// entry is one line of a story.
type entry struct {
	at time.Duration
	// who is a worker, "producer" or "broker".
	who  string
	what string
	// event is its number, -1 for what concerns all; call the number of the call, 0 for none.
	event, call int
	// fault: the schedule did it.
	fault bool
	// failed: a return with an error.
	failed bool
	kind   opKind
}

// opKind is a set: what an operation did. SQL and HTTP know less than Effects.
type opKind uint8

const (
	opLook   opKind = 1 << iota // a read
	opKey                       // a key was stored or removed
	opClaim                     // a key was stored if it was absent
	opEffect                    // an effect
	opWrite                     // a write, of whatever
	opReturn                    // it ends
	opSettle                    // a settle was sent
)

func newTrace() *trace { return &trace{base: time.Now()} }

func (t *trace) now() time.Duration { return time.Since(t.base) }

func (t *trace) add(e entry, format string, args ...any) {
	e.at, e.what = t.now(), fmt.Sprintf(format, args...)
	t.mu.Lock()
	defer t.mu.Unlock()
	t.all = append(t.all, e)
}

// entries are all lines so far.
func (t *trace) entries() []entry {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.all[:len(t.all):len(t.all)]
}
