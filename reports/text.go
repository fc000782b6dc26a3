// SPDX-License-Identifier: Apache-2.0

package reports

import (
	"fmt"
	"io"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/seed-720a3c77/harness/checkers"
)

const textLegend = `
cells: verdict, lost/redelivered/effects twice, p99 from due to handled
as expected: a claim is violated, which the variant foresees; unexpected: no claim is, but an expectation is missed
`

// Text writes the matrix as a table: a row a variant of a workload, three columns an
// engine. Below it stands why each cell is not a plain pass.
func Text(w io.Writer, results *checkers.Results) error {
	m := newMatrix(results)
	if len(m.rows) == 0 {
		_, err := io.WriteString(w, "nothing was run\n")
		return err
	}
	var t textTable
	t.row("WORKLOAD")
	for _, e := range m.engines {
		t.add(e, "", "")
	}
	for _, row := range m.rows {
		t.row(row.String())
		for _, engine := range m.engines {
			t.add(textCell(results, m, cellKey{row, engine}))
		}
	}
	_, err := io.WriteString(w, t.String()+textLegend+remarks(results)+predictionRemarks(results))
	return err
}

// textCell is the verdict, the counts and the latency of a cell.
func textCell(results *checkers.Results, m *matrix, key cellKey) (string, string, string) {
	if i, ok := m.runs[key]; ok {
		r := &results.Runs[i]
		return Word(r), factLost.of(r).Text + "/" + factRedelivered.of(r).Text + "/" + factEffects.of(r).Text, handledP99(r)
	}
	if i, ok := m.not[key]; ok {
		return textWord(stateOf(results.NotRun[i].Verdict)), "", ""
	}
	return none, "", ""
}

// Word is the verdict of a run as the table says it.
func Word(r *checkers.Result) string { return textWord(runState(r)) }

// textWord is a verdict that fits into a narrow column.
func textWord(s state) string {
	switch s {
	case stateExpected:
		return "as expected"
	case stateSurprise:
		return "unexpected"
	case stateNA:
		return "n/a"
	case stateInconclusive:
		return "no verdict"
	}
	return strings.ToLower(s.Word)
}

// textTable aligns a name, and for each engine a word and two numbers.
type textTable struct {
	names []string
	cells [][]textGroup
}

// textGroup is the cell of an engine: a word on the left, two numbers on the right.
type textGroup [3]string

func (t *textTable) row(name string) {
	t.names, t.cells = append(t.names, printable(name)), append(t.cells, nil)
}

func (t *textTable) add(word, counts, latency string) {
	last := len(t.cells) - 1
	t.cells[last] = append(t.cells[last], textGroup{printable(word), counts, latency})
}

func (t *textTable) String() string {
	var groups []string
	for n := range t.cells {
		groups = append(groups, pad(t.names[n], widest(t.names)))
	}
	for i := range t.cells[0] {
		for n, text := range t.column(i) {
			groups[n] += "  " + text
		}
	}
	var b strings.Builder
	for _, line := range groups {
		b.WriteString(strings.TrimRight(line, " ") + "\n")
	}
	return b.String()
}

// column aligns the cells of one engine; its name stands over all three parts.
func (t *textTable) column(i int) []string {
	var parts [3][]string
	for _, row := range t.cells[1:] {
		for k, part := range row[i] {
			parts[k] = append(parts[k], part)
		}
	}
	lines := []string{t.cells[0][i][0]}
	for _, row := range t.cells[1:] {
		c := row[i]
		lines = append(lines, pad(c[0], widest(parts[0]))+" "+padLeft(c[1], widest(parts[1]))+" "+padLeft(c[2], widest(parts[2])))
	}
	width := widest(lines)
	for n := range lines {
		lines[n] = pad(lines[n], width)
	}
	return lines
}

func widest(texts []string) int {
	width := 0
	for _, t := range texts {
		width = max(width, utf8.RuneCountInString(t))
	}
	return width
}

func pad(text string, width int) string {
	return text + strings.Repeat(" ", width-utf8.RuneCountInString(text))
}

func padLeft(text string, width int) string {
	return strings.Repeat(" ", width-utf8.RuneCountInString(text)) + text
}

// remarks explains every cell that is not a plain pass; those that share a reason share a line.
func remarks(results *checkers.Results) string {
	var b strings.Builder
	for i := range results.Runs {
		r := &results.Runs[i]
		if s := runState(r); s != statePass {
			fmt.Fprintf(&b, "\n%s on %s, %s: %s", printable(rowName(r.Workload, r.Variant)), printable(r.Engine), textWord(s), printable(whyNot(r)))
		}
	}
	if b.Len() > 0 {
		b.WriteByte('\n')
	}
	for _, reason := range newReasons(results) {
		fmt.Fprintf(&b, "\n%s: %s\n", textWord(reason.State), printable(reason.Reason))
		for _, cell := range reason.Cells {
			fmt.Fprintf(&b, "    %s\n", printable(cell))
		}
	}
	return b.String()
}

// printable keeps out of a terminal what could move its cursor or reverse the order of what
// is read: control and bidirectional formatting characters.
func printable(text string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsControl(r) || unicode.Is(unicode.Bidi_Control, r) {
			return '�'
		}
		return r
	}, text)
}
