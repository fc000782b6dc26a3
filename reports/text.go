// SPDX-License-Identifier: Apache-2.0

package reports

import (
	"fmt"
	"io"
	"strings"
	"text/tabwriter"

	"github.com/seed-720a3c77/harness/checkers"
	"github.com/seed-720a3c77/harness/contract"
)

// Text writes the matrix as a table: a row a variant of a workload, a column an engine,
// and in each cell verdict, lost/redelivered/effects twice and p99. Below it stands one
// line for every cell that is not a plain pass.
func Text(w io.Writer, results *checkers.Results) error {
	m := newMatrix(results)
	if len(m.rows) == 0 {
		_, err := io.WriteString(w, "nothing was run\n")
		return err
	}
	t := tabwriter.NewWriter(w, 0, 8, 2, ' ', 0)
	fmt.Fprintf(t, "WORKLOAD\t%s\n", engineHeads(m))
	for _, row := range m.rows {
		fmt.Fprint(t, printable(row.String()))
		for _, engine := range m.engines {
			fmt.Fprintf(t, "\t%s", textCell(results, m, cellKey{row, engine}))
		}
		fmt.Fprintln(t)
	}
	if err := t.Flush(); err != nil {
		return err
	}
	_, err := io.WriteString(w, "\ncells: verdict, lost/redelivered/effects twice, p99 from due to handled\n"+remarks(results))
	return err
}

func textCell(results *checkers.Results, m *matrix, key cellKey) string {
	if i, ok := m.runs[key]; ok {
		r := &results.Runs[i]
		return fmt.Sprintf("%s %s/%s/%s %s", strings.ToLower(runState(r).Word), factLost.of(r).Text, factRedelivered.of(r).Text, factEffects.of(r).Text, handledP99(r))
	}
	if i, ok := m.not[key]; ok && results.NotRun[i].Verdict == contract.NotApplicable {
		return "n/a"
	} else if ok {
		return "no verdict"
	}
	return none
}

// remarks explains every cell that is not a plain pass; those that share a reason share a line.
func remarks(results *checkers.Results) string {
	var b strings.Builder
	for i := range results.Runs {
		if r := &results.Runs[i]; runState(r) != statePass {
			fmt.Fprintf(&b, "\n%s on %s: %s\n", printable(rowName(r.Workload, r.Variant)), printable(r.Engine), printable(r.Sentence))
		}
	}
	for _, reason := range newReasons(results) {
		fmt.Fprintf(&b, "\n%s: %s\n", strings.ToLower(reason.State.Word), printable(reason.Reason))
		for _, cell := range reason.Cells {
			fmt.Fprintf(&b, "  %s\n", printable(cell))
		}
	}
	return b.String()
}

// printable keeps control characters, which could move a terminal's cursor, out of it.
func printable(text string) string {
	return strings.Map(func(r rune) rune {
		if r < ' ' || r >= 0x7f && r < 0xa0 {
			return '�'
		}
		return r
	}, text)
}

func engineHeads(m *matrix) string {
	var heads []string
	for _, e := range m.engines {
		heads = append(heads, printable(e))
	}
	return strings.Join(heads, "\t")
}
