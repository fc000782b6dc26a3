// SPDX-License-Identifier: Apache-2.0

package clock

import (
	"context"
	"time"
)

// mailbox holds the callbacks posted to one owner: one event serves it, letter by
// letter, so letters keep their order while others come in between.
type mailbox struct {
	v       *Virtual
	owner   *virtualTask // nil: the engine
	letters queue[func()]
	ev      event
}

func (m *mailbox) init(v *Virtual, owner *virtualTask) {
	m.v, m.owner, m.ev.act = v, owner, m
}

// Post implements Clock.
func (v *Virtual) Post(ctx context.Context, fn func()) {
	owner := v.ownerOf(ctx)
	if owner.isDead() {
		return
	}
	m := &v.engine
	if owner != nil {
		m = &owner.mail
	}
	m.letters.push(fn)
	if m.letters.len() == 1 {
		v.schedule(v.now, &m.ev)
	}
}

func (m *mailbox) owned() *virtualTask { return m.owner }

// due delivers one letter.
func (m *mailbox) due() {
	l := letter{m, m.letters.pop()}
	if !m.letters.empty() {
		m.v.schedule(m.v.now, &m.ev)
	}
	if m.v.holds.wants(m.owner) {
		m.v.holds.keep(l)
		return
	}
	l.due()
}

// letter is one callback taken out of a mailbox.
type letter struct {
	from *mailbox
	fn   func()
}

func (l letter) owned() *virtualTask { return l.from.owner }

func (l letter) due() { l.from.v.call(l.from.owner, l.fn) }

// virtualTimer is a Timer of Virtual.
type virtualTimer struct {
	v       *Virtual
	owner   *virtualTask
	fn      func()
	ev      event
	pending bool
}

// At implements Clock.
func (v *Virtual) At(ctx context.Context, at time.Duration, fn func()) Timer {
	t := &virtualTimer{v: v, owner: v.ownerOf(ctx), fn: fn}
	t.ev.act = t
	if !t.owner.isDead() {
		t.pending = true
		v.schedule(at, &t.ev)
	}
	return t
}

func (t *virtualTimer) owned() *virtualTask { return t.owner }

func (t *virtualTimer) due() {
	switch {
	case !t.pending:
	case t.v.holds.wants(t.owner):
		t.v.holds.keep(t)
	default:
		t.pending = false
		t.v.call(t.owner, t.fn)
	}
}

func (t *virtualTimer) Stop() bool {
	t.v.alive()
	stopped := t.pending && !t.owner.isDead()
	t.pending = false
	t.v.agenda.remove(&t.ev)
	return stopped
}

// ownerOf is the task that owns callbacks of ctx, nil for the engine.
func (v *Virtual) ownerOf(ctx context.Context) *virtualTask {
	v.alive()
	if c := virtualContextOf(ctx); c != nil {
		return c.task
	}
	return nil
}
