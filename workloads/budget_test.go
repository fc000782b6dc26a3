// SPDX-License-Identifier: Apache-2.0

package workloads

import (
	"fmt"
	"strings"
	"testing"
)

const budgeted = `
name: budgeted
topology: {orders: {}}
produce: [{to: orders, count: 1, rate: 1/s}]
consume: [{from: orders, group: billing, settle: {when: after-handler}}]
claims: at-least-once
budgets: `

func TestBudgetsByVariantProfileAndFidelity(t *testing.T) {
	text := `
variants: {mode: {plain: {}, careful: {}}}` + budgeted + `
  any: {redelivered.lease-expired: {max: 10}}
  careful: [{redelivered: 3, fidelity: real}, {effect-duplicates.session-died: 0, profile: kafka}]
`
	doc, err := Parse("budgeted.yaml", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	for _, row := range []struct{ variant, profile, fidelity, want string }{
		{"plain", "kafka-4", "real", "redelivered.lease-expired at most 10"},
		{"careful", "sqs", "virtual", "redelivered.lease-expired at most 10"},
		{"careful", "sqs", "real", "redelivered.lease-expired at most 10; redelivered at most 3"},
		{"careful", "kafka-4", "virtual", "redelivered.lease-expired at most 10; effect-duplicates.session-died at most 0"},
	} {
		spec, err := doc.Spec(row.variant)
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, b := range spec.Budgeted(row.profile, row.fidelity) {
			if b.Op != "<=" {
				t.Errorf("%s is bounded by %q", b.Metric, b.Op)
			}
			got = append(got, fmt.Sprintf("%s at most %v", b.Metric, b.Limit))
		}
		if text := strings.Join(got, "; "); text != row.want {
			t.Errorf("%s on %s, %s: %q, want %q", row.variant, row.profile, row.fidelity, text, row.want)
		}
		if again, err := Encode(spec.ForVariant()); err != nil || !strings.Contains(string(again), "redelivered.lease-expired") {
			t.Errorf("encoded without its budget: %v\n%s", err, again)
		}
	}
}

func TestBudgetsAreRefused(t *testing.T) {
	for row, want := range map[string]string{
		"{any: {redelivered.lease-expiry: {max: 10}}}": `unknown cause "lease-expiry"; did you mean "lease-expired"?`,
		"{any: {redelivered.requeued: {min: 10}}}":     "budget redelivered.requeued wants a number or {max: n}",
		"{any: {redelivered: {max: 1, ids: [p0/1]}}}":  "budget redelivered wants a number or {max: n}",
		"{any: {redelivered: -1}}":                     `"-1" is not a count`,
		"{any: {redelivered: {max: -1}}}":              "redelivered: a count is not negative",
		"{any: {redelivered: lots}}":                   `"lots" is not a count`,
	} {
		doc, err := Parse("budgeted.yaml", []byte(budgeted+row))
		if err == nil {
			_, err = doc.Spec("")
		}
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", row, err, want)
		}
	}
}
