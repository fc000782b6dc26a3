// SPDX-License-Identifier: Apache-2.0

package reports

import (
	"math"
	"slices"

	"github.com/seed-720a3c77/harness/checkers"
)

// percentilesView is the latency of a run: curves over the percentile on an axis that
// gives each further nine the same room, and all histograms as a table.
type percentilesView struct {
	Empty string
	// Title says which latency the curves are.
	Title  string
	Height int
	Box    int // width of the stretched drawing
	Rules  []rule
	Ticks  []tick
	Paths  []pathView
	Marks  []markView
	Ends   []labelView
	Rows   []latencyRow
	Note   string
}

// markView is a marker at a percentile: disc, diamond or square.
type markView struct{ X, Y, Shape string }

// latencyRow is one histogram in numbers.
type latencyRow struct {
	Name, Window, Shape string
	Samples             string
	Values              []string
	Outside             string // overflow and negative samples
}

const (
	curveHeight = 300
	curveScale  = 1000 // units of the stretched drawing for one more nine
)

var curveMarks = []float64{0.5, 0.9, 0.99, 0.999}

// windowShapes tell the windows apart without colour.
var windowShapes = map[string]look{
	"all": {"ink", "disc"}, "before": {"blue", "disc"}, "during": {"verm", "diamond"}, "after": {"teal", "square"},
}

func newPercentiles(r *checkers.Result) percentilesView {
	var v percentilesView
	curves, title := chooseCurves(r)
	v.Title = title
	for i := range r.Latency {
		if l := &r.Latency[i]; l.Count > 0 {
			v.Rows = append(v.Rows, newLatencyRow(l, curves))
		}
	}
	curves = slices.DeleteFunc(curves, func(c curve) bool { return c.Count < 2 })
	switch {
	case len(v.Rows) == 0:
		v.Empty = "No message was handled, so there is no latency to draw."
	case len(curves) == 0:
		v.Empty = "A curve needs two samples or more; the table has what there is."
	default:
		v.draw(curves)
	}
	return v
}

// newLatencyRow writes a histogram in numbers, with the marker of its curve if it has one.
func newLatencyRow(l *checkers.Latency, curves []curve) latencyRow {
	row := latencyRow{Name: latencyName(l.Name), Window: windowName(l.Window), Samples: Thousands(l.Count)}
	for _, ns := range []int64{l.P50Ns, l.P90Ns, l.P99Ns, l.P999Ns, l.MaxNs} {
		row.Values = append(row.Values, Duration(ns))
	}
	for _, c := range curves {
		if c.Latency == l {
			row.Shape = c.look.shape + " f-" + c.look.color
		}
	}
	if l.Overflow > 0 || l.Negative > 0 {
		row.Outside = Thousands(l.Overflow) + " above the range, " + Thousands(l.Negative) + " negative"
	}
	return row
}

func latencyName(name string) string {
	switch name {
	case "publish":
		return "due to ack"
	case "receive":
		return "due to first delivery"
	case "handled":
		return "due to handled"
	case "final":
		return "due to last success"
	case "redelivery":
		return "gap to the next delivery"
	}
	return words(name)
}

func windowName(window string) string {
	switch window {
	case "all":
		return "whole run"
	case "during":
		return "during the faults"
	case "before", "after":
		return window + " the faults"
	}
	return window
}

// curve is one line of the plot.
type curve struct {
	*checkers.Latency
	label string
	look  look
}

// chooseCurves takes handled before, during and after the faults; in a run without
// faults, each kind of latency over the whole run.
func chooseCurves(r *checkers.Result) ([]curve, string) {
	var split []curve
	for _, window := range []string{"before", "during", "after"} {
		if l := latencyOf(r, "handled", window); l != nil {
			split = append(split, curve{l, window, windowShapes[window]})
		}
	}
	if len(split) > 0 {
		return split, "Due to handled, before, during and after the faults"
	}
	var all []curve
	looks := map[string]look{"publish": {"blue", "disc"}, "receive": {"grey", "square"}, "handled": {"teal", "diamond"}}
	labels := map[string]string{"publish": "ack", "receive": "delivery", "handled": "handled"}
	for _, name := range []string{"publish", "receive", "handled"} {
		if l := latencyOf(r, name, "all"); l != nil {
			all = append(all, curve{l, labels[name], looks[name]})
		}
	}
	return all, "From due to ack, to first delivery and to handled, over the whole run"
}

