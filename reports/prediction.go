// SPDX-License-Identifier: Apache-2.0

package reports

import (
	"fmt"
	"strings"

	"github.com/seed-720a3c77/harness/checkers"
)

// predictionView is a run beside what the model of its broker gives.
type predictionView struct {
	Lead, Aside string
	Missing     string
	Rows        []predictedRow
	Conditions  []string
}

// predictedRow is one count: measured, the seeds' range, and what the two make of it.
type predictedRow struct {
	State    state
	Name     string
	Measured string
	Range    []string // min, p5, median, p95, max
}

// What a count is beside its prediction. A note is outside in one repeat or two.
var (
	stateInside  = state{"na", "pass", "Inside"}
	stateNote    = state{"inconclusive", "inconclusive", "Outside, a note"}
	stateFinding = state{"violated", "violated", "Outside, a finding"}
)

// newPrediction is nil where nobody asked for one.
func newPrediction(r *checkers.Result) *predictionView {
	p := r.Prediction
	if p == nil {
		return nil
	}
	v := &predictionView{Conditions: p.Conditions}
	if p.Missing != "" {
		v.Missing = p.Missing
		return v
	}
	v.Lead = fmt.Sprintf("The same workload on the model %s in %s with a history of their own (%s looked at), under the run's own load and fault times.",
		p.Model, plural(p.Histories, "seed", "seeds"), Thousands(int64(p.Seeds)))
	v.Aside = predictionTally(p)
	for i := range p.Counts {
		v.Rows = append(v.Rows, newPredictedRow(&p.Counts[i]))
	}
	if p.Zero > 0 {
		v.Conditions = append([]string{plural(p.Zero, "more count is", "more counts are") + " 0 in the run and in every seed"}, v.Conditions...)
	}
	return v
}

func newPredictedRow(c *checkers.Predicted) predictedRow {
	row := predictedRow{State: predictedState(c), Name: predictedName(c.Name), Measured: Thousands(c.Measured)}
	for _, n := range []int64{c.Min, c.P5, c.Median, c.P95, c.Max} {
		row.Range = append(row.Range, Thousands(n))
	}
	if c.Slack > 0 {
		row.Name += fmt.Sprintf(", give or take %s", Thousands(c.Slack))
	}
	return row
}

func predictedState(c *checkers.Predicted) state {
	switch {
	case c.Finding():
		return stateFinding
	case c.Outside():
		return stateNote
	}
	return stateInside
}

// predictedName is a count in words: "silence.max_ms" is "silence.max, ms".
func predictedName(name string) string {
	if plain, isTime := strings.CutSuffix(name, "_ms"); isTime {
		name = plain + ", ms"
	}
	return words(name)
}

// predictionTally says how the counts of a prediction came out.
func predictionTally(p *checkers.Prediction) string {
	findings, notes := p.Outside()
	text := fmt.Sprintf("%d of %s inside", len(p.Counts)-len(findings)-len(notes), plural(len(p.Counts), "count", "counts"))
	if len(notes) > 0 {
		text += ", " + plural(len(notes), "note", "notes")
	}
	if len(findings) > 0 {
		text += ", " + plural(len(findings), "finding", "findings")
	}
	if p.Repeats > 1 {
		text += fmt.Sprintf(", repeat %d", p.Repeats)
	}
	return text
}

// findingSentence says what a finding means: it breaks no claim.
func findingSentence(c *checkers.Predicted) string {
	return fmt.Sprintf("%s: measured %s, the model gives %s to %s; outside in %s in a row: model, client or broker is wrong",
		predictedName(c.Name), Thousands(c.Measured), Thousands(c.Min), Thousands(c.Max), plural(c.OutsideIn, "repeat", "repeats"))
}

// outsideLines are what text formats tell of a run's prediction: one line, and one a finding.
func outsideLines(r *checkers.Result) []string {
	p := r.Prediction
	if p == nil {
		return nil
	}
	name := rowName(r.Workload, r.Variant) + " on " + r.Engine
	if p.Missing != "" {
		return []string{name + ", model: no prediction: " + p.Missing}
	}
	lines := []string{name + ", model: " + predictionTally(p)}
	findings, notes := p.Outside()
	for i := range findings {
		lines = append(lines, "    finding: "+findingSentence(&findings[i]))
	}
	for _, c := range notes {
		lines = append(lines, fmt.Sprintf("    note: %s: measured %s, the model gives %s to %s", predictedName(c.Name), Thousands(c.Measured), Thousands(c.Min), Thousands(c.Max)))
	}
	return lines
}

// predictionRemarks are the lines of all runs, for a terminal.
func predictionRemarks(results *checkers.Results) string {
	var b strings.Builder
	for i := range results.Runs {
		for _, line := range outsideLines(&results.Runs[i]) {
			b.WriteString("\n" + printable(line))
		}
	}
	if b.Len() > 0 {
		b.WriteByte('\n')
	}
	return b.String()
}

// markdownFindings are the findings of all runs, as items of a list.
func markdownFindings(results *checkers.Results) []string {
	var lines []string
	for i := range results.Runs {
		r := &results.Runs[i]
		if r.Prediction == nil {
			continue
		}
		findings, _ := r.Prediction.Outside()
		for k := range findings {
			if len(lines) == markdownBroken {
				return append(lines, "- more findings of the model in report.html")
			}
			lines = append(lines, "- **"+escapeMarkdown(rowName(r.Workload, r.Variant)+" on "+r.Engine)+"**: "+escapeMarkdown(findingSentence(&findings[k])))
		}
	}
	if len(lines) > 0 {
		lines = append([]string{"", "Model and broker:"}, lines...)
	}
	return lines
}

// junitFindings are a failing case each: nobody reads what passes.
func junitFindings(r *checkers.Result) []junitCase {
	if r.Prediction == nil {
		return nil
	}
	findings, _ := r.Prediction.Outside()
	var all []junitCase
	for i := range findings {
		c := &findings[i]
		all = append(all, junitCase{Class: junitClass(r.Workload, r.Variant, r.Engine), Name: "prediction " + c.Name,
			Failure: &junitOutcome{Message: "measured outside of the prediction", Type: "prediction", Text: findingSentence(c)}})
	}
	return all
}
