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
