// SPDX-License-Identifier: Apache-2.0

package checkers

import "github.com/seed-720a3c77/harness/history"

// lag keeps every definition that applies: what samples of the broker say (ready, in
// flight, total on queues; end and last stable offset against committed on logs) and what
// the events say (acked and not through). A negative sample is skew of its parts: it is
// counted and shown as 0.
type lag struct {
	c                         *Case
	ready, total, end, stable gauge
	open                      gauge
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
	default:
		l.open.set(l.c.unfinished())
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

// unfinished is how many acked messages of all subscriptions are not through.
func (c *Case) unfinished() (n int64) {
	for i := range c.flow {
		n += c.flow[i].open
	}
	return n
}

func (l *lag) Finish(f *Facts) {
	l.open.set(l.c.unfinished())
	for name, g := range map[string]*gauge{"lag.ready": &l.ready, "lag.total": &l.total, "lag.end": &l.end, "lag.stable": &l.stable, "lag.messages": &l.open} {
		if g.any {
			f.counts[name] = g.last
			f.counts[name+".max"] = g.max
		}
	}
	f.counts["lag.skewed"] = l.skewed
}
