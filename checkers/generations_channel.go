// SPDX-License-Identifier: Apache-2.0

package checkers

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/seed-720a3c77/harness/contract"
	"github.com/seed-720a3c77/harness/history"
	"github.com/seed-720a3c77/harness/msg"
)

// channelEnds follows the ends of channels of a push queue. What was unsettled comes
// back; what was acked may, where nothing proves that the ack arrived, but never more
// than the prefetch window let the broker have unsettled.
type channelEnds struct {
	c    *Case
	all  []*epoch
	owed []owed // of the latest ends
}

// owed is what can be told of a channel's messages that were not settled for certain: true
// where one may come again.
type owed struct {
	in  *epoch
	ids map[msg.ID]bool
}

// maxOwed is how many ends are remembered by their messages: a broker gives back at once.
const maxOwed = 64

func (e *channelEnds) Kinds() history.KindSet {
	if e.c != nil && e.c.profile.Model != contract.PushQueue {
		return 0
	}
	return history.Only(history.SessionClose, history.WorkerEnd, history.Delivery)
}

func (e *channelEnds) Begin(c *Case) {
	e.c = c
	if c.profile.Model == contract.PushQueue {
		c.facts.measure(redeliveredBeyond)
	}
}

func (e *channelEnds) Observe(m *Moment) {
	switch {
	case m.Kind == history.Delivery:
		if m.cameAgain() {
			e.again(m)
		}
	case m.Kind == history.SessionClose:
		e.ended(m, m.session, deathCause(e.c.names(history.Texts, m.Text), m.Has(history.Crashed)))
	case !m.Has(history.Crashed):
	case m.Event.Session != 0:
		e.ended(m, m.session, sessionDied)
	default:
		worker := e.c.names(history.Texts, m.Text)
		for _, s := range e.c.sessions {
			if s != nil && s.worker == worker {
				e.ended(m, s, sessionDied)
			}
		}
	}
}

// ended begins an epoch where a session held something.
func (e *channelEnds) ended(m *Moment, s *session, why Cause) {
	sub := e.c.subAt(s.sub)
	if sub == nil || slices.ContainsFunc(e.owed, func(o owed) bool { return o.in.members[s.ref] }) {
		return // it has been told already
	}
	ids := map[msg.ID]bool{}
	one := e.c.newEpoch(sub, KindChannel, int64(len(e.all)+1), m.T)
	one.UncommittedMin, one.UncommittedMax = s.owes(ids, why, cmp.Or(sub.Prefetch, sub.Batch))
	if len(ids) == 0 {
		return
	}
	one.members[s.ref] = true
	e.all = append(e.all, one)
	e.owed = append(e.owed, owed{one, ids})
	if len(e.owed) > maxOwed {
		e.owed = slices.Delete(e.owed, 0, 1)
	}
}

// owes finds what a session that ends has not settled for certain. An ack that nothing
// proves was written and may not have arrived: a broker takes them in order, so only the
// latest may not have, and with what is open they are no more than the window.
func (s *session) owes(ids map[msg.ID]bool, why Cause, window int) (least, most int64) {
	var doubtful []*hold
	s.holds.each(func(_ uint32, h *hold) {
		switch {
		case h.over == settleRefused: // it came back with the channel
			ids[h.id()] = true
			least++
		case h.over != noCause && h.over != settleUnknown:
		case h.over == settleUnknown, h.is(settling), h.is(weak) && why != sessionClosed:
			doubtful = append(doubtful, h)
		case !h.is(settledHold):
			ids[h.id()] = true
			least++
		}
	})
	slices.SortStableFunc(doubtful, func(a, b *hold) int { return cmp.Compare(a.settleAt, b.settleAt) })
	arrived := 0
	if window > 0 {
		arrived = max(0, len(doubtful)-max(0, window-int(least)))
	}
	for i, h := range doubtful {
		ids[h.id()] = ids[h.id()] || i >= arrived
	}
	return least, least + int64(len(doubtful)-arrived)
}

func (e *channelEnds) again(m *Moment) {
	for _, o := range slices.Backward(e.owed) {
		allowed, found := o.ids[m.id]
		if !found || o.in.sub != m.sub.index {
			continue
		}
		delete(o.ids, m.id)
		o.in.gap(o.in.AtNs, m.T)
		o.in.again(e.c, m, allowed, fmt.Sprintf("acked before the last %d that its channel can have had unsettled", o.in.UncommittedMax))
		return
	}
}

func (e *channelEnds) Finish(f *Facts) { tellEpochs(f, e.all) }
