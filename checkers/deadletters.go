// SPDX-License-Identifier: Apache-2.0

package checkers

import (
	"fmt"

	"github.com/seed-720a3c77/harness/contract"
	"github.com/seed-720a3c77/harness/history"
	"github.com/seed-720a3c77/harness/msg"
)

// deadLetters tells justified dead letters from premature and false ones, and compares
// the deliveries with the limit.
type deadLetters struct{ c *Case }

func (d *deadLetters) Kinds() history.KindSet { return 0 }

func (d *deadLetters) Begin(c *Case) {
	d.c = c
	c.facts.measure(deadLetterRows...)
	c.facts.measure(deadLetterAfterAck)
}

func (d *deadLetters) Observe(*Moment) {}

func (d *deadLetters) Finish(f *Facts) {
	for _, sub := range d.c.subs {
		for producer, t := range d.c.tablesOf(sub.index) {
			t.each(func(seq uint64, known *message) {
				d.judge(f, sub, msg.ID{Producer: producer, Seq: seq}, known)
			})
		}
	}
}

// proven tells whether an ack that was not refused was certainly applied: it was answered,
// or the session that it went through did not break.
func (d *deadLetters) proven(known *message) bool {
	holder := d.c.session(known.hold.session)
	return d.c.profile.Settle == contract.OK || holder.ended == noCause || holder.ended == sessionClosed
}

// outOfSight is how many deliveries there can have been before it that no client saw. A
// session that leaves politely at the end of a run comes too late to have had any.
func (d *deadLetters) outOfSight(sub *subscription, known *message) int64 {
	if d.c.profile.Model == contract.PushQueue && !sub.missed {
		return sub.died - d.c.ofHolder(known, func(why Cause) bool { return why != noCause && why != sessionClosed })
	}
	return d.c.outOfSight(sub, known)
}

func (d *deadLetters) judge(f *Facts, sub *subscription, id msg.ID, known *message) {
	note := func(r row, text string) {
		if x := f.concluded(r, sub, id, known); x != nil {
			x.Text = text
		}
	}
	deliveries := fmt.Sprintf("%d deliveries, limit %d", known.received, sub.limit)
	single := sub.limit > 0 && known.stored <= 1
	if single && int(known.received) > sub.limit && !d.c.spontaneous() && !sub.log {
		note(deadLetterLate, deliveries)
	}
	if known.deadLetters() == 0 {
		return
	}
	if known.dead > 0 && known.forwarded == 0 && known.is(inTime) && !known.is(discarded) && d.proven(known) {
		note(deadLetterAfterAck, "its ack had been applied")
	}
	if known.forwarded > 1 || known.dead > 1 {
		note(deadLetterTwice, fmt.Sprintf("%d copies", max(known.forwarded, known.dead)))
	}
	switch {
	case known.succeeded(sub):
		note(deadLetterFalse, fmt.Sprintf("done %d times", max(known.done, known.effects)))
	case sub.ttl > 0: // its time may have been over
	case known.runs == 0 && !sub.Opaque:
		note(deadLetterPremature, "no handler ever started on it")
	case single && int64(known.received)+d.outOfSight(sub, known) < int64(sub.limit) && !known.is(discarded) && known.forwarded == 0 && !sub.Opaque:
		note(deadLetterEarly, deliveries)
	}
}
