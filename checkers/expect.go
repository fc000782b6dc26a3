// SPDX-License-Identifier: Apache-2.0

package checkers

import (
	"fmt"
	"slices"
	"strings"

	"github.com/seed-720a3c77/harness/contract"
	"github.com/seed-720a3c77/harness/msg"
)

// expect judges what the variant is known to show, apart from its claims. A violated
// claim is as expected where an expectation that was met foresees it.
func (b *bench) expect() {
	r := b.result
	met := true
	var foreseen []string
	for i := range b.f.c.header.Expectations {
		e := &b.f.c.header.Expectations[i]
		if !strings.HasPrefix(r.Profile.Name, e.Profile) || e.Fidelity != "" && e.Fidelity != r.Fidelity {
			continue
		}
		out := b.expectation(e)
		r.Expectations = append(r.Expectations, out)
		met = met && out.Verdict == contract.Pass
		if out.Verdict == contract.Pass && foresees(e) {
			foreseen = append(foreseen, e.Metric)
		}
	}
	r.AsExpected = met
	for i := range r.Claims {
		if c := &r.Claims[i]; c.Verdict == contract.Violated && !b.isForeseen(c.Name, foreseen) {
			r.AsExpected = false
		}
	}
}

// foresees tells whether an expectation wants something to be found.
func foresees(e *contract.Expectation) bool {
	return e.Verdict == contract.Violated || e.Min != nil && *e.Min > 0 || len(e.IDs) > 0
}

// isForeseen tells whether the expectations that were met name everything that broke a claim.
func (b *bench) isForeseen(claim string, metrics []string) bool {
	if slices.Contains(metrics, "verdict."+claim) {
		return true
	}
	if claim == string(contract.Drained) {
		return slices.Contains(metrics, table[undrained].Name)
	}
	breaks := b.breaksOf(claim)
	for _, r := range breaks {
		found := b.f.count(r) > 0 && table[r].Kind(b.f.c.header) != KindLegal
		if found && !slices.ContainsFunc(metrics, func(m string) bool { return counts(m, r) }) {
			return false
		}
	}
	return len(breaks) > 0
}

func (b *bench) breaksOf(claim string) []row {
	switch claim {
	case "integrity":
		return integrityRows
	case "contract":
		return contractRows
	}
	for _, r := range rules() {
		if string(r.claim) == claim {
			return r.breaks
		}
	}
	return nil
}

// counts tells whether a metric counts the findings of a row, alone or among others.
func counts(metric string, r row) bool {
	switch metric {
	case table[r].Name:
		return true
	case "lost":
		return slices.Contains(losses[:], r)
	case "unexplained":
		return slices.Contains(unexplainedRows, r)
	}
	return false
}

func (b *bench) expectation(e *contract.Expectation) ClaimResult {
	out := ClaimResult{Name: e.Metric, Limit: bounds(e), Measured: "–"}
	if claim, is := strings.CutPrefix(e.Metric, "verdict."); is {
		return b.expectedVerdict(out, claim, e.Verdict)
	}
	n, measured := b.countOf(e.Metric)
	if !measured {
		out.Verdict, out.Sentence = contract.Inconclusive, fmt.Sprintf("%s was not measured.", e.Metric)
		return out
	}
	out.Measured = number(n)
	out.Verdict = contract.Pass
	switch {
	case e.Min != nil && n < *e.Min:
		out.Verdict = contract.Violated
		if len(b.lacks) > 0 || !b.f.c.ends.drainSeen { // what did not come to its end may yet show it
			out.Verdict = contract.Inconclusive
		}
	case e.Max != nil && n > *e.Max:
		out.Verdict = contract.Violated
	}
	if e.IDs != nil {
		out.IDs = b.idsOf(e.Metric)
		if !sameIDs(out.IDs, e.IDs) || n != int64(len(e.IDs)) {
			out.Verdict = contract.Violated
		}
	}
	out.Sentence = fmt.Sprintf("%s is %s, expected %s.", e.Metric, number(n), out.Limit)
	return out
}

func (b *bench) expectedVerdict(out ClaimResult, claim string, want contract.Verdict) ClaimResult {
	out.Limit, out.Verdict = want.String(), contract.Inconclusive
	out.Sentence = claim + " is not claimed."
	for i := range b.result.Claims {
		if c := &b.result.Claims[i]; c.Name == claim {
			out.Measured = c.Verdict.String()
			out.Sentence = fmt.Sprintf("%s is %s, expected %s.", claim, c.Verdict, want)
			out.Verdict = contract.Violated
			if c.Verdict == want {
				out.Verdict = contract.Pass
			}
		}
	}
	return out
}

// idsOf are the ids that a count names, as far as they were kept.
func (b *bench) idsOf(metric string) []msg.ID {
	if metric == "lost" {
		ids := b.f.ids(losses[:]...)
		return ids
	}
	for r := range rows {
		if table[r].Name == metric {
			ids := b.f.ids(r)
			return ids
		}
	}
	return nil
}

func sameIDs(have []msg.ID, want []string) bool {
	got := make([]string, 0, len(have))
	for _, id := range have {
		got = append(got, id.String())
	}
	want = slices.Clone(want)
	slices.Sort(got)
	slices.Sort(want)
	return slices.Equal(got, want)
}

func bounds(e *contract.Expectation) string {
	var text string
	switch {
	case e.Min != nil && e.Max != nil && *e.Min == *e.Max:
		text = number(*e.Min)
	case e.Min != nil && e.Max != nil:
		text = number(*e.Min) + " to " + number(*e.Max)
	case e.Min != nil:
		text = "at least " + number(*e.Min)
	case e.Max != nil:
		text = "at most " + number(*e.Max)
	}
	if len(e.IDs) > 0 {
		text = strings.TrimSpace(text + " exactly " + strings.Join(e.IDs, ", "))
	}
	return text
}
