// SPDX-License-Identifier: Apache-2.0

package reports

import (
	"fmt"
	"io"
	"strings"

	"github.com/seed-720a3c77/harness/checkers"
)

// Markdown fits into a comment of a pull request: at most 40 lines, whatever was run.
const (
	markdownLines  = 40
	markdownBroken = 8
	markdownLength = 240 // of a sentence, in runes
)

// Markdown writes the verdict, the matrix and the runs that are not as expected. Names
// and sentences are escaped, so that they are shown and never rendered.
func Markdown(w io.Writer, results *checkers.Results) error {
	m := newMatrix(results)
	lines := []string{"## " + mark(suiteState(results)) + ": " + strings.TrimSuffix(markdownHead(results, m), "."), ""}
	tail := markdownTail(results)
	lines = append(lines, markdownTable(results, m, markdownLines-len(lines)-len(tail))...)
	lines = append(lines, tail...)
	_, err := io.WriteString(w, strings.Join(lines, "\n")+"\n")
	return err
}

func markdownHead(results *checkers.Results, m *matrix) string {
	text := suiteSentence(results, broken(results, make([]string, len(results.Runs))))
	first, _, _ := strings.Cut(text, ". ")
	if title := suiteTitle(m); len(m.rows) > 0 && title != suiteName {
		return escapeMarkdown(title) + ", " + first
	}
	return first
}

// mark is a verdict with a shape in front of it.
func mark(s state) string {
	shape := map[string]string{"pass": "✔", "violated": "✖", "surprise": "✖", "expected": "✖", "inconclusive": "◇"}[s.Class]
	if shape == "" {
		return strings.ToLower(s.Word)
	}
	return shape + " " + strings.ToLower(s.Word)
}

// markdownTable is the matrix; rows that have no room are counted in its last line.
func markdownTable(results *checkers.Results, m *matrix, room int) []string {
	if len(m.rows) == 0 {
		return nil
	}
	head, rule := "| workload |", "|---|"
	for _, e := range m.engines {
		head += " " + escapeMarkdown(e) + " |"
		rule += "---|"
	}
	lines := []string{head, rule}
	for i, row := range m.rows {
		if len(lines) == room-1 && i < len(m.rows)-1 {
			return append(lines, fmt.Sprintf("| %s |", plural(len(m.rows)-i, "more row in report.html", "more rows in report.html")))
		}
		line := "| " + escapeMarkdown(row.String()) + " |"
		for _, e := range m.engines {
			line += " " + markdownCell(results, m, cellKey{row, e}) + " |"
		}
		lines = append(lines, line)
	}
	return lines
}

func markdownCell(results *checkers.Results, m *matrix, key cellKey) string {
	if i, ok := m.runs[key]; ok {
		r := &results.Runs[i]
		return fmt.Sprintf("%s %s/%s/%s %s", mark(runState(r)), factLost.of(r).Text, factRedelivered.of(r).Text, factEffects.of(r).Text, handledP99(r))
	}
	if i, ok := m.not[key]; ok {
		return mark(stateOf(results.NotRun[i].Verdict))
	}
	return none
}

func markdownTail(results *checkers.Results) []string {
	var lines []string
	bad := broken(results, make([]string, len(results.Runs)))
	if len(bad) > 0 {
		lines = append(lines, "")
	}
	for i, b := range bad {
		if i == markdownBroken {
			lines = append(lines, "- "+plural(len(bad)-i, "more run is", "more runs are")+" not as expected")
			break
		}
		lines = append(lines, "- **"+escapeMarkdown(b.Text)+"**: "+escapeMarkdown(b.Sentence))
	}
	lines = append(lines, markdownFindings(results)...)
	lines = append(lines, "", "Cells: verdict, lost/redelivered/effects twice, p99 from due to handled.")
	if n := len(results.NotRun); n > 0 {
		lines[len(lines)-1] += " " + plural(n, "cell has no run", "cells have no run") + "; report.html has the reasons."
	}
	if len(results.Runs) == 1 {
		lines = append(lines, markdownGenerations(&results.Runs[0], markdownBroken)...)
	}
	if results.Command != "" {
		lines = append(lines, "", "Reproduce: "+codeSpan(results.Command))
	}
	return lines
}

// escapeMarkdown keeps a text one line that is shown as it is: no markup, no link, nobody called.
func escapeMarkdown(text string) string {
	var b strings.Builder
	for i, r := range []rune(oneLine(text)) {
		if i == markdownLength {
			b.WriteString("…")
			break
		}
		switch {
		case r == '<':
			b.WriteString("&lt;")
		case r == '>':
			b.WriteString("&gt;")
		case r == '&':
			b.WriteString("&amp;")
		case r == '@':
			b.WriteString("@\u200b")
		case strings.ContainsRune("\\`*_[]|~#!", r):
			b.WriteRune('\\')
			b.WriteRune(r)
		default:
			b.WriteRune(r)
		}
	}
	text = strings.ReplaceAll(b.String(), "://", ":\u200b//")
	return strings.ReplaceAll(text, "www.", "www\u200b.")
}

// oneLine replaces line ends and control characters.
func oneLine(text string) string {
	return printable(strings.Join(strings.Fields(text), " "))
}

// codeSpan shows a text as code, with a fence longer than any in it.
func codeSpan(text string) string {
	text = oneLine(text)
	fence := "`"
	for strings.Contains(text, fence) {
		fence += "`"
	}
	if len(fence) > 1 {
		return fence + " " + text + " " + fence
	}
	return fence + text + fence
}
