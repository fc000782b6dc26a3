// SPDX-License-Identifier: Apache-2.0

package reports

// scaleView is a life to scale: a lane each, time from left to right.
type scaleView struct {
	Height int
	Axis   int // where the labels of the axis stand
	Ticks  []tick
	Lanes  []scaleLane
	Boxes  []scaleBox
	Nodes  []nodeView
}

type scaleLane struct {
	Name  string
	Y     int
	TextY int
}

type scaleBox struct {
	Class, X, Width string
	Y, Height       int
}

const scaleLaneHeight = 18

func newScale(s *story) scaleView {
	over := span{s.steps[0].AtNs, s.last()}
	over.to += max((over.to-over.from)/40, 1)
	v := scaleView{Axis: scaleLaneHeight*len(s.lanes) + 12}
	v.Height = v.Axis + 6
	for _, t := range (span{0, over.to - over.from}).ticks() {
		if t.Text != seconds(0) {
			t.Text = "+" + t.Text
		}
		v.Ticks = append(v.Ticks, t)
	}
	for i, lane := range s.view.Lanes {
		v.Lanes = append(v.Lanes, scaleLane{lane.Name, middle(i), middle(i) + 4})
	}
	for i := range s.steps {
		step := &s.steps[i]
		if step.Lane == "fault" || step.Kind == "end" {
			continue
		}
		lane := s.lane(step.Lane)
		switch step.Kind {
		case "delivery":
			v.box(over, "hold", lane, 14, step.AtNs, s.when(s.until(i, lane, holdEnds)))
		case "handler-start":
			v.box(over, "work", lane, 7, step.AtNs, s.when(s.until(i, lane, workEnds)))
		}
		if shape := shapeOf(step); lane < 2 || shape != "dot" {
			v.Nodes = append(v.Nodes, nodeView{over.x(step.AtNs), itoa(middle(lane)), shape, 0})
		}
	}
	return v
}

func middle(lane int) int { return scaleLaneHeight*lane + scaleLaneHeight/2 }

func (v *scaleView) box(over span, class string, lane, height int, from, to int64) {
	v.Boxes = append(v.Boxes, scaleBox{class, over.x(from), percent(max(over.share(to)-over.share(from), 0.003)), middle(lane) - height/2, height})
}

// when is the time of a row; past the last it is the end.
func (s *story) when(row float64) int64 {
	return s.steps[min(int(row), len(s.steps)-1)].AtNs
}

// last is the last thing that happened; that the run ended is no part of a life.
func (s *story) last() int64 {
	for i := len(s.steps) - 1; i > 0; i-- {
		if s.steps[i].Kind != "end" {
			return s.steps[i].AtNs
		}
	}
	return s.steps[0].AtNs
}
