// SPDX-License-Identifier: Apache-2.0

package reports

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/seed-720a3c77/harness/checkers"
	"github.com/seed-720a3c77/harness/contract"
)

// Text writes the matrix as a table: a row a workload and variant, a column an engine,
// and in each cell verdict, lost, redelivered, effect duplicates and p99. Below it stands
// one line for every cell that is not a plain pass.
func Text(w io.Writer, results *checkers.Results) error {
	t := tabwriter.NewWriter(w, 0, 8, 2, ' ', 0)
	m := newMatrix(results)
	fmt.Fprintf(t, "WORKLOAD\t%s\n", strings.Join(m.engines, "\t"))
	for _, row := range m.rows {
		fmt.Fprint(t, printable(row))
		for _, engine := range m.engines {
			fmt.Fprintf(t, "\t%s", m.cell(row, engine))
		}
		fmt.Fprintln(t)
	}
	if err := t.Flush(); err != nil {
		return err
	}
	_, err := io.WriteString(w, "\ncells: verdict, lost/redelivered/effect duplicates, p99 from due to handled\n"+m.remarks())
	return err
}

// matrix arranges runs by workload and engine.
type matrix struct {
	results       *checkers.Results
	rows, engines []string
	runs          map[[2]string]*checkers.Result
	not           map[[2]string]*checkers.NotRun
}

func newMatrix(results *checkers.Results) *matrix {
	m := &matrix{results: results, runs: map[[2]string]*checkers.Result{}, not: map[[2]string]*checkers.NotRun{}}
	for i := range results.Runs {
		r := &results.Runs[i]
		m.add(r.Workload, r.Variant, r.Engine)
		m.runs[[2]string{rowName(r.Workload, r.Variant), r.Engine}] = r
	}
	for i := range results.NotRun {
		n := &results.NotRun[i]
		m.add(n.Workload, n.Variant, n.Engine)
		m.not[[2]string{rowName(n.Workload, n.Variant), n.Engine}] = n
	}
	return m
}

func (m *matrix) add(workload, variant, engine string) {
	if row := rowName(workload, variant); !slices.Contains(m.rows, row) {
		m.rows = append(m.rows, row)
	}
	if !slices.Contains(m.engines, engine) {
		m.engines = append(m.engines, engine)
	}
}

func rowName(workload, variant string) string {
	if variant == "" {
		return workload
	}
	return workload + " " + variant
}

func (m *matrix) cell(row, engine string) string {
	key := [2]string{row, engine}
	if r := m.runs[key]; r != nil {
		return fmt.Sprintf("%s %s/%s/%s %s", verdictWord(r), count(r, "lost"), count(r, "redelivered"), count(r, "effect-duplicates"), p99(r))
	}
	if n := m.not[key]; n != nil && n.Verdict == contract.NotApplicable {
		return "n/a"
	}
	if m.not[key] != nil {
		return "no verdict"
	}
	return "-"
}

// verdictWord is the verdict as a person reads it.
func verdictWord(r *checkers.Result) string {
	if r.Verdict == contract.Violated && r.AsExpected {
		return "violated, as expected"
	}
	return r.Verdict.String()
}

func count(r *checkers.Result, name string) string {
	n, measured := r.Counts[name]
	if !measured {
		return "–"
	}
	return fmt.Sprint(n)
}

func p99(r *checkers.Result) string {
	for _, l := range r.Latency {
		if l.Name == "handled" && l.Window == "all" && l.Count > 0 {
			return Duration(l.P99Ns)
		}
	}
	return "–"
}

// remarks explains every cell that is not a plain pass.
func (m *matrix) remarks() string {
	var b strings.Builder
	for i := range m.results.Runs {
		if r := &m.results.Runs[i]; r.Verdict != contract.Pass || !r.AsExpected {
			fmt.Fprintf(&b, "\n%s on %s: %s", rowName(r.Workload, r.Variant), r.Engine, printable(r.Sentence))
		}
	}
	for _, n := range m.results.NotRun {
		fmt.Fprintf(&b, "\n%s on %s: %s: %s", rowName(n.Workload, n.Variant), n.Engine, n.Verdict, printable(n.Reason))
	}
	if b.Len() > 0 {
		b.WriteByte('\n')
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
