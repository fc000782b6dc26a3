// SPDX-License-Identifier: Apache-2.0

package checkers

import (
	"fmt"
	"strings"

	"github.com/seed-720a3c77/harness/contract"
	"github.com/seed-720a3c77/harness/history"
)

// backlog compares what the broker says of its queues and logs with what happened to the
// messages: ends and positions that went backwards, positions beyond what anybody had
// asked for, and messages counted that no longer exist.
type backlog struct {
	c      *Case
	logs   map[sampled]logSample
	queues map[uint32]queueSample // by place
	moved  int64                  // the latest delivery or settlement
}

// sampled is a log as seen by one group.
type sampled struct{ place, group uint32 }

type logSample struct{ committed, end int64 }

// queueSample is a count and the earliest moment that it may be of.
type queueSample struct{ at, there int64 }

func (b *backlog) Kinds() history.KindSet {
	return history.Only(history.DepthQueue, history.DepthLog, history.Delivery, history.SettleAnswer)
}

func (b *backlog) Begin(c *Case) {
	b.c, b.logs, b.queues = c, map[sampled]logSample{}, map[uint32]queueSample{}
	if c.profile.Model == contract.Log {
		c.facts.measure(endOffsetRegression)
		return
	}
	c.facts.measure(notEmpty)
}

func (b *backlog) Observe(m *Moment) {
	switch m.Kind {
	case history.DepthQueue:
		b.queues[m.Event.Place] = queueSample{m.T - m.D, int64(m.Seq) + max(m.Off, 0) + max(m.Until, 0)}
	case history.DepthLog:
		b.log(m)
	default:
		b.moved = m.T
	}
}

func (b *backlog) log(m *Moment) {
	key := sampled{m.Event.Place, m.Session}
	now := logSample{int64(m.Seq), m.Off}
	last, seen := b.logs[key]
	b.logs[key] = now
	sub := b.c.subAt(b.c.scene.session(m.Session).sub)
	at := b.c.place(m.Event.Place).text
	if seen && now.end >= 0 && now.end < last.end {
		b.note(endOffsetRegression, m, fmt.Sprintf("%s: from %d to %d", at, last.end, now.end))
	}
	if sub == nil || now.committed < 0 || sub.moved || sub.Opaque {
		return
	}
	if seen && now.committed < last.committed {
		b.note(commitRegression, m, fmt.Sprintf("%s: from %d to %d in all partitions together", at, last.committed, now.committed))
	}
	if asked := b.asked(sub, m.Event.Place); now.committed > asked && now.committed > last.committed {
		b.note(commitAhead, m, fmt.Sprintf("%s: %d in all partitions together, asked for %d at most", at, now.committed, asked))
	}
}

// asked is the sum of the highest positions that a group asked to commit.
func (b *backlog) asked(sub *subscription, whole uint32) (sum int64) {
	name, _, _ := strings.Cut(b.c.names(history.Places, whole), "|")
	for ref, p := range sub.partitions {
		if p == nil {
			continue
		}
		if of, _, _ := strings.Cut(b.c.names(history.Places, uint32(ref)), "|"); of == name {
			sum += max(p.maybe, 0)
		}
	}
	return sum
}

// note counts a finding that is about no message.
func (b *backlog) note(r row, m *Moment, text string) {
	if x := b.c.facts.found(r, m); x != nil {
		x.Text = text
	}
}

func (b *backlog) Finish(f *Facts) {
	for ref, q := range b.queues {
		p := b.c.place(ref)
		if p.role != source || p.owner == nobody || q.there == 0 || !b.ghosts(f, b.c.subs[p.owner], q) {
			continue
		}
		if x := f.add(notEmpty, q.at, q.at); x != nil {
			x.AtNs = q.at
			x.Text = fmt.Sprintf("%s: %s counted, and nothing is left", p.text, counted(q.there, "message is", "messages are"))
		}
	}
}

// ghosts tells whether what a queue counted at last can be nothing that is known of.
func (b *backlog) ghosts(f *Facts, sub *subscription, q queueSample) bool {
	if sub.Opaque {
		return false // it may leave unsettled what it has done
	}
	p := b.c.profile
	settledDown := b.moved + int64(p.Lease.Tick+p.TakeOver+p.Tolerance)
	if !b.c.ends.drainSeen || q.at <= settledDown || f.count(foreign) > 0 {
		return false
	}
	left := false
	for _, t := range b.c.tablesOf(sub.index) {
		t.each(func(_ uint64, known *message) {
			left = left || known.class() != contract.Rejected && !known.through(sub)
		})
	}
	return !left
}
