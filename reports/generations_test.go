// SPDX-License-Identifier: Apache-2.0

package reports

import (
	"strings"
	"testing"

	"github.com/seed-720a3c77/harness/checkers"
)

// owned is a run with so many changes of ownership.
func owned(all ...checkers.Generation) *checkers.Result {
	r := base("storm", "", "kafka")
	r.Generations = all
	return &r
}

func TestGenerations(t *testing.T) {
	if v := newGenerations(owned()); len(v.Rows) > 0 || v.Lead != "" {
		t.Errorf("without any: %+v", v)
	}
	quiet := newGenerations(owned(checkers.Generation{Kind: checkers.KindRebalance, Number: 1, GapNs: -1}))
	if quiet.Panel.Empty == "" || len(quiet.Rows) != 1 || quiet.Rows[0].Gap != none || len(quiet.Bars) != 0 {
		t.Errorf("nothing uncommitted: %+v", quiet)
	}
	g := checkers.Generation{Kind: checkers.KindRebalance, Number: 7, AtNs: sec, Partitions: 6, Moved: 2, UncommittedMin: 3, UncommittedMax: 4, Redelivered: 6, Beyond: 2}
	v := newGenerations(owned(g))
	row := generationRow{Name: "generation 7", At: "1.0000", Members: "0", Assigned: "6, 2 moved", Bound: "3 to 4", Again: "6", Beyond: "2", Late: "0", Gap: "0 ms", Bad: true}
	row.Gap = elapsed(0)
	if v.Rows[0] != row {
		t.Errorf("row %+v, want %+v", v.Rows[0], row)
	}
	// 110 pixels hold 8: the bound 4 of them, what came again within it the same, the rest above.
	bar := generationBar{X: v.Bars[0].X, Title: v.Bars[0].Title, Bound: barView{"-3", "55", "6", "55"}, Again: barView{"-1.5", "55", "3", "55"}, Beyond: barView{"-3", "27.5", "6", "27.5"}}
	if v.Bars[0] != bar {
		t.Errorf("bar %+v, want %+v", v.Bars[0], bar)
	}
}

// TestManyGenerations: the table is bounded, the drawing has all of them with thin bars.
func TestManyGenerations(t *testing.T) {
	var all []checkers.Generation
	for i := range int64(1000) {
		all = append(all, checkers.Generation{Kind: checkers.KindChannel, Number: i + 1, AtNs: i * sec, UncommittedMax: 10, Redelivered: 10})
	}
	v := newGenerations(owned(all...))
	if len(v.Rows) != shownGenerations || len(v.Bars) != 1000 || v.Bars[0].Bound.Width != "3" || !strings.HasPrefix(v.More, "900 more") {
		t.Errorf("%d rows, %d bars %s wide, more %q", len(v.Rows), len(v.Bars), v.Bars[0].Bound.Width, v.More)
	}
	if lines := markdownGenerations(owned(all...), 8); len(lines) != 13 {
		t.Errorf("%d lines of markdown", len(lines))
	}
}
