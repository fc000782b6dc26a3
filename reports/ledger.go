// SPDX-License-Identifier: Apache-2.0

package reports

import (
	"strconv"

	"github.com/seed-720a3c77/harness/checkers"
)

// sheetView is one balance: the total first, its parts, their sum, and what is left over.
type sheetView struct {
	Title, About string
	TotalLabel   string
	Total        string
	Lines        []sheetLine
	Sum          string
	Balances     bool
	Difference   string
}

type sheetLine struct {
	Op, Label, Share, Count string
	Class                   string
}

// newLedger returns the sheets and whether all of them balance.
func newLedger(r *checkers.Result) ([]sheetView, bool) {
	var all []sheetView
	balanced := true
	for i := range r.Ledger {
		s := newSheet(&r.Ledger[i])
		balanced = balanced && s.Balances
		all = append(all, s)
	}
	return all, balanced
}

func newSheet(b *checkers.Balance) sheetView {
	v := sheetView{Title: b.Title, About: sheetAbout(b), TotalLabel: b.TotalLabel, Total: Thousands(b.Total),
		Sum: Thousands(b.Total - b.Difference), Balances: b.Difference == 0, Difference: Thousands(b.Difference)}
	for i := range b.Lines {
		l := &b.Lines[i]
		op := "+"
		if i == 0 {
			op = "="
		}
		v.Lines = append(v.Lines, sheetLine{op, l.Label, shareOf(l.Count, b.Total), Thousands(l.Count), lineClass(l)})
	}
	return v
}

func lineClass(l *checkers.Line) string {
	switch {
	case l.Count == 0:
		return "zero"
	case l.Kind == "bad" || l.Kind == "open":
		return l.Kind
	}
	return ""
}

func sheetAbout(b *checkers.Balance) string {
	about := ""
	switch b.Title {
	case "Published":
		about = "what the producer was told"
	case "Acked ids":
		about = "where each one ended"
	case "Deliveries":
		about = "copies handed to a worker"
	case "Handler runs":
		about = "what became of each delivery"
	case "Effects":
		about = "what the handlers did"
	}
	if b.Subscription == "" {
		return about
	}
	return b.Subscription + ": " + about
}

func shareOf(part, whole int64) string {
	if part == 0 || whole <= 0 {
		return ""
	}
	return strconv.FormatFloat(float64(part)/float64(whole)*100, 'f', 2, 64) + "\u00a0%"
}
