// SPDX-License-Identifier: Apache-2.0

package reports

import (
	"math"
	"slices"
	"strings"

	"github.com/seed-720a3c77/harness/checkers"
)

// panelView is one panel of a timeline.
type panelView struct {
	Title, Unit string
	// Empty says in words why there is nothing to draw.
	Empty   string
	Height  int
	Columns int // width of the stretched drawing
	Rules   []rule
	Ticks   []tick
	Paths   []pathView
	Notes   []noteView
	Keys    []keyView
}

// rule is a horizontal line of the grid with its label.
type rule struct {
	Y, TextY string
	Text     string
	Base     bool
}

// pathView is a shape of the stretched drawing.
type pathView struct{ Class, D string }

// noteView is a label in a plot, at an instant.
type noteView struct {
	X, Y, Anchor string
	Dx           int
	At           float64 // seconds, so that the script can move it
	Text         string
}

// keyView is a line of a legend; Series is the number of its values, or -1.
type keyView struct {
	Label, Color, Shape string
	Series              int
	Text                string
}

// look is how a series is told from the others: colour and shape, never colour alone.
type look struct{ color, shape string }

var rateLooks = map[string]look{
	"published": {"grey", "dash"}, "acked": {"blue", "line"}, "received": {"teal", "dots"}, "handled": {"teal", "line"},
}

var otherLooks = []look{{"purp", "line"}, {"verm", "dash"}, {"yell", "line"}, {"pink", "dots"}, {"grey", "line"}}

var causeColors = map[string]string{
	"session died": "verm", "rewind to committed": "blue", "lease expired": "yell", "consumer timeout": "purp",
	"requeued": "teal", "producer copy": "pink", "retry destination": "grey", "unexplained": "ink", "errors": "verm",
}

var spareColors = []string{"pink", "grey", "teal", "purp", "blue", "yell"}

func (p *panelView) axis(height int, values []float64, y scale, text func(float64) string) {
	p.Height = height
	for _, v := range values {
		at := y(v)
		p.Rules = append(p.Rules, rule{decimals(at, 1), decimals(at+4, 1), text(v), at > float64(height)-0.6})
	}
}

// counts is an axis from 0 to a round number; halves only where they are whole.
func (p *panelView) counts(height int, top float64) scale {
	if top = niceTop(top); top < 10 {
		top = math.Ceil(top)
	}
	y := linear(top, float64(height))
	values := []float64{0, top}
	if half := top / 2; half == float64(int64(half)) {
		values = []float64{0, half, top}
	}
	p.axis(height, values, y, func(v float64) string {
		if v == float64(int64(v)) {
			return Thousands(int64(v))
		}
		return decimals(v, 1)
	})
	return y
}

// values is an axis from 0 for counts, or for durations.
func (p *panelView) values(height int, top float64, unit string) scale {
	if unit != "ns" {
		return p.counts(height, top)
	}
	top = niceTop(top)
	y := linear(top, float64(height))
	p.axis(height, []float64{0, top / 2, top}, y, func(v float64) string {
		if v == 0 {
			return "0"
		}
		return shortDuration(int64(v))
	})
	return y
}

func topOf(series []*checkers.Series) float64 {
	top := int64(0)
	for _, s := range series {
		v, _ := largest(s.Values)
		top = max(top, v)
	}
	return float64(top)
}

// lines draws series over each other. Rates that are below one a second everywhere are
// told in words: whole numbers cannot draw them.
func (d *drawing) lines(p *panelView, series []*checkers.Series) {
	top := topOf(series)
	if top == 0 {
		p.Empty = totals(series)
		return
	}
	y, spare := p.values(90, top, series[0].Unit), 0
	for _, s := range series {
		l, known := rateLooks[s.Name]
		if !known {
			l = otherLooks[spare%len(otherLooks)]
			spare++
		}
		p.Keys = append(p.Keys, d.add(s, l))
		p.Paths = append(p.Paths, pathView{"ln s-" + l.color + " " + l.shape, line(s.Values, y)})
	}
}

func totals(series []*checkers.Series) string {
	var said []string
	for _, s := range series {
		if s.Total > 0 {
			said = append(said, s.Name+" "+Thousands(s.Total))
		}
	}
	if len(said) == 0 {
		return "None in this run."
	}
	return "Under 1 a second throughout; in all " + strings.Join(said, ", ") + "."
}

