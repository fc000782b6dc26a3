// SPDX-License-Identifier: Apache-2.0

package checkers

import (
	"github.com/seed-720a3c77/harness/contract"
	"github.com/seed-720a3c77/harness/history"
)

// lag keeps every definition that applies: what samples of the broker say (ready, in
// flight, total on queues; end and last stable offset against committed on logs) and what
// the events say (acked and not through). A negative sample is skew of its parts: it is
// counted and shown as 0.
type lag struct {
	c                         *Case
	ready, total, end, stable gauge
	open, age                 gauge
	skewed                    int64
}

// gauge is a value over time.
type gauge struct {
	any       bool
	last, max int64
}

func (g *gauge) set(v int64) {
	g.any, g.last = true, v
	g.max = max(g.max, v)
}

func (l *lag) Kinds() history.KindSet {
	return history.Only(history.DepthQueue, history.DepthLog, history.PublishAnswer, history.Drained)
}

func (l *lag) Begin(c *Case) { l.c = c }

func (l *lag) Observe(m *Moment) {
	switch m.Kind {
	case history.DepthQueue:
		if l.c.place(m.Event.Place).role == source {
			l.queue(int64(m.Seq), m.Off, m.Until)
		}
	case history.DepthLog:
		if l.c.place(m.Event.Place).role == source {
			l.log(int64(m.Seq), m.Off, m.Until)
		}
	}
	l.open.set(l.c.flow.open)
	if m.Kind != history.PublishAnswer {
		l.age.set(l.c.oldest())
	}
}

func (l *lag) queue(ready, inFlight, delayed int64) {
	if ready >= 0 {
		l.ready.set(ready)
		l.total.set(ready + max(inFlight, 0) + max(delayed, 0))
	}
}

func (l *lag) log(committed, end, stable int64) {
	if end >= 0 && committed >= 0 {
		l.end.set(l.natural(end - committed))
	}
	if stable >= 0 && committed >= 0 {
		l.stable.set(l.natural(stable - committed))
	}
}

func (l *lag) natural(v int64) int64 {
	if v < 0 {
		l.skewed++
	}
	return max(v, 0)
}

// oldest is how long ago the oldest message was due that is acked and not through; a
// message that its group's position has passed is not waited for.
func (c *Case) oldest() (age int64) {
	for i, sub := range c.subs {
		for producer, t := range c.tables[i] {
			low := slot(slot(&c.low, uint32(i)), uint32(producer))
			if due, waits := c.advanceLow(sub, t, low); waits {
				age = max(age, c.now-due)
			}
		}
	}
	return age
}

// answerPatience is how long a publish without an answer holds the low mark back.
const answerPatience = 30_000_000_000 // 30 s

// advanceLow moves a producer's low mark to the first message that is waited for.
func (c *Case) advanceLow(sub *subscription, t *pages, low *uint64) (due int64, waits bool) {
	for ; ; *low++ {
		switch m := t.get(*low); {
		case m.attempts == 0, m.answered < m.attempts && c.now-m.sent < answerPatience:
			return 0, false
		case m.class() == contract.OK && !m.through(sub) && !sub.passed(&m):
			return m.due, true
		}
	}
}

// passed tells whether a record is behind its group's position.
func (s *subscription) passed(m *message) bool {
	return s.log && m.place != 0 && s.partition(m.place).committed > m.off
}

func (l *lag) Finish(f *Facts) {
	l.open.set(l.c.flow.open)
	for name, g := range map[string]*gauge{"lag.ready": &l.ready, "lag.total": &l.total, "lag.end": &l.end, "lag.stable": &l.stable, "lag.messages": &l.open, "lag.time_ns": &l.age} {
		if g.any {
			f.counts[name] = g.last
			f.counts[name+".max"] = g.max
		}
	}
	f.counts["lag.skewed"] = l.skewed
}
