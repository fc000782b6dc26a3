// SPDX-License-Identifier: Apache-2.0

package workloads

import (
	"fmt"
	"slices"
	"strings"

	"github.com/goccy/go-yaml/ast"

	"github.com/seed-720a3c77/harness/contract"
	"github.com/seed-720a3c77/harness/internal/suggest"
)

// Budgets bound what a variant may cost, written as Expect is: "any: {redelivered.requeued:
// {max: 10}}". A budget is judged as a claim, so that more than its max is a violation.
type Budgets []VariantExpectation

// UnmarshalYAML reads what Expect reads, of which every bound must have a max.
func (b *Budgets) UnmarshalYAML(n ast.Node) error {
	var rows Expect
	if err := rows.UnmarshalYAML(n); err != nil {
		return err
	}
	for _, row := range rows {
		if row.Max == nil || row.IDs != nil {
			return lineError(n, "budget %s wants a number or {max: n}", row.Metric)
		}
	}
	*b = Budgets(rows)
	return nil
}

// MarshalYAML writes budgets by variant, a row each.
func (b Budgets) MarshalYAML() (any, error) { return Expect(b).MarshalYAML() }

// Budgeted are the budgets of the variant where it runs.
func (s *Spec) Budgeted(profile, fidelity string) []contract.Threshold {
	var all []contract.Threshold
	for _, row := range s.Budgets {
		here := strings.HasPrefix(profile, row.Profile) && (row.Fidelity == "" || row.Fidelity == fidelity)
		if here && applies(row.Variant, s.Variant) {
			all = append(all, contract.Threshold{
				Metric: row.Metric, Op: "<=", Limit: float64(*row.Max), Unit: "messages",
				Text: fmt.Sprintf("%s at most %d", row.Metric, *row.Max),
			})
		}
	}
	return all
}

// knownCause refuses a metric of a cause that does not exist.
func knownCause(n ast.Node, metric string) error {
	count, cause, split := strings.Cut(metric, ".")
	if !split || !slices.Contains(contract.CountedByCause(), count) || slices.Contains(contract.Causes(), cause) {
		return nil
	}
	return lineError(n, "%s", suggest.Unknown("cause", cause, contract.Causes()))
}
