// SPDX-License-Identifier: Apache-2.0

package reports

import (
	"slices"

	"github.com/seed-720a3c77/harness/checkers"
)

// lifeView is the story of one message: a table with a row an event and a lane for
// everybody who had it, beside it the same to scale.
type lifeView struct {
	ID, Title, Explain string
	Lanes              []laneView
	Rows               []lifeRow
	Count              int

	Fault  []boxView
	Lines  []strokeView
	Holds  []boxView
	Runs   []boxView
	Arrows []strokeView
	Nodes  []nodeView

	Scale scaleView
}

type laneView struct{ Name, Short string }

// lifeRow is an event in words.
type lifeRow struct {
	At, Since, What, Detail string
	Again                   bool
}

// boxView is a band of a lane, X its middle, or the shade of a fault.
type boxView struct{ X, Y, Height, Width string }

type strokeView struct{ X1, Y1, X2, Y2, Class string }

// nodeView is an event: Shape is dot, open, effect, again, kill or lapse.
type nodeView struct {
	X, Y, Shape string
	Number      int
}

const (
	// shownLives is how many stories are drawn; the command tells any other.
	shownLives = 3
	// lifeHead and lifeTail are how many events of a long story are shown.
	lifeHead, lifeTail = 22, 10
	maxLanes           = 8
)

func newLives(r *checkers.Result) []lifeView {
	var all []lifeView
	for i := range r.Lives {
		if len(all) == shownLives {
			break
		}
		if l := &r.Lives[i]; len(l.Steps) > 0 {
			all = append(all, newLife(r, l))
		}
	}
	return all
}

func newLife(r *checkers.Result, l *checkers.Life) lifeView {
	s := &story{steps: lapses(l.Steps)}
	s.cut()
	s.findLanes()
	id := l.ID.String()
	title := l.Title
	if len(title) > len(id)+2 && title[:len(id)] == id {
		title = title[len(id)+2:]
	}
	s.view.ID, s.view.Title, s.view.Explain = id, words(title), explain(r, id)
	s.view.Count = len(s.steps)
	s.rows()
	s.faults()
	for lane := range s.lanes {
		s.lifeline(lane)
		s.bands(lane)
	}
	for row := range s.steps {
		s.node(row)
	}
	s.view.Scale = newScale(s)
	return s.view
}

// story is a life being drawn.
type story struct {
	steps   []checkers.LifeStep
	skipped int // events left out, before the row at
	at      int
	lanes   []string
	view    lifeView
}

// lapse is a step that nobody recorded: the lease of a delivery ended at its deadline.
const lapse = "lease-lapse"

// lapses adds the end of every lease that was not settled or extended before it.
func lapses(steps []checkers.LifeStep) []checkers.LifeStep {
	all := slices.Clone(steps)
	last := steps[len(steps)-1].AtNs
	for i := range steps {
		d := &steps[i]
		if d.Kind != "delivery" || d.UntilNs <= d.AtNs || d.UntilNs > last || settledBefore(steps[i+1:], d.Lane, d.UntilNs) {
			continue
		}
		all = append(all, checkers.LifeStep{AtNs: d.UntilNs, Event: -1, Lane: d.Lane, Kind: lapse, Text: "lease ends", Inferred: true})
	}
	slices.SortStableFunc(all, func(a, b checkers.LifeStep) int {
		switch {
		case a.AtNs < b.AtNs:
			return -1
		case a.AtNs > b.AtNs:
			return 1
		}
		return 0
	})
	return all
}

func settledBefore(steps []checkers.LifeStep, lane string, ns int64) bool {
	for i := range steps {
		s := &steps[i]
		if s.AtNs > ns {
			return false
		}
		if s.Lane == lane && (s.Kind == "settle-start" || s.Kind == "settle-answer" || s.Kind == "session-close" || s.Kind == "delivery") {
			return true
		}
	}
	return false
}

// cut leaves the middle of a long story out.
func (s *story) cut() {
	if len(s.steps) <= lifeHead+lifeTail+4 {
		return
	}
	s.skipped, s.at = len(s.steps)-lifeHead-lifeTail, lifeHead
	s.steps = slices.Concat(s.steps[:lifeHead], s.steps[len(s.steps)-lifeTail:])
}

// findLanes puts the producer and the broker first; who comes after the last lane shares it.
func (s *story) findLanes() {
	s.lanes = []string{"producer", "broker"}
	for i := range s.steps {
		if lane := s.steps[i].Lane; lane != "fault" && !slices.Contains(s.lanes, lane) {
			s.lanes = append(s.lanes, lane)
		}
	}
	for i, lane := range s.lanes {
		short := "w" + itoa(i-1)
		if i < 2 {
			short = lane[:2]
		}
		if i == maxLanes {
			s.view.Lanes[i-1] = laneView{"others", "…"}
			s.lanes = s.lanes[:maxLanes]
			return
		}
		s.view.Lanes = append(s.view.Lanes, laneView{clip(lane, 16), short})
	}
}

func (s *story) lane(name string) int {
	if i := slices.Index(s.lanes, name); i >= 0 {
		return i
	}
	return len(s.lanes) - 1
}

func (s *story) x(lane int) string { return percent((float64(lane) + 0.5) / float64(len(s.lanes))) }

func (s *story) y(row float64) string { return percent((row + 0.5) / float64(len(s.steps))) }

func (s *story) height(from, to float64) string { return percent((to - from) / float64(len(s.steps))) }

func (s *story) rows() {
	for i := range s.steps {
		step := &s.steps[i]
		row := lifeRow{At: clock(step.AtNs), What: stepName(step), Detail: stepDetail(step), Again: step.Effect > 1}
		if i > 0 {
			row.Since = later(step.AtNs - s.steps[i-1].AtNs)
		}
		if s.skipped > 0 && i == s.at {
			row.Detail += " (" + Thousands(int64(s.skipped)) + " events before this are not shown)"
		}
		s.view.Rows = append(s.view.Rows, row)
	}
}

