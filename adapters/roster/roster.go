// SPDX-License-Identifier: Apache-2.0

// Package roster keeps an adapter's producers and consumers that are open, so that its
// engine leaves nothing behind when it closes.
package roster

import (
	"fmt"
	"maps"
	"slices"
	"sync"

	"github.com/seed-720a3c77/harness/broker"
)

// Roster is who is open at one engine. The zero value is open and empty. It is safe for
// concurrent use.
type Roster[C comparable] struct {
	mu     sync.Mutex
	open   map[C]struct{}
	closed bool
}

// Enter adds a client, which Leave takes out again. After Close it is broker.ErrClosed.
func (r *Roster[C]) Enter(c C) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.closed {
		return fmt.Errorf("engine: %w", broker.ErrClosed)
	}
	if r.open == nil {
		r.open = map[C]struct{}{}
	}
	r.open[c] = struct{}{}
	return nil
}

// Leave takes a client out. One that is not there is none.
func (r *Roster[C]) Leave(c C) {
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.open, c)
}

// Close lets nobody enter any more and returns who is left, in no order, for the caller to
// close.
func (r *Roster[C]) Close() []C {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.closed = true
	return slices.Collect(maps.Keys(r.open))
}
