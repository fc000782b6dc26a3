// SPDX-License-Identifier: Apache-2.0

package conformance

import (
	"maps"
	"slices"

	"github.com/seed-720a3c77/harness/checkers"
	"github.com/seed-720a3c77/harness/contract"
	"github.com/seed-720a3c77/harness/history"
	"github.com/seed-720a3c77/harness/msg"
)

// Rules are the rules to judge by: all but those that a test takes away.
type Rules struct {
	without []string
	// trace notes which rules found something, or were asked for; nil notes nothing.
	trace map[string]bool
}

// Without takes one rule away, by its name.
func (r Rules) Without(name string) Rules {
	return Rules{without: append(slices.Clone(r.without), name), trace: r.trace}
}

// has tells whether a rule of a kind's own judge is in force.
func (r Rules) has(name string) bool {
	r.note(name)
	return !slices.Contains(r.without, name)
}

func (r Rules) note(name string) {
	if r.trace != nil {
		r.trace[name] = true
	}
}

// check is the verdict of the native checkers, with every finding.
func (r Rules) check(run *history.Run) (checkers.Result, error) {
	result, err := checkers.CheckWith(run, checkers.Terms{Without: r.without, Examples: 1 << 20})
	for _, a := range result.Anomalies {
		r.note(a.Name)
	}
	for _, c := range result.Claims {
		if c.Verdict == contract.Violated {
			r.note(c.Name)
		}
	}
	return result, err
}

// findings are the ids that each row of the native checkers found, in order.
type findings map[string][]msg.ID

// find judges a telling by the native checkers.
func (r Rules) find(t *telling) (findings, checkers.Result, error) {
	run, err := t.run()
	if err != nil {
		return nil, checkers.Result{}, err
	}
	result, err := r.check(run)
	if err != nil {
		return nil, result, err
	}
	f := findings{}
	for _, a := range result.Anomalies {
		for _, x := range a.Examples {
			f[a.Name] = append(f[a.Name], x.ID)
		}
	}
	return f, result, nil
}

func sortedNames[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }
