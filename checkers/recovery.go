// SPDX-License-Identifier: Apache-2.0

package checkers

import (
	"github.com/seed-720a3c77/harness/contract"
	"github.com/seed-720a3c77/harness/history"
)

// recoveredShare is the share of the rate before a fault that counts as recovered.
const recoveredShare = 95 // per cent

// recoveries fills in what only the whole timeline tells of each fault: the rate before it
// and when it was back, and the peak of the lag until the next fault and when that had been
// worked off. What counts as worked off is the highest lag before the first fault.
func (t *timeline) recoveries() {
	lagBefore := never
	windows := t.c.faults.windows
	for i, first := 0, never; i < len(windows); i++ {
		f := &windows[i]
		if f.ActiveNs == never {
			continue
		}
		if first == never {
			first = f.ActiveNs
			_, lagBefore = t.lagPeak(0, first)
		}
		if since := f.ActiveNs - t.c.ends.loadAt; since > 0 {
			f.RateBefore = f.before * 1_000_000_000 / since
		}
		t.recovery(f, t.c.faults.next(f), lagBefore)
	}
}

// recovery looks at the time from one fault to the next.
func (t *timeline) recovery(f *fault, until, lagBefore int64) {
	var peakAt int64
	peakAt, f.LagPeak = t.lagPeak(f.ActiveNs, until)
	drained := t.drained(max(peakAt, f.HealedNs), until, lagBefore)
	if f.LagPeak > lagBefore && drained != never {
		f.DrainNs = drained - peakAt
	}
	back := t.rateBack(f, until)
	if back != never {
		f.RateBackNs = back - f.HealedNs
	}
	if f.RecoveredNs == never && back != never && drained != never {
		f.RecoveredNs = max(back, drained)
	}
}

// next is when the next fault after one had healed was active, never if none was.
func (l *faultLog) next(f *fault) int64 {
	next := never
	for i := range l.windows {
		at := l.windows[i].ActiveNs
		if at != never && at > max(f.ActiveNs, f.end()) && (next == never || at < next) {
			next = at
		}
	}
	return next
}

// lagPeak is the highest lag of the columns that overlap [from, to], and when it was; a to
// of never is the end.
func (t *timeline) lagPeak(from, to int64) (at, peak int64) {
	at, peak = never, never
	for i := range t.columns {
		start := int64(i) * t.step
		if start+t.step > from && (to == never || start <= to) && t.columns[i].lag > peak {
			at, peak = max(start, from), t.columns[i].lag
		}
	}
	return at, peak
}

// drained is when the lag was first measured to be no higher than before.
func (t *timeline) drained(from, until, before int64) int64 {
	if before == never {
		return from // nobody measures it
	}
	for i := int(max(from, 0) / t.step); i < len(t.columns); i++ {
		end := int64(i+1) * t.step
		if until != never && end > until {
			break
		}
		if lag := t.columns[i].lag; lag >= 0 && lag <= before {
			return end
		}
	}
	return never
}

// rateBack is the end of the first second after the heal with 95 % of the rate before.
func (t *timeline) rateBack(f *fault, until int64) int64 {
	if f.HealedNs == never || f.RateBefore <= 0 {
		return never
	}
	width := max(1, int(1_000_000_000/t.step))
	for i := int(f.HealedNs/t.step) + 1; i+width <= len(t.columns); i++ {
		end := int64(i+width) * t.step
		if until != never && end > until {
			break
		}
		var handled int64
		for k := i; k < i+width; k++ {
			handled += t.columns[k].handled
		}
		perSecond := handled * 1_000_000_000 / (int64(width) * t.step)
		if perSecond*100 >= f.RateBefore*recoveredShare {
			return end
		}
	}
	return never
}

// detections finds when the first client noticed each fault: a bad answer, a session that
// ended, an ownership that was taken, a publisher that was told to wait.
type detections struct{ c *Case }

func (d *detections) Kinds() history.KindSet {
	return history.Only(history.PublishAnswer, history.SettleAnswer, history.Receive, history.SessionClose, history.Revoke, history.Blocked)
}

func (d *detections) Begin(c *Case) { d.c = c }

func (d *detections) Observe(m *Moment) {
	if d.c.ends.drainSeen || !d.c.troubled(m) {
		return
	}
	windows := d.c.faults.windows
	for i := range windows {
		f := &windows[i]
		if f.ActiveNs != never && f.DetectionNs == never && d.c.faults.next(f) == never {
			f.DetectionNs = m.T - f.ActiveNs
		}
	}
}

func (d *detections) Finish(*Facts) {}

// troubled tells whether an event tells a client that something is wrong.
func (c *Case) troubled(m *Moment) bool {
	switch m.Kind {
	case history.SessionClose:
		return deathCause(c.names(history.Texts, m.Text), m.Has(history.Crashed)) != sessionClosed
	case history.Revoke:
		return m.Has(history.Lost)
	case history.Blocked:
		return true
	}
	return m.Class == contract.Rejected || m.Class == contract.Unknown
}

// faultReport writes the fault windows with what fell into them.
type faultReport struct{ c *Case }

func (r *faultReport) Kinds() history.KindSet { return 0 }

func (r *faultReport) Begin(c *Case) { r.c = c }

func (r *faultReport) Observe(*Moment) {}

func (r *faultReport) Finish(f *Facts) {
	if n := len(r.c.header.Faults); n > 0 {
		r.c.faults.at(uint32(n), r.c.header, "")
	}
	for i := range r.c.faults.windows {
		w := r.c.faults.windows[i].FaultWindow
		w.Lost = f.inFault(i, losses[:]...)
		w.Redelivered = f.inFault(i, redelivered)
		w.EffectTwice = f.inFault(i, effectDuplicate)
		w.StoredTwice = f.inFault(i, storedTwice)
		w.Reordered = f.inFault(i, orderKey, orderPartition, orderGroup)
		w.Unexplained = f.inFault(i, duplicateUnexplained, duplicateAfterAck, prematureRedelivery)
		f.result.Faults = append(f.result.Faults, w)
	}
}
