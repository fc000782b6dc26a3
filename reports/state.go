// SPDX-License-Identifier: Apache-2.0

package reports

import (
	"github.com/seed-720a3c77/harness/checkers"
	"github.com/seed-720a3c77/harness/contract"
)

// state is how a verdict is shown: always a shape, a word and a colour together.
type state struct {
	Class string // of the style sheet, and the value of a filter
	Icon  string
	Word  string
}

var (
	statePass         = state{"pass", "pass", "Pass"}
	stateViolated     = state{"violated", "violated", "Violated"}
	stateExpected     = state{"expected", "expected", "Violated, as expected"}
	stateSurprise     = state{"surprise", "violated", "Pass, not as expected"}
	stateInconclusive = state{"inconclusive", "inconclusive", "Inconclusive"}
	stateNA           = state{"na", "na", "Not applicable"}
	stateNone         = state{"none", "na", "Not run"}
	stateUnjudged     = state{"inconclusive", "inconclusive", "Unjudged"}
)

// stateOf is the state of a bare verdict.
func stateOf(v contract.Verdict) state {
	switch v {
	case contract.Pass:
		return statePass
	case contract.Violated:
		return stateViolated
	case contract.Inconclusive:
		return stateInconclusive
	case contract.NotApplicable:
		return stateNA
	}
	return stateUnjudged
}

// runState is the state of a run: its verdict, and whether that was expected of it.
func runState(r *checkers.Result) state {
	switch {
	case r.Verdict == contract.Violated && r.AsExpected:
		return stateExpected
	case r.Verdict == contract.Pass && !r.AsExpected:
		return stateSurprise
	}
	return stateOf(r.Verdict)
}

// suiteState is the state of everything: what the exit code of the command says.
func suiteState(results *checkers.Results) state {
	worst := checkers.ExitCode(results.Runs...)
	switch {
	case worst == checkers.ExitViolated:
		return stateViolated
	case worst == checkers.ExitInconclusive || anyNotRun(results, contract.Inconclusive):
		return stateInconclusive
	case len(results.Runs) == 0:
		return stateNA
	}
	return statePass
}

func anyNotRun(results *checkers.Results, v contract.Verdict) bool {
	for i := range results.NotRun {
		if results.NotRun[i].Verdict == v {
			return true
		}
	}
	return false
}
