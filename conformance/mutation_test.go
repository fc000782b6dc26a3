// SPDX-License-Identifier: Apache-2.0

package conformance

import "testing"

// TestEveryRuleIsMissed takes every rule away, one at a time: a case or a planted bug must
// turn red.
func TestEveryRuleIsMissed(t *testing.T) {
	cases, err := Embedded()
	if err != nil {
		t.Fatal(err)
	}
	results, err := Mutate(append(cases, more(t)...))
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range results {
		if r.MissedBy == "" {
			t.Errorf("nothing misses the rule %q", r.Rule)
		}
	}
}
