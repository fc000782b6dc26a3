// SPDX-License-Identifier: Apache-2.0

package reports

import (
	"fmt"
	"slices"
	"strings"

	"github.com/seed-720a3c77/harness/checkers"
	"github.com/seed-720a3c77/harness/contract"
)

// suiteView is the page of a whole suite.
type suiteView struct {
	State    state
	Title    string
	On       string
	Meta     []pair
	Sentence string
	// Broken lists the runs that count against the whole.
	Broken  []linkView
	Counts  []countView
	Aria    string
	Grid    gridView
	Reasons []reasonView
	Engines []engineView
	Command string
}

type linkView struct{ Text, Anchor, Sentence string }

// countView is how many cells have a state.
type countView struct {
	state
	N int
}

// reasonView is why cells are not applicable, or could not be run.
type reasonView struct {
	State  state
	Reason string
	Cells  []string
}

func newSuite(results *checkers.Results, anchors []string) suiteView {
	m := newMatrix(results)
	v := suiteView{State: suiteState(results), Command: results.Command}
	v.Title, v.On = suiteTitle(m), enginesWords(m.engines)
	v.Meta = suiteMeta(results, m)
	v.Counts = countStates(results)
	v.Aria = countWords(v.Counts)
	v.Broken = broken(results, anchors)
	v.Sentence = suiteSentence(results, v.Broken)
	v.Grid = newGrid(results, m, anchors)
	v.Reasons = newReasons(results)
	v.Engines = newEngines(results, m)
	return v
}

// suiteName is the title of results of several workloads.
const suiteName = "Suite"

func suiteTitle(m *matrix) string {
	if len(m.rows) == 0 {
		return "No runs"
	}
	first := m.rows[0].workload
	for _, r := range m.rows {
		if r.workload != first {
			return suiteName
		}
	}
	return first
}

// enginesWords names the products once: "Kafka, SQS and their models".
func enginesWords(engines []string) string {
	var names []string
	models, real := 0, 0
	for _, e := range engines {
		if name := productName(productOf(e)); !slices.Contains(names, name) {
			names = append(names, name)
		}
		if isModel(e) {
			models++
		} else {
			real++
		}
	}
	text := strings.Join(names, ", ")
	switch {
	case models > 0 && real > 0:
		return text + " and models"
	case models > 0:
		return text + ", in memory"
	}
	return text
}

func suiteMeta(results *checkers.Results, m *matrix) []pair {
	meta := []pair{{"", plural(len(m.rows), "variant", "variants") + " × " + plural(len(m.engines), "engine", "engines"), true}}
	if !results.Started.IsZero() {
		meta = append(meta, pair{"", results.Started.UTC().Format("2006-01-02 15:04:05 UTC"), false})
	}
	if results.Tool != "" {
		meta = append(meta, pair{"harness", results.Tool, false})
	}
	return meta
}

func countStates(results *checkers.Results) []countView {
	counts := map[state]int{}
	for i := range results.Runs {
		counts[runState(&results.Runs[i])]++
	}
	for i := range results.NotRun {
		counts[stateOf(results.NotRun[i].Verdict)]++
	}
	var all []countView
	for _, s := range []state{stateViolated, stateSurprise, stateUnjudged, stateInconclusive, stateExpected, statePass, stateNA} {
		if counts[s] > 0 {
			all = append(all, countView{s, counts[s]})
		}
	}
	return all
}

func countWords(counts []countView) string {
	var said []string
	for _, c := range counts {
		said = append(said, fmt.Sprintf("%d %s", c.N, strings.ToLower(c.Word)))
	}
	return strings.Join(said, ", ")
}

func broken(results *checkers.Results, anchors []string) []linkView {
	var all []linkView
	for i := range results.Runs {
		if r := &results.Runs[i]; checkers.ExitCode(*r) != checkers.ExitPass {
			all = append(all, linkView{rowName(r.Workload, r.Variant) + " on " + r.Engine, anchors[i], whyNot(r)})
		}
	}
	return all
}

// whyNot is why a run is not as expected: the expectation it missed, or its verdict.
func whyNot(r *checkers.Result) string {
	if r.Verdict != contract.Pass {
		return r.Sentence
	}
	for i := range r.Expectations {
		if e := &r.Expectations[i]; e.Verdict != contract.Pass {
			return e.Sentence
		}
	}
	return r.Sentence
}

// suiteSentence says how many runs are as they should be, and what the others are.
func suiteSentence(results *checkers.Results, broken []linkView) string {
	runs := len(results.Runs)
	if runs == 0 {
		return "Nothing was run."
	}
	text := fmt.Sprintf("%d of %s as expected.", runs-len(broken), plural(runs, "run is", "runs are"))
	expected := 0
	for i := range results.Runs {
		if runState(&results.Runs[i]) == stateExpected {
			expected++
		}
	}
	if expected > 0 {
		text += " " + plural(expected, "of them violates a claim, which its variant foresees.", "of them violate a claim, which their variants foresee.")
	}
	if n := len(results.NotRun); n > 0 {
		text += " " + plural(n, "cell has no run", "cells have no run") + "; each has its reason below."
	}
	return text
}

// newReasons groups the cells that were not run by their reason.
func newReasons(results *checkers.Results) []reasonView {
	var all []reasonView
	for i := range results.NotRun {
		n := &results.NotRun[i]
		s := stateOf(n.Verdict)
		cell := rowName(n.Workload, n.Variant) + " on " + n.Engine
		at := slices.IndexFunc(all, func(r reasonView) bool { return r.Reason == n.Reason && r.State == s })
		if at < 0 {
			all = append(all, reasonView{s, n.Reason, nil})
			at = len(all) - 1
		}
		all[at].Cells = append(all[at].Cells, cell)
	}
	return all
}