// later is how long after the event before it something came.
func later(ns int64) string {
	if ns == 0 {
		return "+0"
	}
	return "+" + Duration(ns)
}

// stepDetail is what the name of the step does not say yet.
func stepDetail(step *checkers.LifeStep) string {
	switch step.Text {
	case "handler started", "handler ended", "effect", "lease ends":
		return step.Lane
	}
	return step.Text
}

func stepName(step *checkers.LifeStep) string {
	switch step.Kind {
	case "publish-start":
		return "publish"
	case "publish-answer", "settle-answer":
		return "answer"
	case "settle-start":
		return "settle"
	case "delivery":
		return "receive"
	case "effect-result":
		if step.Effect > 0 {
			return "effect " + itoa(step.Effect)
		}
		return "effect"
	case lapse:
		return "lease ends"
	}
	return words(step.Kind)
}

// faults shades the rows from where a fault was active to where it was healed.
func (s *story) faults() {
	from := -1
	for i := range s.steps {
		switch s.steps[i].Kind {
		case "fault-active":
			if from < 0 {
				from = i
			}
		case "fault-healed":
			if from >= 0 {
				s.shade(float64(from), float64(i))
			}
			from = -1
		}
	}
	if from >= 0 {
		s.shade(float64(from), s.end())
	}
}

func (s *story) shade(from, to float64) {
	s.view.Fault = append(s.view.Fault, boxView{"0", s.y(from), s.height(from, to), "100%"})
}

// lifeline draws a lane, dotted from where its session died to where it is seen again.
func (s *story) lifeline(lane int) {
	from, off := -0.5, false
	draw := func(to float64) {
		class := ""
		if off {
			class = "off"
		}
		s.view.Lines = append(s.view.Lines, strokeView{s.x(lane), s.y(from), s.x(lane), s.y(to), class})
		from = to
	}
	for i := range s.steps {
		switch {
		case s.killed(i, lane):
			if !off {
				draw(float64(i))
				s.view.Nodes = append(s.view.Nodes, nodeView{s.x(lane), s.y(float64(i)), "kill", 0})
			}
			off = true
		case s.on(i, lane) && off:
			draw(float64(i))
			off = false
		case s.on(i, lane) && s.steps[i].Kind == "session-close":
			draw(float64(i))
			off = true
		}
	}
	draw(s.end())
}

func (s *story) end() float64 { return float64(len(s.steps)) - 0.5 }

// on tells whether an event is of a lane.
func (s *story) on(row, lane int) bool {
	return s.steps[row].Lane != "fault" && s.lane(s.steps[row].Lane) == lane
}

// killed tells whether an event is the fault that kills the worker of a lane.
func (s *story) killed(row, lane int) bool {
	step := &s.steps[row]
	return step.Kind == "fault-active" && lane > 1 && step.Text == "kill "+s.lanes[lane]
}

// bands draws what a worker held and how long its handler ran.
func (s *story) bands(lane int) {
	for i := range s.steps {
		if !s.on(i, lane) {
			continue
		}
		switch s.steps[i].Kind {
		case "delivery":
			s.view.Holds = append(s.view.Holds, s.band(lane, i, s.until(i, lane, holdEnds)))
		case "handler-start":
			s.view.Runs = append(s.view.Runs, s.band(lane, i, s.until(i, lane, workEnds)))
		}
	}
}

func (s *story) band(lane, from int, to float64) boxView {
	return boxView{s.x(lane), s.y(float64(from)), s.height(float64(from), to), ""}
}

// What ends a hold, and the run of a handler.
var (
	holdEnds = []string{"settle-answer", "session-close", lapse}
	workEnds = []string{"handler-end", "session-close"}
)

// until is the row at which something that began on a lane ends. What has no end in the
// story, as a position that is committed for many messages at once, ends with the last event of its lane.
func (s *story) until(row, lane int, ends []string) float64 {
	last := row
	for i := row + 1; i < len(s.steps); i++ {
		if s.killed(i, lane) || s.on(i, lane) && slices.Contains(ends, s.steps[i].Kind) {
			return float64(i)
		}
		if s.on(i, lane) {
			last = i
		}
	}
	return float64(last) + 0.5
}

// node draws an event and its way to or from the broker.
func (s *story) node(row int) {
	step := &s.steps[row]
	if step.Lane == "fault" {
		return
	}
	lane, at := s.lane(step.Lane), float64(row)
	switch step.Kind {
	case "publish-start", "settle-start":
		s.arrow(lane, at, 1, at+0.5)
	case "publish-answer", "settle-answer", "delivery":
		s.arrow(1, at-0.5, lane, at)
	}
	s.view.Nodes = append(s.view.Nodes, nodeView{s.x(lane), s.y(at), shapeOf(step), step.Effect})
}

func (s *story) arrow(from int, y1 float64, to int, y2 float64) {
	if from == to {
		return
	}
	s.view.Arrows = append(s.view.Arrows, strokeView{s.x(from), s.y(y1), s.x(to), s.y(y2), ""})
	end, y := to, y2
	if from == 1 {
		end, y = from, y1
	}
	s.view.Nodes = append(s.view.Nodes, nodeView{s.x(end), s.y(y), "far", 0})
}

func shapeOf(step *checkers.LifeStep) string {
	switch {
	case step.Effect > 1:
		return "again"
	case step.Effect == 1:
		return "effect"
	case step.Kind == "session-close":
		return "kill"
	case step.Kind == lapse:
		return "lapse"
	case step.Inferred || step.Event < 0:
		return "open"
	}
	return "dot"
}
