// SPDX-License-Identifier: Apache-2.0

package reports

import (
	"strings"

	"github.com/seed-720a3c77/harness/checkers"
)

// figureView is one of the numbers that stand under the verdict.
type figureView struct {
	fact
	Unit string
	Note string
}

func newFigures(r *checkers.Result) []figureView {
	all := []figureView{
		{fact: factLost.of(r), Note: among(r, "acked", "acked")},
		{fact: factStored.of(r), Note: "copies of one id"},
		{fact: factRedelivered.of(r), Note: among(r, "deliveries", "deliveries")},
		{fact: factEffects.of(r), Note: among(r, "effects", "effects")},
		{fact: factOverlapping.of(r), Note: "two handlers at once"},
		latencyFigure(r),
		recoveryFigure(r),
	}
	for i := range all {
		all[i].Label = capital(all[i].Label)
		if all[i].Class == "allowed" {
			all[i].Note = "allowed here; " + all[i].Note
		}
	}
	return all
}

func among(r *checkers.Result, count, noun string) string {
	n, measured := r.Counts[count]
	if !measured {
		return "not measured"
	}
	return "of " + Thousands(n) + " " + noun
}

func latencyFigure(r *checkers.Result) figureView {
	f := figureView{fact: fact{Label: "p99", Text: none}, Note: "no message was handled"}
	if l := latencyOf(r, "handled", "all"); l != nil {
		f.Text, f.Unit, _ = strings.Cut(Duration(l.P99Ns), "\u00a0")
		f.Note = "due to handled, " + plural(int(l.Count), "message", "messages")
	}
	return f
}

func recoveryFigure(r *checkers.Result) figureView {
	f := figureView{fact: fact{Label: "slowest recovery", Text: none}, Note: "no fault planned"}
	slowest := int64(-1)
	for i := range r.Faults {
		w := &r.Faults[i]
		switch {
		case w.ActiveNs < 0:
			f.Note = faultName(w) + " was never active"
		case w.RecoveredNs < 0:
			f.fact.Text, f.Unit, f.Note = none, "", faultName(w)+" did not recover in the run"
			return f
		case w.RecoveredNs-w.ActiveNs > slowest:
			slowest = w.RecoveredNs - w.ActiveNs
			f.Text, f.Unit, _ = strings.Cut(Duration(slowest), "\u00a0")
			f.Note = faultName(w) + ", " + w.Text
		}
	}
	return f
}

// capital begins a label with a capital, but for names like p99.
func capital(label string) string {
	if len(label) > 1 && label[1] >= '0' && label[1] <= '9' {
		return label
	}
	return strings.ToUpper(label[:1]) + label[1:]
}
