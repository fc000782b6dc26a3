// SPDX-License-Identifier: Apache-2.0

package conformance

import (
	"errors"
	"fmt"
	"slices"

	"github.com/seed-720a3c77/harness/checkers"
	"github.com/seed-720a3c77/harness/contract"
)

// This file takes rules away. A rule that nothing misses is a rule that is not tested.

// RuleNames lists every rule that there is: the rows of the checkers, the claims, and what
// the kinds of cases judge by themselves.
func RuleNames() []string {
	var names []string
	for _, r := range checkers.Rows() {
		names = append(names, r.Name)
	}
	for _, c := range contract.Claims() {
		names = append(names, string(c))
	}
	names = append(names, checkers.AlwaysClaimed()...)
	for _, k := range kinds() {
		for _, rule := range k.rules {
			names = append(names, k.name+":"+rule)
		}
	}
	return names
}

// witness is a check that can turn red, and the rules that took part in it.
type witness struct {
	name  string
	check func(Rules) error
	rules []string
}

// witnesses run every check once with all rules, and remember which had a part in it.
func witnesses(cases []Case) ([]witness, error) {
	var all []witness
	for i := range cases {
		c := &cases[i]
		all = append(all, witness{name: c.ID, check: c.check})
	}
	planted := append(Bugs(), Honest()...)
	for i := range planted {
		p := &planted[i]
		all = append(all, witness{name: p.Name(), check: p.Check})
	}
	errs := make([]error, len(all))
	parallel(len(all), func(i int) {
		trace := map[string]bool{}
		errs[i] = all[i].check(Rules{trace: trace})
		all[i].rules = sortedNames(trace)
	})
	if err := errors.Join(errs...); err != nil {
		return nil, fmt.Errorf("with all rules: %w", err)
	}
	return all, nil
}

// check is Judge as an error.
func (c *Case) check(rules Rules) error {
	text, err := c.Judge(rules)
	if err != nil {
		return err
	}
	if _, known := deviation(c.ID); text != "" && !known {
		return fmt.Errorf("%s: %s", c.ID, text)
	}
	return nil
}

// RuleResult tells what misses a rule.
type RuleResult struct {
	Rule string
	// MissedBy is the first case or planted bug that turns red without it, "" for none.
	MissedBy string
}

// Mutate takes every rule away, one at a time.
func Mutate(cases []Case) ([]RuleResult, error) {
	all, err := witnesses(cases)
	if err != nil {
		return nil, err
	}
	names := RuleNames()
	results := make([]RuleResult, len(names))
	parallel(len(names), func(i int) { results[i] = RuleResult{Rule: names[i], MissedBy: missedBy(all, names[i])} })
	return results, nil
}

func missedBy(all []witness, rule string) string {
	for _, w := range all {
		if slices.Contains(w.rules, rule) && w.check(Rules{}.Without(rule)) != nil {
			return w.name
		}
	}
	return ""
}
