// SPDX-License-Identifier: Apache-2.0

package reports

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/seed-720a3c77/harness/checkers"
)

// generationsView is what came again at each change of ownership, against its bound.
type generationsView struct {
	Panel panelView
	Axis  []tick
	Bars  []generationBar
	Rows  []generationRow
	// More says how many rows are not shown.
	More string
	// Lead is the sum in words, Note what the bars mean.
	Lead, Note string
}

// generationBar is the bound as a wide outline, and what came again as a bar within it.
type generationBar struct {
	X            string
	Bound, Again barView
	// Beyond is the part over the bound.
	Beyond barView
	Title  string
}

// barView is a bar around an instant, in pixels.
type barView struct{ X, Y, Width, Height string }

type generationRow struct {
	Name, At, Members, Assigned string
	Bound, Again, Beyond, Late  string
	Gap                         string
	Bad                         bool
}

const (
	generationHeight = 110
	// shownGenerations bounds the table.
	shownGenerations = 100
	// fewGenerations have room for wide bars, also on a narrow page.
	fewGenerations = 45
)

func newGenerations(r *checkers.Result) generationsView {
	all := r.Generations
	if len(all) == 0 {
		return generationsView{}
	}
	v := generationsView{Lead: generationsLead(r), Note: generationNote(all[0].Kind)}
	v.draw(all)
	for i := range all {
		if i == shownGenerations {
			v.More = plural(len(all)-i, "more is", "more are") + " in results.json"
			break
		}
		v.Rows = append(v.Rows, newGenerationRow(&all[i]))
	}
	return v
}

// draw puts a bar at the instant of each; a generation without a bound has none.
func (v *generationsView) draw(all []checkers.Generation) {
	last, top := all[len(all)-1].AtNs, int64(0)
	for i := range all {
		top = max(top, all[i].UncommittedMax, all[i].Redelivered)
	}
	v.Panel = panelView{Title: "Delivered again", Unit: "messages, by " + generationNoun(all[0].Kind, 1)}
	if top == 0 {
		v.Panel.Empty = "Nothing was uncommitted at any of them, and nothing came again."
		return
	}
	over := span{0, last + max(last/40, 1)}
	v.Axis = over.ticks()
	y := v.Panel.counts(generationHeight, float64(top))
	wide := 6.0
	if len(all) > fewGenerations {
		wide = 3
	}
	for i := range all {
		if g := &all[i]; g.UncommittedMax > 0 || g.Redelivered > 0 {
			v.Bars = append(v.Bars, newGenerationBar(g, over, y, wide))
		}
	}
}

func newGenerationBar(g *checkers.Generation, over span, y scale, wide float64) generationBar {
	within := g.Redelivered - g.Beyond
	b := generationBar{X: over.x(g.AtNs), Bound: bar(y, wide, 0, g.UncommittedMax), Again: bar(y, wide/2, 0, within)}
	if g.Beyond > 0 {
		b.Beyond = bar(y, wide, max(within, 0), g.Redelivered)
	}
	b.Title = fmt.Sprintf("%s at %s: %s came again, at most %s uncommitted", generationName(g), instant(g.AtNs), Thousands(g.Redelivered), Thousands(g.UncommittedMax))
	return b
}

// bar goes from one count to another, its middle at 0.
func bar(y scale, wide float64, from, to int64) barView {
	low, high := y(float64(from)), y(float64(to))
	return barView{decimals(-wide/2, 2), decimals(high, 1), decimals(wide, 2), decimals(max(low-high, 0), 1)}
}

func newGenerationRow(g *checkers.Generation) generationRow {
	row := generationRow{
		Name: generationName(g), At: clock(g.AtNs), Members: Thousands(g.Members), Assigned: none,
		Bound: boundWords(g), Again: Thousands(g.Redelivered), Beyond: Thousands(g.Beyond), Late: Thousands(g.Late),
		Gap: elapsed(g.GapNs), Bad: g.Beyond > 0,
	}
	if g.Kind == checkers.KindRebalance {
		row.Assigned = fmt.Sprintf("%s, %s moved", Thousands(g.Partitions), Thousands(g.Moved))
	}
	return row
}

func boundWords(g *checkers.Generation) string {
	if g.UncommittedMin == g.UncommittedMax {
		return Thousands(g.UncommittedMax)
	}
	return Thousands(g.UncommittedMin) + " to " + Thousands(g.UncommittedMax)
}

func generationName(g *checkers.Generation) string {
	return generationNoun(g.Kind, 1) + " " + Thousands(g.Number)
}

// generationNoun is what a change of ownership is called.
func generationNoun(kind string, n int) string {
	one, many := words(kind), words(kind)
	switch kind {
	case checkers.KindRebalance:
		one, many = "generation", "generations"
	case checkers.KindExpiry:
		one, many = "expiry", "expiries"
	case checkers.KindChannel:
		one, many = "channel", "channels"
	}
	if n == 1 {
		return one
	}
	return many
}

func generationNote(kind string) string {
	switch kind {
	case checkers.KindRebalance:
		return "Outline: delivered and not certainly committed when its partitions were assigned, which is the most that may come again. Filled: what came again to the new owners. A range is of commits whose outcome is unknown."
	case checkers.KindExpiry:
		return "Outline: leases that ended without being settled, near each other in time. Filled: what of them came again. A range is of deletes whose outcome is unknown."
	}
	return "Outline: delivered and not certainly acked when the channel ended, at most its window. Filled: what of it came again. A range is of acks that nothing proves."
}

// generationsLead is the sum of all in one sentence.
func generationsLead(r *checkers.Result) string {
	n, beyond := len(r.Generations), r.Counts["redelivered-beyond-uncommitted"]
	kind := r.Generations[0].Kind
	text := fmt.Sprintf("%s %s: %s came again where at most %s might.", Thousands(max(r.Counts["generations"], int64(n))), generationNoun(kind, n),
		Thousands(r.Counts["generations.redelivered"]), Thousands(r.Counts["generations.uncommitted"]))
	if beyond > 0 {
		return text + " " + plural64(beyond, "of them was", "of them were") + " not within the bound."
	}
	return text + " Every one was within its bound."
}

// markdownGenerations are at most few of a run, where most came again.
func markdownGenerations(r *checkers.Result, few int) []string {
	if len(r.Generations) == 0 {
		return nil
	}
	worst := slices.Clone(r.Generations)
	slices.SortStableFunc(worst, func(a, b checkers.Generation) int {
		return cmp.Or(cmp.Compare(b.Beyond, a.Beyond), cmp.Compare(b.Redelivered, a.Redelivered))
	})
	lines := []string{"", escapeMarkdown(generationsLead(r)), "", "| | at, s | uncommitted | came again | beyond | longest gap |", "|---|---|---|---|---|---|"}
	for i := range worst[:min(few, len(worst))] {
		row := newGenerationRow(&worst[i])
		lines = append(lines, fmt.Sprintf("| %s | %s | %s | %s | %s | %s |", escapeMarkdown(row.Name), row.At, row.Bound, row.Again, row.Beyond, row.Gap))
	}
	return lines
}
