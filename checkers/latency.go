// SPDX-License-Identifier: Apache-2.0

package checkers

import (
	"github.com/seed-720a3c77/harness/contract"
	"github.com/seed-720a3c77/harness/history"
)

// The latencies that are kept, all but redelivery from the intended time.
const (
	latencyPublish    = iota // to the positive answer
	latencyReceive           // to the first delivery
	latencyHandled           // to the first effect, or the first handler that ended well
	latencyFinal             // to the last success of the message
	latencyRedelivery        // from a delivery to the next of the same message

	latencyNames
)

var latencyName = [latencyNames]string{"publish", "receive", "handled", "final", "redelivery"}

// Windows of a latency. A sample is from before the faults if it ended before the first
// was active, during if any part of it lay in one, else after.
const (
	windowAll = iota
	windowBefore
	windowDuring
	windowAfter

	latencyWindows
)

var windowName = [latencyWindows]string{"all", "before", "during", "after"}

// latencies keeps histograms from the intended time of an open-loop schedule, so that a
// stall is not hidden by the sends that it held back. What was due in the warm-up is cut.
type latencies struct {
	c      *Case
	all    [latencyNames][latencyWindows]samples
	warmup int64
}

func (l *latencies) Kinds() history.KindSet {
	return history.Only(history.PublishAnswer, history.Delivery) | l.c.successKinds()
}

func (l *latencies) Begin(c *Case) {
	l.c = c
	c.whenClean, c.memory.letGo = l.final, l.final
}

func (l *latencies) Observe(m *Moment) {
	if !m.known || m.forward || m.place.role == deadLetter {
		return
	}
	switch m.Kind {
	case history.PublishAnswer:
		if m.Class == contract.OK && !m.message.is(sawOK) && m.message.attempts > 0 {
			l.record(latencyPublish, m.message.due, m.T)
		}
	case history.Delivery:
		l.delivery(m)
	case history.HandlerEnd:
		if !m.sub.effects && !m.Has(history.Failed) && m.hold != nil {
			l.first(m, m.message.done)
		}
	case history.EffectResult:
		if (m.hold != nil || m.opaque()) && effectsAfter(m.message.effects, m.Event) > m.message.effects {
			l.first(m, m.message.effects)
		}
	}
}

func (l *latencies) delivery(m *Moment) {
	if !m.extra {
		l.record(latencyReceive, m.hold.due, m.T)
		return
	}
	if before := l.c.hold(m.message.hold); before != nil && !m.copy {
		l.record(latencyRedelivery, before.at, m.T)
	}
}

// first takes the first success of a message.
func (l *latencies) first(m *Moment, before uint8) {
	if before == 0 {
		l.record(latencyHandled, m.due(), m.T)
	}
}

// final takes the last success of a message: when nothing more is expected of it, or at
// the end. A message that was clean and came again has been taken already.
func (l *latencies) final(known *message) {
	if known.well > 0 && known.sent+known.acked > 0 {
		l.record(latencyFinal, known.due, known.well)
	}
}

func (l *latencies) record(name int, from, to int64) {
	if from < l.c.ends.loadAt {
		if name == latencyPublish {
			l.warmup++
		}
		return
	}
	l.all[name][l.c.faults.window(from, to)].record(to - from)
}

// window is which histogram the stretch [from, to] belongs to; to is now.
func (l *faultLog) window(from, to int64) int {
	seen := false
	for i := range l.windows {
		if f := &l.windows[i]; f.ActiveNs != never && f.ActiveNs <= to {
			seen = true
			if f.end() == never || f.end() >= from {
				return windowDuring
			}
		}
	}
	if seen {
		return windowAfter
	}
	return windowBefore
}

func (l *latencies) Finish(f *Facts) {
	for _, sub := range l.c.subs {
		for _, t := range l.c.tablesOf(sub.index) {
			t.each(func(_ uint64, known *message) { l.final(known) })
		}
	}
	for name := range latencyNames {
		windows := &l.all[name]
		if len(l.c.faults.windows) == 0 {
			windows[windowAll] = windows[windowBefore]
		} else {
			for w := windowBefore; w < latencyWindows; w++ {
				windows[windowAll].merge(&windows[w])
			}
		}
		for w := range latencyWindows {
			if len(l.c.faults.windows) == 0 && w != windowAll {
				continue
			}
			if figures, any := windows[w].figures(); any {
				figures.Name, figures.Window = latencyName[name], windowName[w]
				f.result.Latency = append(f.result.Latency, figures)
			}
		}
	}
	f.result.Trust.WarmupCutMsgs = l.warmup
}
