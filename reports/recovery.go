// SPDX-License-Identifier: Apache-2.0

package reports

import "github.com/seed-720a3c77/harness/checkers"

// faultView is one fault: its window on its own clock, and what it did.
type faultView struct {
	Name, Text string
	// Never says that it was not active; nothing else is shown then.
	Never  string
	Ladder ladderView
	Times  []string // start, active, healed, recovered
	Rows   []pair
}

// pair is a label with a value; Strong is what the eye should find.
type pair struct {
	Label, Value string
	Strong       bool
}

// ladderView is a fault on its own clock, from when it was asked for.
type ladderView struct {
	Shaded, Hatched string // widths
	HealedX         string
	Height          int
	Lines           []ladderLine
	Labels          []labelView
	Aria            string
}

// ladderLine is where something came; Y is how far down its line goes.
type ladderLine struct{ Class, X, Y string }

// openCards is how many faults are shown in full at once: a storm has dozens.
const openCards = 4

func newFaults(r *checkers.Result) []faultView {
	var all []faultView
	for i := range r.Faults {
		f := &r.Faults[i]
		text := f.Text
		if text == "" {
			text = words(f.Name) + " " + f.Target
		}
		v := faultView{Name: faultName(f), Text: text}
		for _, at := range []int64{f.RequestedNs, f.ActiveNs, f.HealedNs, f.RecoveredNs} {
			v.Times = append(v.Times, instant(at))
		}
		if f.ActiveNs < 0 {
			v.Never = "Requested at " + instant(f.RequestedNs) + ", never active. No recovery is measured for a fault that did not happen."
			all = append(all, v)
			continue
		}
		v.Ladder, v.Rows = newLadder(f), faultRows(f)
		all = append(all, v)
	}
	return all
}

// instant is a time in a run, or that it never came.
func instant(ns int64) string {
	if ns < 0 {
		return none
	}
	return decimals(float64(ns)/1e9, 3) + "\u00a0s"
}

func faultRows(f *checkers.FaultWindow) []pair {
	recovered := since(f.RecoveredNs, f.ActiveNs)
	if f.RecoveredNs < 0 {
		recovered = "not in this run"
	}
	return []pair{
		{"Noticed after", elapsed(f.DetectionNs), false},
		{"First success after", elapsed(f.FirstSuccessNs), false},
		{"First success after the heal", elapsed(f.BackNs), false},
		{"Longest silence", elapsed(f.SilenceNs), false},
		{"Rate before", perSecond(f.RateBefore), false},
		{"95 % of it, after the heal", elapsed(f.RateBackNs), false},
		{"Peak of the lag", messages(f.LagPeak), false},
		{"Worked off in", elapsed(f.DrainNs), false},
		{"Recovered after", recovered, true},
		{"Unsettled when it struck", messages(f.Unsettled), false},
		{"Lost", orNone(f.Lost), f.Lost > 0},
		{"Redelivered", orNone(f.Redelivered), false},
		{"Stored twice", orNone(f.StoredTwice), false},
		{"Effects twice", orNone(f.EffectTwice), f.EffectTwice > 0},
		{"Out of order", orNone(f.Reordered), false},
		{"Unexplained", orNone(f.Unexplained), f.Unexplained > 0},
	}
}

func elapsed(ns int64) string {
	if ns < 0 {
		return none
	}
	return Duration(ns)
}

func since(at, from int64) string {
	if at < 0 || from < 0 {
		return none
	}
	return Duration(at - from)
}

func orNone(n int64) string {
	if n < 0 {
		return none
	}
	return Thousands(n)
}

func perSecond(n int64) string {
	if n < 0 {
		return none
	}
	return Thousands(n) + " msgs/s"
}

func messages(n int64) string {
	if n < 0 {
		return none
	}
	return Thousands(n) + " msgs"
}

// ladderWidth is the width in pixels for which the labels are laid out.
const ladderWidth = 300.0

func newLadder(f *checkers.FaultWindow) ladderView {
	start, end := faultStart(f), max(f.ActiveNs, f.HealedNs, f.RecoveredNs)
	over := span{start, start + max((end-start)*104/100, 1)}
	l := ladderView{Shaded: over.width(start, end), Height: 36 + 15}
	if f.HealedNs >= 0 {
		l.Shaded, l.HealedX, l.Hatched = over.width(start, f.HealedNs), over.x(f.HealedNs), over.width(f.HealedNs, end)
	}
	h := head{over: over}
	l.Aria = faultName(f)
	for n, m := range []struct {
		name string
		at   int64
	}{{"active", f.ActiveNs}, {"healed", f.HealedNs}, {"recovered", f.RecoveredNs}} {
		if m.at < 0 {
			continue
		}
		text := m.name + " at once"
		if m.at > start {
			text = m.name + " +" + Duration(m.at-start)
		}
		y := ladderLabel(&h, m.at, text)
		l.Lines = append(l.Lines, ladderLine{[...]string{"l1", "l2", "l3"}[n], over.x(m.at), itoa(y + 2)})
		l.Height = max(l.Height, y+8)
		l.Aria += ", " + text
	}
	l.Labels = h.view.Labels
	return l
}

// ladderLabel puts a label under the bar, on the side where it has room.
func ladderLabel(h *head, at int64, text string) int {
	x, wide := h.over.share(at)*ladderWidth, 6.0*float64(len(text))+8
	anchor, dx, from, to := "start", 4, x, x+wide
	if x > wide && x > ladderWidth*0.4 {
		anchor, dx, from, to = "end", -4, x-wide, x
	}
	row := 0
	for h.taken(row, from, to) {
		row++
	}
	h.used = append(h.used, usedRow{row, from, to})
	y := 36 + 15*row
	h.add(at, "halo", anchor, dx, y, text)
	return y
}
