// SPDX-License-Identifier: Apache-2.0

package reports

import (
	"strings"

	"github.com/seed-720a3c77/harness/checkers"
)

// timelineView is everything that happened, over one axis of time: panels below each
// other, and the fault windows once behind all of them.
type timelineView struct {
	// Empty says why there is nothing to draw.
	Empty  string
	Views  []zoomTo
	Head   headView
	Shade  []shadeView
	Panels []panelView
	Axis   []tick
	Step   string
	Data   timelineData
}

// zoomTo is a button that shows a stretch of the run.
type zoomTo struct {
	Label    string
	From, To float64 // seconds
}

// timelineData is what the script of the page reads: the numbers under the cursor.
type timelineData struct {
	From   float64      `json:"from"` // seconds
	Step   float64      `json:"step"` // seconds
	Count  int          `json:"count"`
	Series []seriesData `json:"series"`
	Faults []faultData  `json:"faults"`
}

type seriesData struct {
	Unit   string   `json:"unit"`
	Values []*int64 `json:"values"`
}

type faultData struct {
	Name string  `json:"name"`
	From float64 `json:"from"`
	To   float64 `json:"to"`
}

func newTimeline(r *checkers.Result) timelineView {
	t := &r.Timeline
	columns := 0
	for i := range t.Series {
		columns = max(columns, len(t.Series[i].Values))
	}
	if columns == 0 || t.StepNs <= 0 {
		return timelineView{Empty: "No event of this run falls into a column of time."}
	}
	over := span{t.StartNs, t.StartNs + int64(columns)*t.StepNs}
	d := &drawing{over: over, columns: columns, step: shortDuration(t.StepNs)}
	view := timelineView{Head: newHead(over, r.Faults, r.Phases), Shade: newShade(over, r.Faults), Axis: over.ticks(), Step: d.step}
	view.Panels = d.panels(t.Series)
	view.Views = views(over, r.Faults)
	view.Data = timelineData{From: inSeconds(over.from), Step: inSeconds(t.StepNs), Count: columns, Series: d.data, Faults: faultSpans(over, r.Faults)}
	return view
}

func inSeconds(ns int64) float64 { return float64(ns) / 1e9 }

// views are the whole run and each fault with some room around it.
func views(over span, faults []checkers.FaultWindow) []zoomTo {
	all := []zoomTo{{"Whole run", inSeconds(over.from), inSeconds(over.to)}}
	for i := range faults {
		f := &faults[i]
		if f.ActiveNs < 0 {
			continue
		}
		end := faultEnd(f, over)
		room := (end - f.ActiveNs) / 4
		all = append(all, zoomTo{faultName(f) + " " + f.Name, inSeconds(max(f.ActiveNs-room, over.from)), inSeconds(min(end+room, over.to))})
	}
	if len(all) > 9 {
		all = all[:9]
	}
	return all
}

func faultSpans(over span, faults []checkers.FaultWindow) []faultData {
	all := []faultData{}
	for i := range faults {
		if f := &faults[i]; f.ActiveNs >= 0 {
			all = append(all, faultData{faultName(f), inSeconds(f.ActiveNs), inSeconds(faultEnd(f, over))})
		}
	}
	return all
}

// drawing is a timeline being drawn.
type drawing struct {
	over    span
	columns int
	step    string
	data    []seriesData
}

// panelKind is how the series of one panel are drawn.
type panelKind struct {
	name, title, unit string
	draw              func(*drawing, *panelView, []*checkers.Series)
}

func panelKinds() []panelKind {
	return []panelKind{
		{"rates", "Rate", "messages per second", (*drawing).lines},
		{"lag", "Lag", "messages not yet settled", (*drawing).lag},
		{"age", "Lag in time", "age of the oldest message not yet settled", (*drawing).lines},
		{"latency", "Latency", "due to handled, by the time at which the message was due, log scale", (*drawing).latency},
		{"duplicates", "Extra deliveries", "messages per %s, stacked by cause", (*drawing).stacked},
		{"errors", "Errors", "answers that were no success, per %s", (*drawing).stacked},
	}
}

// panels draws the known panels in their order; those of a newer version follow as lines.
func (d *drawing) panels(series []checkers.Series) []panelView {
	kinds := panelKinds()
	known := map[string]bool{}
	for _, k := range kinds {
		known[k.name] = true
	}
	for i := range series {
		if name := series[i].Panel; !known[name] {
			known[name] = true
			kinds = append(kinds, panelKind{name, words(name), series[i].Unit, (*drawing).lines})
		}
	}
	var all []panelView
	for _, k := range kinds {
		all = append(all, d.panel(k, series))
	}
	return all
}

func (d *drawing) panel(k panelKind, series []checkers.Series) panelView {
	p := panelView{Title: k.title, Unit: strings.Replace(k.unit, "%s", d.step, 1), Columns: d.columns * columnWidth, Ticks: d.over.ticks()}
	var own []*checkers.Series
	for i := range series {
		if series[i].Panel == k.name && measured(series[i].Values) {
			own = append(own, &series[i])
		}
	}
	if len(own) == 0 {
		p.Empty = emptyPanel(k.name)
		return p
	}
	k.draw(d, &p, own)
	return p
}

func emptyPanel(name string) string {
	switch name {
	case "duplicates":
		return "No message was delivered more than once."
	case "latency":
		return "No message was handled, so there is no latency."
	}
	return "Not measured in this run."
}

func measured(values []*int64) bool {
	for _, v := range values {
		if v != nil {
			return true
		}
	}
	return false
}

// add keeps the values of a series for the cursor and returns its legend.
func (d *drawing) add(s *checkers.Series, look look) keyView {
	d.data = append(d.data, seriesData{s.Unit, s.Values})
	return keyView{Label: s.Name, Color: look.color, Shape: look.shape, Series: len(d.data) - 1, Text: legendText(s)}
}

func legendText(s *checkers.Series) string {
	if s.Panel == "duplicates" || s.Panel == "errors" {
		return Thousands(s.Total)
	}
	top, found := largest(s.Values)
	switch {
	case !found:
		return none
	case s.Unit == "ns":
		return "max " + Duration(top)
	}
	return "max " + Thousands(top)
}

func largest(values []*int64) (top int64, found bool) {
	for _, v := range values {
		if v != nil && (!found || *v > top) {
			top, found = *v, true
		}
	}
	return top, found
}
