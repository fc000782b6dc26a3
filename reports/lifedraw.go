// SPDX-License-Identifier: Apache-2.0

package reports

import (
	"slices"

	"github.com/seed-720a3c77/harness/checkers"
)

// boxView is a band of a lane, X its middle, or the shade of a fault.
type boxView struct{ X, Y, Height, Width string }

type strokeView struct{ X1, Y1, X2, Y2, Class string }

// nodeView is an event: Shape is dot, open, effect, again, kill or lapse.
type nodeView struct {
	X, Y, Shape string
	Number      int
}

func (s *story) x(lane int) string { return percent((float64(lane) + 0.5) / float64(len(s.lanes))) }

func (s *story) y(row float64) string { return percent((row + 0.5) / float64(len(s.steps))) }

func (s *story) height(from, to float64) string { return percent((to - from) / float64(len(s.steps))) }

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
