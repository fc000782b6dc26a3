// SPDX-License-Identifier: Apache-2.0

package clock

import (
	"context"
	"sync"
	"sync/atomic"
	"time"
)

// wallMailbox calls the callbacks of one owner, one at a time and in their order, on a
// goroutine that lives while there are some.
type wallMailbox struct {
	w     *Wall
	owner *wallTask // nil: the engine

	mu      sync.Mutex
	letters queue[func()]
	serving bool
}

func (w *Wall) mailboxOf(ctx context.Context) *wallMailbox {
	if t := wallTaskOf(ctx); t != nil {
		return &t.mail
	}
	return w.engine
}

// Post implements Clock.
func (w *Wall) Post(ctx context.Context, fn func()) { w.mailboxOf(ctx).post(fn) }

func (m *wallMailbox) post(fn func()) {
	if m.owner.isDead() {
		return
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.letters.push(fn)
	if !m.serving {
		m.serving = true
		m.w.spawn(m.serve)
	}
}

// serve ends by Goexit when the owner dies; what is left, and what comes, is not called.
func (m *wallMailbox) serve() {
	clean := false
	defer func() {
		if p := recover(); p != nil {
			m.w.end(m.owner, newPanicError(m.owner.label(), p))
		} else if !clean && !m.owner.isDead() {
			m.w.end(m.owner, errGoexit)
		}
	}()
	for fn := m.next(); fn != nil; fn = m.next() {
		m.owner.pass()
		fn()
	}
	clean = true
}

// next is the next callback, nil when there is none and serving has ended.
func (m *wallMailbox) next() func() {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.letters.empty() {
		m.serving = false
		return nil
	}
	return m.letters.pop()
}

// wallTimer is a Timer of Wall.
type wallTimer struct {
	to      *wallMailbox
	fn      func()
	real    *time.Timer
	pending atomic.Bool
}

// At implements Clock.
func (w *Wall) At(ctx context.Context, at time.Duration, fn func()) Timer {
	t := &wallTimer{to: w.mailboxOf(ctx), fn: fn}
	t.pending.Store(true)
	t.real = time.AfterFunc(at-w.Now(), t.ring)
	return t
}

// ring posts the call: a timer that has rung for a frozen owner can still be stopped.
func (t *wallTimer) ring() {
	t.to.post(func() {
		if t.pending.Swap(false) {
			t.fn()
		}
	})
}

func (t *wallTimer) Stop() bool {
	t.real.Stop()
	return t.pending.Swap(false) && !t.to.owner.isDead()
}
