// SPDX-License-Identifier: Apache-2.0

package checkers

import (
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

// isSettle tells whether a verb ends a delivery.
func isSettle(verb uint8) bool { return verb != history.VerbExtend && verb != 0 }
