// SPDX-License-Identifier: Apache-2.0

package reports

import (
	"strings"
	"testing"

	"github.com/seed-720a3c77/harness/checkers"
	"github.com/seed-720a3c77/harness/contract"
)

// TestNoRunHidesAnother: repeats of one cell have rows of their own, by their directories or,
// without them, by their number.
func TestNoRunHidesAnother(t *testing.T) {
	results := &checkers.Results{}
	for _, dir := range []string{"one/steady", "two/steady", "two/steady", ""} {
		results.Runs = append(results.Runs, checkers.Result{Workload: "steady", Engine: "kafka", Dir: dir, Verdict: contract.Pass, AsExpected: true})
	}
	m := newMatrix(results)
	var rows []string
	for _, row := range m.rows {
		if _, there := m.runs[cellKey{row, "kafka"}]; there {
			rows = append(rows, row.String())
		}
	}
	if got, want := strings.Join(rows, ", "), "steady, steady (two/steady), steady (run 3), steady (run 4)"; got != want || len(m.rows) != 4 {
		t.Errorf("rows %s of %v, want %s", got, m.rows, want)
	}
}
