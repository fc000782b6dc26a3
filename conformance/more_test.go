// SPDX-License-Identifier: Apache-2.0

package conformance

import (
	"slices"
	"testing"
)

func TestMoreCases(t *testing.T) {
	for _, c := range more(t) {
		t.Run(c.ID+" "+c.Note, func(t *testing.T) { judged(t, &c, "") })
	}
}

func more(t *testing.T) []Case {
	t.Helper()
	all, err := Own()
	if err != nil {
		t.Fatal(err)
	}
	return all
}

func judged(t *testing.T, c *Case, want string) {
	t.Helper()
	text, err := c.Judge(Rules{})
	if err != nil {
		t.Fatal(err)
	}
	if (text == "") != (want == "") {
		t.Errorf("judged %q, want %q", text, want)
	}
}

// TestExpectationsHaveTeeth spoils every figure that is expected, one at a time: no case
// may match what is not there.
func TestExpectationsHaveTeeth(t *testing.T) {
	all, err := Embedded()
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range append(all, more(t)...) {
		figures, ordered, err := c.figures(Rules{})
		if err != nil {
			t.Fatal(err)
		}
		for name, value := range c.Expect {
			for i, spoilt := range spoil(value) {
				changed := c
				changed.Expect = map[string]any{name: spoilt}
				if compare(&changed, figures, ordered) == "" {
					t.Errorf("%s matches %s = %s too (%d)", c.ID, name, shown(spoilt), i)
				}
			}
		}
	}
}

// spoil changes a value in every way that must be noticed.
func spoil(v any) (all []any) {
	switch v := v.(type) {
	case nil:
		return []any{"something"}
	case bool:
		return []any{!v, "unknown"}
	case float64:
		return []any{v + 1}
	case string:
		return []any{v + "x"}
	case []any:
		all = append(all, append(slices.Clone(v), "one more"))
		for i := range v {
			all = append(all, slices.Delete(slices.Clone(v), i, i+1))
			for _, worse := range spoil(v[i]) {
				changed := slices.Clone(v)
				changed[i] = worse
				all = append(all, any(changed))
			}
		}
	case map[string]any:
		for name := range v {
			for _, worse := range spoil(v[name]) {
				changed := map[string]any{}
				for k, one := range v {
					changed[k] = one
				}
				changed[name] = worse
				all = append(all, any(changed))
			}
		}
	}
	return all
}
