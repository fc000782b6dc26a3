// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"io"
	"slices"
	"text/tabwriter"

	"github.com/seed-720a3c77/harness/checkers"
	"github.com/seed-720a3c77/harness/history"
	"github.com/seed-720a3c77/harness/reports"
)

// story is the life of the one message that shows a pattern with the fewest steps; nil if
// no finding is of it. What happened to a consumer at random can be shrunk no further.
func (p pattern) story(run *history.Run, r *checkers.Result) (*checkers.Life, error) {
	var shortest *checkers.Life
	for _, x := range p.examples(r) {
		life, err := checkers.Explain(run, x.ID)
		if err != nil {
			return nil, err
		}
		if shortest == nil || len(life.Steps) < len(shortest.Steps) {
			shortest = &life
		}
	}
	if shortest != nil && p.row == lostRow {
		addNextFault(shortest, r)
	}
	return shortest, nil
}

// addNextFault adds the first fault after the last that was recorded of a lost message: it
// is what most likely ended the worker that had taken it.
func addNextFault(life *checkers.Life, r *checkers.Result) {
	isEnd := func(s checkers.LifeStep) bool { return s.Inferred }
	end := max(slices.IndexFunc(life.Steps, isEnd), 0)
	if end == 0 || slices.ContainsFunc(life.Steps, func(s checkers.LifeStep) bool { return s.Lane == "fault" }) {
		return
	}
	last := life.Steps[end-1].AtNs
	for _, f := range r.Faults {
		if f.ActiveNs > last {
			life.Steps = slices.Insert(life.Steps, end, checkers.LifeStep{AtNs: f.ActiveNs, Lane: "fault", Text: f.Name + " " + f.Target + ", the next fault"})
			return
		}
	}
}

// examples are the findings that show the pattern.
func (p pattern) examples(r *checkers.Result) (all []checkers.Example) {
	for i := range r.Anomalies {
		if r.Anomalies[i].Name != p.row {
			continue
		}
		for _, x := range r.Anomalies[i].Examples {
			if p.cause == "" || x.Cause == p.cause {
				all = append(all, x)
			}
		}
	}
	return all
}

// tellStory writes a line a step.
func tellStory(w io.Writer, life *checkers.Life) error {
	fmt.Fprintf(w, "the shortest story, of %s:\n", life.ID)
	t := tabwriter.NewWriter(w, 0, 8, 2, ' ', 0)
	for i := range life.Steps {
		s := &life.Steps[i]
		fmt.Fprintf(t, "  %s\t%s\t%s\n", reports.Duration(s.AtNs), s.Lane, stepText(s))
	}
	return t.Flush()
}
