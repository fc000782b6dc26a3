// SPDX-License-Identifier: Apache-2.0

package roster

import (
	"errors"
	"slices"
	"testing"

	"github.com/seed-720a3c77/harness/broker"
)

func TestWhoIsLeftAndNobodyAfter(t *testing.T) {
	var r Roster[string]
	r.Leave("nobody")
	for _, c := range []string{"a", "b", "c"} {
		if err := r.Enter(c); err != nil {
			t.Fatal(err)
		}
	}
	r.Leave("b")
	left := r.Close()
	if slices.Sort(left); !slices.Equal(left, []string{"a", "c"}) {
		t.Errorf("left: %v", left)
	}
	if err := r.Enter("d"); !errors.Is(err, broker.ErrClosed) {
		t.Errorf("entered a closed roster: %v", err)
	}
	for _, c := range left { // as their Close does
		r.Leave(c)
	}
	if left := r.Close(); len(left) != 0 {
		t.Errorf("left at the second close: %v", left)
	}
}
