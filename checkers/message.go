// SPDX-License-Identifier: Apache-2.0

package checkers

import "github.com/seed-720a3c77/harness/contract"

// message is what is known of one id in one subscription. It is a value: equal to the
// clean one of its subscription it costs nothing (see pages).
type message struct {
	hold  ref   // the latest hold
	off   int64 // where it is stored on a log
	due   int64 // intended time of the first attempt
	sent  int64 // start of the first attempt
	acked int64 // the first positive answer
	last  int64 // the latest thing that happened to it
	well  int64 // the latest success
	place uint32

	attempts, answered uint8 // publishes begun and answered
	copies             uint8 // that the answers allow to be stored
	stored             uint8 // that were seen
	received, runs     uint8 // deliveries and handler starts
	done, effects      uint8 // handlers that ended well, effects that stand
	running            uint8 // handlers at work now
	ended              uint8 // holds that ended unsettled and excuse a delivery each
	forwarded, dead    uint8 // dead-letter writes acked, copies seen there
	audits             uint8 // copies found stored at the source at the end
	count              uint8 // the broker's latest delivery count
	cause              Cause // why the latest hold ended
	marks              marks
}

type marks uint32

const (
	sawOK marks = 1 << iota
	sawAccepted
	sawUnknown
	sawRejected
	settled      // for good, as far as the answer proves
	inTime       // the ack was asked for while the lease ran
	settledMaybe // an ack or reject with an unknown outcome
	discarded    // rejected by its consumer
	intended     // an effect was begun whose result is not known
	forwardLost  // a dead-letter write was refused
	forwardMaybe // a dead-letter write has an unknown outcome
	notOwed      // before a subscription that begins at the end
	deadSeen     // delivered from the dead-letter destination
	isClean      // equal to the clean message of its subscription

)

func (m *message) is(k marks) bool { return m.marks&k != 0 }

// class is what all attempts together prove.
func (m *message) class() contract.Class {
	switch {
	case m.is(sawOK):
		return contract.OK
	case m.is(sawAccepted):
		return contract.AcceptedOnly
	case m.is(sawUnknown), m.answered < m.attempts:
		return contract.Unknown
	case m.is(sawRejected):
		return contract.Rejected
	}
	return contract.Unclassed
}

// succeeded tells whether the work was done at least once.
func (m *message) succeeded(sub *subscription) bool {
	if sub.effects {
		return m.effects > 0
	}
	return m.done > 0
}

// deadLetters is how many copies are known to be in the dead-letter destination.
func (m *message) deadLetters() uint8 {
	n := max(m.forwarded, m.dead)
	if n == 0 && m.is(deadSeen) {
		return 1
	}
	return n
}

// through tells whether nobody has to work on it any more.
func (m *message) through(sub *subscription) bool {
	return m.is(settled) || m.deadLetters() > 0 || m.succeeded(sub)
}

// cleanMessage is a message of sub that went as everything should.
func cleanMessage(sub *subscription, p *contract.Profile) message {
	m := message{attempts: 1, answered: 1, copies: 1, stored: 1, received: 1, runs: 1, done: 1, marks: sawOK | isClean}
	if p.Publish == contract.AcceptedOnly {
		m.marks = sawAccepted | isClean
	}
	if sub.effects {
		m.effects = 1
	}
	if !sub.log {
		m.marks |= settled | inTime
	}
	return m
}

// looksClean tells whether a message equals the clean one in all that lasts. A count above 1
// lasts: answers with the deliveries before it may still be under way.
func (m *message) looksClean(clean *message) bool {
	if m.marks|isClean != clean.marks || m.done != 1 || m.running != 0 {
		return false
	}
	return m.attempts == 1 && m.answered == 1 && m.copies == 1 && m.stored == 1 && m.received == 1 && m.runs == 1 &&
		m.effects == clean.effects && m.count <= 1 && m.ended == 0 && m.forwarded == 0 && m.dead == 0 && m.audits == 0
}

func inc(n *uint8) {
	if *n < 255 {
		*n++
	}
}

func dec(n *uint8) {
	if *n > 0 {
		*n--
	}
}

func add(n *uint8, more uint32) { *n = uint8(min(uint32(*n)+more, 255)) }
