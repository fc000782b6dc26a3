// SPDX-License-Identifier: Apache-2.0

package record

import (
	"errors"

	"github.com/seed-720a3c77/harness/contract"
	"github.com/seed-720a3c77/harness/history"
	"github.com/seed-720a3c77/harness/msg"
)

// Program records that a program of its own began to consume, which only its process and
// its effects show. It returns the number of its session.
func (t *Task) Program(name, group, from string) uint32 {
	session := t.recording.Intern(history.Sessions, t.newSession(name, group, from))
	t.segment.Append(&history.Event{T: t.now(), Kind: history.SessionOpen, Session: session})
	return session
}

// ProgramEnd records that it is gone; why is "" for a polite end.
func (t *Task) ProgramEnd(session uint32, crashed bool, why string) {
	var err error
	if why != "" {
		err = errors.New(why)
	}
	t.closed(session, crashed, err)
}

// ProgramFault records that a fault is about to strike a program and, where it was
// measured, how many messages that had in hand for certain, and how many waited.
func (t *Task) ProgramFault(number int, text string, measured bool, held, waiting int) {
	e := history.Event{T: t.now(), Kind: history.FaultRequested, Op: uint32(number), Text: t.text(text)}
	if measured {
		e.Class, e.N, e.Seq = contract.OK, uint32(held), uint64(waiting)
	}
	t.segment.Append(&e)
}

// ProgramEffect records an effect that was seen of a message from a destination: count is
// how many there are now.
func (t *Task) ProgramEffect(session uint32, id msg.ID, from string, count int) {
	t.segment.Append(&history.Event{
		T: t.now(), Kind: history.EffectResult, Session: session, Producer: id.Producer, Seq: id.Seq,
		Place: t.Place(from, whole), N: uint32(count), Class: contract.OK,
	})
}
