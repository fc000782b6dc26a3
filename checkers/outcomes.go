// SPDX-License-Identifier: Apache-2.0

package checkers

import (
	"fmt"

	"github.com/seed-720a3c77/harness/contract"
	"github.com/seed-720a3c77/harness/history"
	"github.com/seed-720a3c77/harness/msg"
)

// outcomes tells what producers were told, and finds messages that should not exist:
// delivered although rejected, never published, foreign, or damaged.
type outcomes struct {
	c       *Case
	retried int64
}

func (o *outcomes) Kinds() history.KindSet {
	return history.Only(history.Delivery, history.CallOverrun, history.Retried)
}

func (o *outcomes) Begin(c *Case) {
	o.c = c
	c.facts.measure(phantom, fromNowhere, corrupt, foreign, recovered, callOverrun)
}

func (o *outcomes) Observe(m *Moment) {
	switch m.Kind {
	case history.CallOverrun:
		if x := o.c.facts.found(callOverrun, m); x != nil {
			x.Text = o.c.names(history.Texts, m.Text)
		}
	case history.Retried:
		o.retried++
	case history.Delivery:
		o.delivery(m)
	}
}

func (o *outcomes) delivery(m *Moment) {
	if m.Has(history.Foreign) {
		if x := o.c.facts.found(foreign, m); x != nil {
			x.Text = "read from " + m.place.text
		}
		return
	}
	if m.Has(history.Corrupt) {
		if x := o.c.facts.found(corrupt, m); x != nil {
			x.Text = "the body read from " + m.place.text + " is not the one that was sent"
		}
	}
}

// told counts ids by class.
type told struct {
	byClass         [contract.AcceptedOnly + 1]int64
	recovered, seen int64 // unknown ids that were delivered, accepted-only ids that were
}

func (o *outcomes) Finish(f *Facts) {
	sum := o.c.unsubscribed
	for _, sub := range o.c.subs {
		o.judge(f, sub, o.c.publishers(sub.index), &sum)
	}
	o.publish(f, &sum)
}

// judge looks at every message of a subscription; ids are counted by class only in the
// first subscription of their producer, the others are owed the same messages.
func (o *outcomes) judge(f *Facts, sub *subscription, count map[uint32]bool, sum *told) {
	for producer, t := range o.c.tablesOf(sub.index) {
		clean := t.each(func(seq uint64, known *message) {
			o.one(f, sub, msg.ID{Producer: producer, Seq: seq}, known)
			if count[producer] {
				sum.count(known)
			}
		})
		if count[producer] && clean > 0 {
			sum.byClass[t.clean.class()] += clean
			sum.seen += clean
		}
	}
}

func (t *told) count(known *message) {
	class := known.class()
	t.byClass[class]++
	if known.received > 0 && class == contract.Unknown {
		t.recovered++
	}
}

func (o *outcomes) one(f *Facts, sub *subscription, id msg.ID, known *message) {
	seen := known.received > 0 || known.is(deadSeen)
	switch class := known.class(); {
	case !seen:
	case class == contract.Unclassed:
		if x := f.concluded(fromNowhere, sub, id, known); x != nil {
			x.Text = "delivered, and no producer sent it"
		}
	case class == contract.Rejected:
		if x := f.concluded(phantom, sub, id, known); x != nil {
			x.Text = fmt.Sprintf("delivered although %d of %d attempts were rejected", known.answered, known.attempts)
		}
	case class == contract.Unknown:
		if x := f.concluded(recovered, sub, id, known); x != nil {
			x.Text = "published without a clear answer, and delivered"
		}
	}
}

func (o *outcomes) publish(f *Facts, t *told) {
	total := t.byClass[contract.OK] + t.byClass[contract.AcceptedOnly] + t.byClass[contract.Unknown] + t.byClass[contract.Rejected]
	f.counts["published"] = total
	f.counts["acked"] = t.byClass[contract.OK]
	f.counts["accepted-only"] = t.byClass[contract.AcceptedOnly]
	f.counts["unknown"] = t.byClass[contract.Unknown]
	f.counts["rejected"] = t.byClass[contract.Rejected]
	f.counts["client-retries"] = o.retried
	f.result.Ledger = append(f.result.Ledger, balance("Published", "", "Ids attempted", total,
		Line{"Acked", t.byClass[contract.OK], "good"},
		Line{"Accepted, no answer will prove more", t.byClass[contract.AcceptedOnly], "open"},
		Line{"Rejected, certainly not stored", t.byClass[contract.Rejected], "allowed"},
		Line{"Unknown, and delivered (recovered)", t.recovered, "open"},
		Line{"Unknown, never seen", t.byClass[contract.Unknown] - t.recovered, "open"},
	))
}

// balance adds the lines up; lines without a count are left out, except the first.
func balance(title, subscription, label string, total int64, lines ...Line) Balance {
	b := Balance{Title: title, Subscription: subscription, TotalLabel: label, Total: total, Difference: total}
	for i, line := range lines {
		b.Difference -= line.Count
		if i == 0 || line.Count != 0 {
			b.Lines = append(b.Lines, line)
		}
	}
	return b
}

// lineOf appends the line of a cause, if it has a count: most have none, and a name of two
// parts is not made for nothing.
func lineOf(lines []Line, what string, cause Cause, count int64, kind string) []Line {
	if count == 0 {
		return lines
	}
	return append(lines, Line{what + cause.String(), count, kind})
}

// publishers are the producers whose first subscription this is.
func (c *Case) publishers(sub int) map[uint32]bool {
	own := map[uint32]bool{}
	for producer := range c.tablesOf(sub) {
		own[producer] = true
		for earlier := range sub {
			if !c.table(earlier, producer).empty() {
				own[producer] = false
			}
		}
	}
	return own
}
