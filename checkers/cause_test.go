// SPDX-License-Identifier: Apache-2.0

package checkers

import (
	"slices"
	"testing"

	"github.com/seed-720a3c77/harness/contract"
)

// TestCausesAreNamedInTheContract: a budget can be written for every cause there is, and
// for no other.
func TestCausesAreNamedInTheContract(t *testing.T) {
	var slugs []string
	for cause := noCause + 1; cause < causes; cause++ {
		slugs = append(slugs, cause.slug())
	}
	if !slices.Equal(slugs, contract.Causes()) {
		t.Errorf("causes %q, contract names %q", slugs, contract.Causes())
	}
	var counts []string
	for _, r := range rowsByCause {
		counts = append(counts, table[r].Name)
	}
	if !slices.Equal(counts, contract.CountedByCause()) {
		t.Errorf("counted by cause: %q, contract names %q", counts, contract.CountedByCause())
	}
}
