// SPDX-License-Identifier: Apache-2.0

package reports

import (
	"strings"

	"github.com/seed-720a3c77/harness/checkers"
)

// anomaliesView is what was found, class by class, and the first findings of each.
type anomaliesView struct {
	Classes  []classView
	Examples []exampleView
	// Shown is how many of how many findings are listed.
	Shown string
	// Explain is the command that tells the life of the first of them.
	Explain string
}

// classView is one class of findings.
type classView struct {
	Key, Name, Doc, Count string
	Kind, Class           string
}

// exampleView is one finding.
type exampleView struct {
	Key, Name, ID, Subscription string
	At, Cause, Fault, Text      string
}

// shownExamples is how many findings of a class are listed; the results have more.
const shownExamples = 8

func newAnomalies(r *checkers.Result) anomaliesView {
	var v anomaliesView
	total := int64(0)
	for i := range r.Anomalies {
		a := &r.Anomalies[i]
		kind, class := kindWords(a.Kind)
		total += a.Count
		v.Classes = append(v.Classes, classView{"c" + itoa(i), words(a.Name), a.Doc, Thousands(a.Count), kind, class})
		for k := range a.Examples[:min(len(a.Examples), shownExamples)] {
			v.Examples = append(v.Examples, newExample(a, &a.Examples[k], "c"+itoa(i)))
		}
	}
	if len(v.Examples) > 0 {
		v.Explain = explain(r, v.Examples[0].ID)
	}
	v.Shown = Thousands(int64(len(v.Examples))) + " of " + Thousands(total)
	return v
}

func newExample(a *checkers.Anomaly, e *checkers.Example, key string) exampleView {
	return exampleView{Key: key, Name: words(a.Name), ID: e.ID.String(), Subscription: e.Subscription, At: clock(e.AtNs),
		Cause: orDash(e.Cause), Fault: e.Fault, Text: e.Text}
}

// kindWords says what the claims make of a class, and the class of the style sheet.
func kindWords(kind string) (string, string) {
	switch kind {
	case checkers.KindError:
		return "breaks the contract", "bad"
	case checkers.KindLegal:
		return "allowed here", "allowed"
	}
	return "counted", ""
}

// explain is the command that tells the life of a message.
func explain(r *checkers.Result, id string) string {
	dir := r.Dir
	if dir == "" {
		dir = r.Run
	}
	return "harness explain " + shellWord(dir) + " " + id
}

// shellWord quotes a word for a shell unless every character of it is plain.
func shellWord(text string) string {
	plain := strings.IndexFunc(text, func(r rune) bool {
		return !(r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("._-+:/=,@", r))
	}) < 0
	if plain && text != "" {
		return text
	}
	return "'" + strings.ReplaceAll(text, "'", `'\''`) + "'"
}
