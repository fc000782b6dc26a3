// SPDX-License-Identifier: Apache-2.0

package checkers

import "github.com/seed-720a3c77/harness/history"

// recoveredShare is the share of the rate before a fault that counts as recovered.
const recoveredShare = 95 // per cent

// recoveries fills in what only the whole timeline tells of each fault: the rate before
// it, the peak of the lag, and when both were back. Recovered is the first second with
// 95 % of the rate before and the lag at or below its highest value before the first fault.
func (t *timeline) recoveries() {
	first := never
	for i := range t.c.faults.windows {
		f := &t.c.faults.windows[i]
		if f.ActiveNs == never {
			continue
		}
		if first == never {
			first = f.ActiveNs
		}
		if since := f.ActiveNs - t.c.ends.loadAt; since > 0 {
			f.RateBefore = f.before * 1_000_000_000 / since
		}
		f.LagPeak = t.lagPeak(f.ActiveNs, f.end())
		if f.RecoveredNs == never {
			f.RecoveredNs = t.recovered(f, t.lagPeak(0, first))
		}
	}
}

// lagPeak is the highest lag of the columns that overlap [from, to]; never is no end.
func (t *timeline) lagPeak(from, to int64) int64 {
	peak := never
	for i := range t.columns {
		start := int64(i) * t.step
		if start+t.step > from && (to == never || start <= to) {
			peak = max(peak, t.columns[i].lag)
		}
	}
	return peak
}

// recovered is the end of the first second after the heal that looks as before.
func (t *timeline) recovered(f *fault, lagBefore int64) int64 {
	if f.HealedNs == never || f.RateBefore <= 0 {
		return never
	}
	width := max(1, int(1_000_000_000/t.step))
	for i := int(f.HealedNs/t.step) + 1; i+width <= len(t.columns); i++ {
		var handled, lag int64
		for k := i; k < i+width; k++ {
			handled += t.columns[k].handled
			lag = max(lag, t.columns[k].lag)
		}
		perSecond := handled * 1_000_000_000 / (int64(width) * t.step)
		if perSecond*100 >= f.RateBefore*recoveredShare && lag <= lagBefore {
			return int64(i+width) * t.step
		}
	}
	return never
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
		f.result.Faults = append(f.result.Faults, w)
	}
}
