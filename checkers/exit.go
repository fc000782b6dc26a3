// SPDX-License-Identifier: Apache-2.0

package checkers

import "github.com/seed-720a3c77/harness/contract"

// Exit codes of a judged run.
const (
	ExitPass         = 0 // pass, not applicable, or violated as expected
	ExitViolated     = 1 // a claim, threshold or expectation is violated
	ExitInconclusive = 2 // the run cannot tell
)

// ExitCode is the code for one or more results, the worst first: violated, inconclusive,
// pass. A violation that was expected counts as a pass, a missed expectation as a violation.
func ExitCode(results ...Result) int {
	worst := ExitPass
	for i := range results {
		switch code := exitCode(&results[i]); {
		case code == ExitViolated:
			return code
		case code > worst:
			worst = code
		}
	}
	return worst
}

func exitCode(r *Result) int {
	inconclusive := r.Verdict == contract.Inconclusive || r.Verdict == contract.Unjudged
	for i := range r.Expectations {
		switch r.Expectations[i].Verdict {
		case contract.Violated:
			return ExitViolated
		case contract.Inconclusive:
			inconclusive = true
		}
	}
	switch {
	case r.Verdict == contract.Violated && !r.AsExpected:
		return ExitViolated
	case inconclusive:
		return ExitInconclusive
	}
	return ExitPass
}