func (v *percentilesView) draw(curves []curve) {
	low, high, nines := math.MaxFloat64, 1.0, 2.0
	for _, c := range curves {
		low, high = min(low, float64(c.MinNs)), max(high, float64(c.MaxNs))
		nines = max(nines, math.Log10(float64(c.Count)))
	}
	low, high = decadesAround(low, high)
	y, width := decades(low, high, curveHeight), nines*1.24
	v.Height, v.Box = curveHeight, int(width*curveScale)
	for at := low; at <= high*1.001; at *= 10 {
		v.Rules = append(v.Rules, rule{decimals(y(at), 1), decimals(y(at)+4, 1), shortDuration(int64(at + 0.5)), at == low})
	}
	v.ticks(width)
	for _, c := range curves {
		v.curve(c, y, width)
	}
	v.spread()
}

func (v *percentilesView) ticks(width float64) {
	for i, text := range []string{"0", "50", "90", "99", "99.9", "99.99", "99.999", "99.9999"} {
		x := float64(i - 1)
		switch i {
		case 0:
			x = 0
		case 1:
			x = math.Log10(2)
		}
		if x > width {
			return
		}
		anchor := "middle"
		if i == 0 {
			anchor = "start"
		}
		v.Ticks = append(v.Ticks, tick{percent(x / width), text, anchor, false})
	}
}

// curve draws one histogram: solid while ten or more samples lie beyond, then dotted.
func (v *percentilesView) curve(c curve, y scale, width float64) {
	end := math.Log10(float64(c.Count))
	t := &tail{firm: math.Log10(max(float64(c.Count)/10, 1)), y: y(float64(c.MinNs))}
	t.solid.to('M', 0, t.y)
	for _, q := range c.Curve {
		if q.Share <= 0 || q.Share >= 1 {
			continue
		}
		if x := -math.Log10(1 - q.Share); x <= end {
			t.point(x, y(float64(q.Ns)))
		}
	}
	t.point(end, y(float64(c.MaxNs)))
	v.Paths = append(v.Paths, pathView{"ln s-" + c.look.color, t.solid.String()})
	if t.open {
		v.Paths = append(v.Paths, pathView{"ln dots s-" + c.look.color, t.weak.String()})
	}
	v.marks(c, y, width, end)
	v.Ends = append(v.Ends, labelView{X: percent(end / width), Anchor: "start", Dx: 6, Y: int(y(float64(c.MaxNs))) + 4, Text: c.label})
}

// tail is a curve that becomes weak where few samples are left.
type tail struct {
	solid, weak pen
	firm        float64 // the last place with ten samples beyond
	open        bool
	x, y        float64
}

func (t *tail) point(x, y float64) {
	switch {
	case x <= t.firm:
		t.solid.to('L', x*curveScale, y)
	case !t.open:
		t.open = true
		t.weak.to('M', t.x*curveScale, t.y)
		fallthrough
	default:
		t.weak.to('L', x*curveScale, y)
	}
	t.x, t.y = x, y
}

func (v *percentilesView) marks(c curve, y scale, width, end float64) {
	for i, ns := range []int64{c.P50Ns, c.P90Ns, c.P99Ns, c.P999Ns} {
		if x := -math.Log10(1 - curveMarks[i]); x <= end {
			v.Marks = append(v.Marks, markView{percent(x / width), decimals(y(float64(ns)), 1), c.look.shape + " f-" + c.look.color})
		}
	}
}

// spread moves the labels at the ends of curves apart.
func (v *percentilesView) spread() {
	for i := range v.Ends {
		for again := true; again; {
			again = false
			for k := range v.Ends[:i] {
				if d := v.Ends[i].Y - v.Ends[k].Y; d > -13 && d < 13 {
					v.Ends[i].Y = v.Ends[k].Y + 13
					again = true
				}
			}
		}
	}
}
