// SPDX-License-Identifier: Apache-2.0

package checkers

import (
	"cmp"
	"fmt"
	"maps"
	"slices"

	"github.com/seed-720a3c77/harness/contract"
	"github.com/seed-720a3c77/harness/history"
	"github.com/seed-720a3c77/harness/msg"
)

// groups holds a FIFO queue to the rule of its message groups: what is delivered of a
// group is the first that is left of it, and while that is leased nothing behind it comes
// but in the same batch. Only sends that did not overlap in time have an order.
type groups struct {
	c     *Case
	lines [][]groupLine // by subscription and key
	// passed are the messages that a later one went before. That is disorder once they are
	// delivered; until then they may be lost, which is no disorder, if the run drains.
	passed map[overtaken]*Example
}

// overtaken is a message of a subscription.
type overtaken struct {
	sub int
	id  msg.ID
}

// groupLine is what may be left of one group, in the order in which it was sent.
type groupLine struct{ left []msg.ID }

func (g *groups) Kinds() history.KindSet {
	if g.c != nil && g.c.profile.Order != contract.OrderGroup {
		return 0
	}
	return history.Only(history.PublishStart, history.Delivery)
}

func (g *groups) Begin(c *Case) {
	g.c, g.passed = c, map[overtaken]*Example{}
	g.lines = make([][]groupLine, len(c.subs))
	if c.profile.Order == contract.OrderGroup {
		c.facts.measure(orderGroup, groupBlocked)
	}
}

func (g *groups) Observe(m *Moment) {
	switch {
	case !m.known || m.Key == 0 || m.place.role != source:
	case m.Kind == history.Delivery:
		g.delivery(m)
	case m.message.attempts == 0:
		for _, sub := range g.c.feedsOf(m) {
			l := slot(&g.lines[sub], m.Key)
			l.left = append(l.left, m.id)
		}
	}
}

// delivery looks at what is left of the group before the message.
func (g *groups) delivery(m *Moment) {
	if m.sub.unseen {
		return // an answer with deliveries may have been lost on its way
	}
	g.confirm(m)
	l := slot(&g.lines[m.sub.index], m.Key)
	ahead := slices.Index(l.left, m.id)
	for i := 0; i < ahead; i++ {
		known := g.c.load(m.sub.index, l.left[i])
		if g.left(m, &known) {
			l.left = slices.Delete(l.left, i, i+1)
			i, ahead = i-1, ahead-1
			continue
		}
		if g.judge(m, l.left[i], &known) {
			return
		}
	}
}

// judge tells whether a delivery breaks the rule by going before an earlier message.
func (g *groups) judge(m *Moment, earlier msg.ID, known *message) bool {
	key := overtaken{m.sub.index, earlier}
	r, text := g.overtakes(m, known)
	if r == rows || r == orderGroup && g.passed[key] != nil {
		return false
	}
	x := Example{ID: m.id, AtNs: m.T, Cause: m.cause.String(), Subscription: m.sub.Name, Events: []int64{m.Index}}
	x.Text = fmt.Sprintf("%s of its group %s", earlier, text)
	if r == orderGroup {
		g.passed[key] = &x
		return true
	}
	g.c.facts.put(r, m.message.sent, x)
	return true
}

// confirm makes a finding of a message that was passed and comes after all.
func (g *groups) confirm(m *Moment) {
	key := overtaken{m.sub.index, m.id}
	if x := g.passed[key]; x != nil {
		x.Events = append(x.Events, m.Index)
		g.c.facts.put(orderGroup, m.message.sent, *x)
		delete(g.passed, key)
	}
}

// left tells whether a message may have left its queue for good by the moment. One that was
// delivered for the last time stays as long as it is leased.
func (g *groups) left(m *Moment, known *message) bool {
	if known.exhausted(m.sub) {
		h := g.c.hold(known.hold)
		return h == nil || !h.running(m.T) || settledAway(known)
	}
	return settledAway(known)
}

// gone tells whether a message may have left its queue for good.
func gone(sub *subscription, known *message) bool {
	return settledAway(known) || known.exhausted(sub)
}

// settledAway tells whether a message was, or may have been, taken out, or never was in.
func settledAway(known *message) bool {
	return known.is(settled|settledMaybe|discarded) || known.deadLetters() > 0 || known.class() == contract.Rejected
}

// exhausted tells whether a message has had the deliveries that its limit allows.
func (known *message) exhausted(sub *subscription) bool {
	return sub.limit > 0 && int(known.received) >= sub.limit
}

// overtakes tells what a delivery breaks by going before an earlier message; rows is nothing.
func (g *groups) overtakes(m *Moment, earlier *message) (row, string) {
	before := earlier.acked != 0 && earlier.acked <= m.message.sent && !earlier.is(sawUnknown)
	if !before || earlier.class() != contract.OK {
		return rows, ""
	}
	h := g.c.hold(earlier.hold)
	switch {
	case earlier.received == 0:
		return orderGroup, "was there and had not been delivered"
	case h == nil, h.is(settling):
		return rows, "" // it may have left
	case h.at == m.T && earlier.hold.session == m.Session:
		return rows, "" // came before it in the same batch
	case h.over == requeued, h.until <= m.T:
		return orderGroup, "was there again"
	}
	return groupBlocked, "was leased for another " + span(h.until-m.T)
}

// Finish takes those that were passed and never came for passed only, where nothing tells
// that the queue was read to its end: they stand in it still.
func (g *groups) Finish(f *Facts) {
	if g.c.ends.drainSeen {
		return
	}
	for _, key := range slices.SortedFunc(maps.Keys(g.passed), overtaken.compare) {
		sub, known := g.c.subs[key.sub], g.c.load(key.sub, key.id)
		if !gone(sub, &known) && !g.c.expires(sub, &known) {
			f.put(orderGroup, known.sent, *g.passed[key])
		}
	}
}

func (o overtaken) compare(other overtaken) int {
	return cmp.Or(cmp.Compare(o.sub, other.sub), o.id.Compare(other.id))
}