// lag draws what is ready as an area, the rest as lines over it.
func (d *drawing) lag(p *panelView, series []*checkers.Series) {
	y := p.counts(90, topOf(series))
	for _, s := range series {
		switch s.Name {
		case "ready":
			p.Keys = append(p.Keys, d.add(s, look{"purp2", "box"}))
			p.Paths = slices.Insert(p.Paths, 0, pathView{"f-purp2", band(nil, s.Values, y, 90)})
		case "held":
			p.Keys = append(p.Keys, d.add(s, look{"grey", "dots"}))
			p.Paths = append(p.Paths, pathView{"ln s-grey dots", line(s.Values, y)})
		default:
			p.Keys = append(p.Keys, d.add(s, look{"purp", "line"}))
			p.Paths = append(p.Paths, pathView{"ln s-purp", line(s.Values, y)})
		}
	}
	d.peak(p, series, y)
}

// peak labels the highest lag.
func (d *drawing) peak(p *panelView, series []*checkers.Series, y scale) {
	var top int64
	at := -1
	for _, s := range series {
		for i, v := range s.Values {
			if v != nil && *v > top {
				top, at = *v, i
			}
		}
	}
	if at < 0 {
		return
	}
	p.Notes = append(p.Notes, d.note(d.column(float64(at)+0.5), max(y(float64(top))-4, 9), "peak "+Thousands(top)))
}

// column is the instant at which a column begins; halves are the middle of one.
func (d *drawing) column(at float64) int64 {
	return d.over.from + int64(float64(d.over.to-d.over.from)*at/float64(d.columns))
}

// note is a label beside an instant, on the side that has room.
func (d *drawing) note(ns int64, y float64, text string) noteView {
	n := noteView{X: d.over.x(ns), Y: decimals(y, 1), Dx: 5, Anchor: "start", At: inSeconds(ns), Text: clip(text, 60)}
	if d.over.share(ns) > 0.7 {
		n.Dx, n.Anchor = -5, "end"
	}
	return n
}

// latency draws bands between the percentiles on a log axis.
func (d *drawing) latency(p *panelView, series []*checkers.Series) {
	const height = 120
	low, high := decadesAround(smallest(series), topOf(series))
	for high/low > 1e6 {
		low *= 10
	}
	y := decades(low, high, height)
	var marks []float64
	for v := low; v <= high*1.001; v *= 10 {
		marks = append(marks, v)
	}
	p.axis(height, marks, y, func(v float64) string { return shortDuration(int64(v + 0.5)) })
	fills := []string{"f-q2", "f-q4", "f-q3"}
	for i, s := range series {
		if i == 0 {
			p.Keys = append(p.Keys, d.add(s, look{"q6", "line"}))
			continue
		}
		color := fills[(i-1)%len(fills)]
		p.Keys = append(p.Keys, d.add(s, look{color[2:], "box"}))
		p.Paths = append(p.Paths, pathView{color, band(series[i-1].Values, s.Values, y, height)}, pathView{"ln thin s-q1", steps(s.Values, y)})
	}
	p.Paths = append(p.Paths, pathView{"ln s-q6", steps(series[0].Values, y)})
}

func smallest(series []*checkers.Series) float64 {
	low := 0.0
	for _, s := range series {
		for _, v := range s.Values {
			if v != nil && *v > 0 && (low == 0 || float64(*v) < low) {
				low = float64(*v)
			}
		}
	}
	return low
}

// stacked draws counts on top of each other in the order in which they come.
func (d *drawing) stacked(p *panelView, series []*checkers.Series) {
	total := make([]float64, d.columns)
	for _, s := range series {
		for i, v := range s.Values {
			if v != nil && *v > 0 {
				total[i] += float64(*v)
			}
		}
	}
	top := slices.Max(total)
	if top == 0 {
		for _, s := range series {
			p.Keys = append(p.Keys, d.add(s, look{causeColors[s.Name], "box"}))
		}
		p.Empty = "None in this run."
		return
	}
	y, base := p.counts(70, top), make([]float64, d.columns)
	for i, s := range series {
		color, known := causeColors[s.Name]
		if !known {
			color = spareColors[i%len(spareColors)]
		}
		p.Keys = append(p.Keys, d.add(s, look{color, "box"}))
		p.Paths = append(p.Paths, pathView{"f-" + color, stack(s.Values, base, y)})
	}
	d.burst(p, series, total, top, y)
}

// burst labels the highest column with its causes.
func (d *drawing) burst(p *panelView, series []*checkers.Series, total []float64, top float64, y scale) {
	at := slices.Index(total, top)
	text := ""
	for _, s := range series {
		if at < len(s.Values) && s.Values[at] != nil && *s.Values[at] > 0 {
			if text != "" {
				text += ", "
			}
			text += s.Name + " " + Thousands(*s.Values[at])
		}
	}
	n := d.note(d.column(float64(at+1)), max(y(top)+10, 10), text)
	if n.Anchor == "end" {
		left := d.column(float64(at))
		n.X, n.At = d.over.x(left), inSeconds(left)
	}
	p.Notes = append(p.Notes, n)
}
