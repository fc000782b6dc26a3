// SPDX-License-Identifier: Apache-2.0

package checkers

import (
	"fmt"

	"github.com/seed-720a3c77/harness/contract"
	"github.com/seed-720a3c77/harness/history"
	"github.com/seed-720a3c77/harness/msg"
)

// ledger gives every acked id of every subscription exactly one place. Undrained is never
// lost: whatever may still come to an end has not.
type ledger struct {
	c     *Case
	reach [][]reach // by subscription and producer
}

// reach is from where to where the messages of a producer were delivered.
type reach struct {
	any         bool
	first, last uint64
}

func (l *ledger) Kinds() history.KindSet { return history.Only(history.Delivery) }

func (l *ledger) Begin(c *Case) {
	l.c = c
	l.reach = make([][]reach, len(c.subs))
	c.facts.measure(losses[:]...)
	c.facts.measure(policyDrop, undrained, deadLettered)
}

func (l *ledger) Observe(m *Moment) {
	if !m.known || m.id.Producer >= maxProducers {
		return
	}
	all := &l.reach[m.sub.index]
	for uint32(len(*all)) <= m.id.Producer {
		*all = append(*all, reach{})
	}
	r := &(*all)[m.id.Producer]
	if !r.any {
		*r = reach{true, m.id.Seq, m.id.Seq}
		return
	}
	r.first, r.last = min(r.first, m.id.Seq), max(r.last, m.id.Seq)
}

// where tells whether a message is before, among or after those of its producer that
// were delivered.
func (l *ledger) where(sub *subscription, id msg.ID) string {
	if int(id.Producer) >= len(l.reach[sub.index]) || !l.reach[sub.index][id.Producer].any {
		return "all"
	}
	switch r := l.reach[sub.index][id.Producer]; {
	case id.Seq < r.first:
		return "prefix"
	case id.Seq > r.last:
		return "tail"
	}
	return "middle"
}

func (l *ledger) Finish(f *Facts) {
	for _, sub := range l.c.subs {
		l.settle(f, sub)
	}
}

func (l *ledger) settle(f *Facts, sub *subscription) {
	var at [fates]int64
	for producer, t := range l.c.tablesOf(sub.index) {
		clean := t.each(func(seq uint64, known *message) {
			id := msg.ID{Producer: producer, Seq: seq}
			if known.deadLetters() > 0 && known.class() != contract.Unclassed {
				l.note(f, sub, id, known, isDeadLettered)
			}
			if known.class() != contract.OK {
				return
			}
			fate := l.c.fate(sub, known)
			at[fate]++
			if fate != isDeadLettered {
				l.note(f, sub, id, known, fate)
			}
		})
		if t.clean.is(sawOK) {
			at[isDone] += clean
		}
	}
	l.balance(f, sub, &at)
}

// note keeps the evidence of a fate that is a finding.
func (l *ledger) note(f *Facts, sub *subscription, id msg.ID, known *message, fate fate) {
	r, is := fate.row()
	if !is {
		return
	}
	if fate == isLostUndelivered {
		f.counts["lost."+l.where(sub, id)]++
	}
	x := f.concluded(r, sub, id, known)
	if x == nil {
		return
	}
	x.Cause = known.cause.String()
	x.Text = fmt.Sprintf("%s; delivered %d times, %d handler runs, %d effects", fate, known.received, known.runs, known.effects)
	if fate == isLostUndelivered {
		x.Text += ", " + l.where(sub, id) + " of its producer's messages"
	}
}

func (l *ledger) balance(f *Facts, sub *subscription, at *[fates]int64) {
	var total int64
	var lines []Line
	for fate := range fates {
		total += at[fate]
		kind := fate.kind()
		if r, is := fate.row(); is && kind == "bad" {
			kind = f.shade(r)
		}
		lines = append(lines, Line{fate.String(), at[fate], kind})
	}
	f.counts["done"] += at[isDone]
	f.counts["in-flight"] += at[isHeld]
	f.result.Ledger = append(f.result.Ledger, balance("Acked ids", sub.Name, "Acked", total, lines...))
}
