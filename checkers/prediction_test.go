// SPDX-License-Identifier: Apache-2.0

package checkers

import "testing"

// TestThreeInARowIsAFinding: once or twice is a note, an inside in between begins anew, and
// a time may be out by its slack.
func TestThreeInARowIsAFinding(t *testing.T) {
	for _, c := range []struct {
		name     string
		measured []int64
		slack    int64
		outside  int
		finding  bool
	}{
		{"inside", []int64{3, 3, 3}, 0, 0, false},
		{"at the bounds", []int64{2, 5, 2}, 0, 0, false},
		{"once", []int64{3, 3, 6}, 0, 1, false},
		{"twice", []int64{3, 6, 1}, 0, 2, false},
		{"three times", []int64{6, 1, 6}, 0, 3, true},
		{"four times", []int64{6, 6, 6, 6}, 0, 4, true},
		{"with one inside", []int64{6, 6, 3, 6}, 0, 1, false},
		{"within the slack", []int64{6, 6, 6}, 1, 0, false},
	} {
		var last *Prediction
		for _, measured := range c.measured {
			p := &Prediction{Repeats: 1, Counts: []Predicted{{Name: "lost", Min: 2, Max: 5, Slack: c.slack}}}
			p.Measure(map[string]int64{"lost": measured})
			if last != nil {
				p.After(last)
			}
			last = p
		}
		got := last.Counts[0]
		if got.OutsideIn != c.outside || got.Finding() != c.finding || last.Repeats != len(c.measured) {
			t.Errorf("%s: outside in %d of %d repeats, finding %t; want %d of %d and %t", c.name, got.OutsideIn, last.Repeats, got.Finding(), c.outside, len(c.measured), c.finding)
		}
	}
}
