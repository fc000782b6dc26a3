// SPDX-License-Identifier: Apache-2.0

package checkers

import "github.com/seed-720a3c77/harness/history"

// lateSend is how far behind its schedule a send is counted as late.
const lateSend = 10_000_000 // 10 ms

// trust measures what the other figures rest on: whether the load was offered, the
// schedule kept and the record whole.
type trust struct {
	c        *Case
	schedule samples
	late     int64
}

func (t *trust) Kinds() history.KindSet { return history.Only(history.PublishStart) }

func (t *trust) Begin(c *Case) { t.c = c }

func (t *trust) Observe(m *Moment) {
	if m.forward || m.Attempt > 1 {
		return
	}
	if m.D > lateSend {
		t.late++
	}
	t.schedule.record(m.D)
}

func (t *trust) Finish(f *Facts) {
	r := &f.result.Trust
	r.Clock = t.c.header.Clock
	if !t.c.brief {
		r.SchedLagP99Ns = t.schedule.quantile(99)
	}
	r.LateSends = t.late
	r.OfferedMsgs = f.counts["published"]
	for i := range t.c.header.Producers {
		r.PlannedMsgs += int64(t.c.header.Producers[i].Count)
	}
	if r.OfferedMsgs > 0 {
		r.UnknownShare = float64(f.counts["unknown"]) / float64(r.OfferedMsgs)
	}
	r.Dropped = t.c.ends.dropped
	r.Drained = t.c.ends.drained
	r.Interrupted = t.c.ends.interrupted
}
