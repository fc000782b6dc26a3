// SPDX-License-Identifier: Apache-2.0

package reports

import (
	"fmt"

	"github.com/seed-720a3c77/harness/checkers"
)

// shadeView is a part of a fault window behind all panels: a shaded stretch, or the line
// at which something came. Class is fw (from start to healed), fr (from healed to
// recovered), fx (never active), or l0 to l3 for a line.
type shadeView struct {
	Class    string
	Line     bool
	X, Width string
	From, To float64 // seconds
}

func faultName(f *checkers.FaultWindow) string { return fmt.Sprintf("f%d", f.Number) }

// faultEnd is when a fault was over, or the end of the axis.
func faultEnd(f *checkers.FaultWindow, over span) int64 {
	switch {
	case f.RecoveredNs >= 0:
		return f.RecoveredNs
	case f.HealedNs >= 0:
		return f.HealedNs
	}
	return over.to
}

// faultStart is when it was asked for; a fault that nobody recorded as asked for starts when it is active.
func faultStart(f *checkers.FaultWindow) int64 {
	if f.RequestedNs >= 0 {
		return f.RequestedNs
	}
	return f.ActiveNs
}

// newShade draws the windows that ever began.
func newShade(over span, faults []checkers.FaultWindow) []shadeView {
	var all []shadeView
	area := func(class string, from, to int64) {
		all = append(all, shadeView{Class: class, X: over.x(from), Width: over.width(from, to), From: inSeconds(from), To: inSeconds(to)})
	}
	for i := range faults {
		f := &faults[i]
		start := faultStart(f)
		switch {
		case start < 0:
			continue
		case f.ActiveNs < 0:
			area("fx", start, max(f.HealedNs, start+(over.to-over.from)/50))
			continue
		}
		healed := f.HealedNs
		if healed < 0 {
			healed = over.to
		}
		area("fw", start, healed)
		if f.HealedNs >= 0 && f.RecoveredNs > f.HealedNs {
			area("fr", f.HealedNs, f.RecoveredNs)
		}
		for n, at := range []int64{start, f.ActiveNs, f.HealedNs, f.RecoveredNs} {
			if at >= 0 {
				all = append(all, shadeView{Class: fmt.Sprintf("l%d", n), Line: true, X: over.x(at), From: inSeconds(at), To: inSeconds(at)})
			}
		}
	}
	return all
}

// headView is the strip above the panels: phases, then the names and marks of the faults.
type headView struct {
	Height int
	Phases []phaseView
	Labels []labelView
}

type phaseView struct {
	X, End   string
	Name     string
	From, To float64
	Minor    bool
}

// labelView is a text beside an instant. Small ones are hidden where there is no room;
// the table under the timeline carries their numbers.
type labelView struct {
	X, Anchor, Class string
	Y, Dx            int
	At               float64
	Text             string
}

// Labels are laid out for this width, in pixels; narrower plots hide the small ones.
const (
	headWidth = 820.0
	charWidth = 6.1
	headTop   = 32
	rowHeight = 13
	// headFaults is how many faults are labelled; the table has all.
	headFaults = 8
)

// head places each label in the first row that is free.
type head struct {
	over span
	used []usedRow
	view headView
}

type usedRow struct {
	row      int
	from, to float64
}

func newHead(over span, faults []checkers.FaultWindow, phases []checkers.Span) headView {
	h := head{over: over}
	for i := range phases {
		h.phase(&phases[i], i == len(phases)-1)
	}
	labelled := faults[:min(len(faults), headFaults)]
	for i := range labelled {
		h.name(&labelled[i])
	}
	for i := range labelled {
		h.marks(&labelled[i])
	}
	rows := 0
	for _, u := range h.used {
		rows = max(rows, u.row)
	}
	h.view.Height = headTop - rowHeight + 4
	if len(h.used) > 0 {
		h.view.Height = headTop + rowHeight*rows + 8
	}
	return h.view
}

// phase draws one; where the next one's name would stand on its own it goes without.
func (h *head) phase(p *checkers.Span, last bool) {
	if p.StartNs >= h.over.to {
		return
	}
	room := (h.over.share(p.EndNs) - h.over.share(p.StartNs)) * headWidth
	if room < 3 && p.EndNs > p.StartNs || p.EndNs <= p.StartNs {
		return
	}
	name := clip(p.Name, 24)
	if !last && room < charWidth*float64(len(name)) {
		name = ""
	}
	h.view.Phases = append(h.view.Phases, phaseView{h.over.x(p.StartNs), h.over.x(p.EndNs), name,
		inSeconds(p.StartNs), inSeconds(p.EndNs), room < 3*charWidth*float64(len(p.Name))})
}

func (h *head) name(f *checkers.FaultWindow) {
	start := faultStart(f)
	if start < 0 {
		return
	}
	text := f.Text
	if text == "" {
		text = f.Name + " " + f.Target
	}
	text = clip(text, 60)
	if f.ActiveNs < 0 {
		text += ": requested, never active"
	}
	chars := len(text) + 4
	if (1-h.over.share(start))*headWidth > charWidth*float64(chars) {
		y := h.put(start, "hi", "start", 4, faultName(f), chars)
		h.add(start, "small", "start", 21, y, text)
		return
	}
	y := h.put(start, "hi", "end", -4, faultName(f), chars)
	h.add(start, "small", "end", -21, y, text)
}

func (h *head) marks(f *checkers.FaultWindow) {
	if f.ActiveNs < 0 {
		return
	}
	for _, m := range []struct {
		name, anchor string
		at           int64
	}{{"start", "end", faultStart(f)}, {"active", "end", f.ActiveNs}, {"healed", "start", f.HealedNs}, {"recovered", "start", f.RecoveredNs}} {
		if m.at < 0 || m.name == "start" && m.at == f.ActiveNs {
			continue
		}
		text := m.name + " " + instant(m.at)
		anchor, dx := m.anchor, 4
		if anchor == "end" && h.over.share(m.at)*headWidth < charWidth*float64(len(text)) {
			anchor = "start"
		}
		if anchor == "start" && (1-h.over.share(m.at))*headWidth < charWidth*float64(len(text)) {
			anchor = "end"
		}
		if anchor == "end" {
			dx = -4
		}
		h.put(m.at, "small", anchor, dx, text, len(text))
	}
}

// put adds a label of a length in the first row where nothing is in its way.
func (h *head) put(at int64, class, anchor string, dx int, text string, chars int) int {
	x, wide := h.over.share(at)*headWidth, charWidth*float64(chars)+10
	from, to := x, x+wide
	if anchor == "end" {
		from, to = x-wide, x
	}
	row := 0
	for h.taken(row, from, to) {
		row++
	}
	h.used = append(h.used, usedRow{row, from, to})
	y := headTop + rowHeight*row
	h.add(at, class, anchor, dx, y, text)
	return y
}

func (h *head) taken(row int, from, to float64) bool {
	for _, u := range h.used {
		if u.row == row && from < u.to && to > u.from {
			return true
		}
	}
	return false
}

func (h *head) add(at int64, class, anchor string, dx, y int, text string) {
	h.view.Labels = append(h.view.Labels, labelView{h.over.x(at), anchor, class, y, dx, inSeconds(at), text})
}
