// SPDX-License-Identifier: Apache-2.0

package checkers

import (
	"fmt"
	"strings"

	"github.com/seed-720a3c77/harness/contract"
	"github.com/seed-720a3c77/harness/history"
)

// never stands for a moment that did not come and a figure that was not measured.
const never int64 = -1

// faultLog follows the faults of a run as they are announced.
type faultLog struct {
	windows   []fault
	successes int64 // so far
}

type fault struct {
	FaultWindow
	// unfinished is the most deliveries that were not settled or still in a handler when
	// it struck; waiting is what was stored and not yet delivered.
	unfinished, waiting int64
	// told: both were measured, of an opaque consumer that stood still.
	told          bool
	lastSuccess   int64
	before, after int64 // successes before it was active, and after it had healed
}

func (l *faultLog) at(op uint32, h *history.Header, text string) *fault {
	for n := uint32(len(l.windows)) + 1; n <= op && n <= 1<<16; n++ {
		w := FaultWindow{Number: int(n), RequestedNs: never, ActiveNs: never, HealedNs: never, RecoveredNs: never,
			DetectionNs: never, FirstSuccessNs: never, BackNs: never, RateBackNs: never, DrainNs: never, SilenceNs: never, RateBefore: never, LagPeak: never, Unsettled: never}
		if int(n) <= len(h.Faults) {
			w.Name, w.Target, w.Text = h.Faults[n-1].Name, h.Faults[n-1].Target, h.Faults[n-1].Text
		}
		l.windows = append(l.windows, fault{FaultWindow: w, lastSuccess: never})
	}
	if op == 0 || int(op) > len(l.windows) {
		return nil
	}
	f := &l.windows[op-1]
	name, target, _ := strings.Cut(text, " ")
	if f.Name == "" {
		f.Name = name
	}
	if name == f.Name && target != "" {
		f.Target = target // the worker that was really hit, where the plan named a group
	}
	return f
}

// end is when a fault no longer does anything, never while it does.
func (f *fault) end() int64 { return max(f.HealedNs, f.RecoveredNs) }

// of is the index of the latest fault whose window overlaps [start, end], or -1.
func (l *faultLog) of(start, end int64) int {
	for i := len(l.windows) - 1; i >= 0; i-- {
		f := &l.windows[i]
		if f.ActiveNs != never && f.ActiveNs <= end && (f.end() == never || f.end() >= start) {
			return i
		}
	}
	return -1
}

// struck tells whether a fault has been active.
func (l *faultLog) struck() bool {
	for i := range l.windows {
		if l.windows[i].ActiveNs != never {
			return true
		}
	}
	return false
}

// label is how a fault is referred to: f1.
func (l *faultLog) label(i int) string { return fmt.Sprintf("f%d", i+1) }

// open tells whether a fault was announced and has not healed.
func (f *fault) open() bool { return f.RequestedNs != never && f.HealedNs == never }

// applyFault follows one event of a fault.
func (c *Case) applyFault(e *history.Event) {
	f := c.faults.at(e.Op, c.header, c.names(history.Texts, e.Text))
	if f == nil {
		return
	}
	switch e.Kind {
	case history.FaultRequested:
		f.RequestedNs = e.T
		if e.Class == contract.OK {
			f.told = true
			f.Unsettled, f.unfinished, f.waiting = int64(e.N), int64(e.N), int64(e.Seq)
		}
		c.sampleExposure(f)
	case history.FaultActive:
		f.ActiveNs, f.before = e.T, c.faults.successes
		if f.RequestedNs == never {
			f.RequestedNs = e.T
		}
		c.sampleExposure(f)
	case history.FaultHealed:
		f.HealedNs = e.T
	case history.FaultRecovered:
		f.RecoveredNs = e.T
	}
}

// sampleExposure notes what a fault can hurt, unless that is told.
func (c *Case) sampleExposure(f *fault) {
	if f.told {
		return
	}
	var unsettled, unfinished int64
	for _, s := range c.sessions {
		if s == nil || c.subAt(s.sub) == nil {
			continue
		}
		if c.profile.Model != contract.Log {
			unsettled += s.held
		}
		s.holds.each(func(_ uint32, h *hold) {
			if h.unfinished() {
				unfinished++
			}
		})
	}
	for _, sub := range c.subs {
		unsettled += sub.uncommitted()
		unfinished += sub.uncommitted()
	}
	f.Unsettled = max(f.Unsettled, unsettled)
	f.unfinished, f.waiting = max(f.unfinished, unfinished), max(f.waiting, c.flow.waiting)
}

// uncommitted is how far the reading of a log is ahead of its committed positions.
func (s *subscription) uncommitted() (n int64) {
	for _, p := range s.partitions {
		if p != nil && s.log {
			n += max(p.read-max(p.committed, p.start, 0), 0)
		}
	}
	return n
}

// struck notes what the death of a session took with it.
func (c *Case) struck(unsettled, unfinished int64) {
	for i := range c.faults.windows {
		if f := &c.faults.windows[i]; f.open() {
			f.Unsettled = max(f.Unsettled, unsettled)
			f.unfinished = max(f.unfinished, unfinished)
		}
	}
}

// succeededAt notes a success: the first after a fault, and the longest silence while it lasted.
func (c *Case) succeededAt(t int64) {
	c.faults.successes++
	for i := range c.faults.windows {
		f := &c.faults.windows[i]
		if f.ActiveNs == never {
			continue
		}
		if f.FirstSuccessNs == never {
			f.FirstSuccessNs = t - f.ActiveNs
			f.lastSuccess = f.ActiveNs
		}
		if f.end() == never || f.lastSuccess <= f.end() {
			f.SilenceNs = max(f.SilenceNs, t-f.lastSuccess)
		}
		f.lastSuccess = t
		if f.HealedNs != never {
			if f.after++; f.after == 1 {
				f.BackNs = t - f.HealedNs
			}
		}
	}
}
