// SPDX-License-Identifier: Apache-2.0

package reports

import (
	"strings"

	"github.com/seed-720a3c77/harness/checkers"
	"github.com/seed-720a3c77/harness/contract"
)

// gridView is the matrix: a row a variant, a column an engine, models shaded.
type gridView struct {
	Products []productView
	Columns  []columnView
	Rows     []gridRow
	// Mixed: there are models and brokers.
	Mixed bool
}

// productView spans the columns of one product.
type productView struct {
	Key, Name string
	Columns   int
}

type columnView struct {
	Engine        string
	Product, Kind string // keys of the filters
	Name, About   string
	Model         bool
}

type gridRow struct {
	Workload, Variant, About string
	Claims                   string
	Cells                    []gridCell
}

// gridCell is one run, or why there is none.
type gridCell struct {
	Column columnView
	State  state
	Anchor string // empty: no run to link to
	Facts  []fact
	Reason string
}

func newGrid(results *checkers.Results, m *matrix, anchors []string) gridView {
	var v gridView
	for _, engine := range m.engines {
		c := newColumn(results, engine)
		v.Columns = append(v.Columns, c)
		v.Mixed = v.Mixed || c.Model != v.Columns[0].Model
		if n := len(v.Products); n > 0 && v.Products[n-1].Key == c.Product {
			v.Products[n-1].Columns++
			continue
		}
		v.Products = append(v.Products, productView{c.Product, productName(c.Product), 1})
	}
	last := ""
	for _, row := range m.rows {
		g := newGridRow(results, m, anchors, row, v.Columns)
		if row.workload == last {
			g.About = ""
		}
		last = row.workload
		v.Rows = append(v.Rows, g)
	}
	return v
}

func newColumn(results *checkers.Results, engine string) columnView {
	c := columnView{Engine: engine, Product: productOf(engine), Kind: "broker", Name: "Broker", About: engine}
	if isModel(engine) {
		c.Kind, c.Name, c.Model = "model", "Model", true
	}
	for i := range results.Runs {
		if r := &results.Runs[i]; r.Engine == engine && r.Profile.Name != "" {
			c.About = columnAbout(r, c.Model)
			break
		}
	}
	return c
}

func columnAbout(r *checkers.Result, model bool) string {
	if model {
		return "profile " + r.Profile.Name
	}
	about := r.Engine
	if v := r.Versions[r.Profile.Product]; v != "" {
		about = strings.Replace(v, "localstack-", "LocalStack ", 1)
	}
	if r.Profile.Client != "" {
		about += ", " + r.Profile.Client
	}
	return about
}

func newGridRow(results *checkers.Results, m *matrix, anchors []string, row place, columns []columnView) gridRow {
	g := gridRow{Workload: row.workload, Variant: row.variant}
	for i, engine := range m.engines {
		key := cellKey{row, engine}
		cell := gridCell{Column: columns[i], State: stateNone}
		if at, ok := m.runs[key]; ok {
			r := &results.Runs[at]
			cell.State, cell.Anchor, cell.Facts = runState(r), anchors[at], cellFacts(r)
			if g.Claims == "" {
				g.About, g.Claims = r.About, claimNames(r)
			}
		} else if at, ok := m.not[key]; ok {
			n := &results.NotRun[at]
			cell.State, cell.Reason = stateOf(n.Verdict), n.Reason
			if n.Verdict == contract.NotApplicable {
				cell.Reason = shortReason(n.Reason)
			}
		}
		g.Cells = append(g.Cells, cell)
	}
	return g
}

func cellFacts(r *checkers.Result) []fact {
	facts := []fact{factLost.of(r), factRedelivered.of(r), factEffects.of(r), {"p99", handledP99(r), ""}}
	facts[1].Label, facts[2].Label = "redel.", "twice"
	return facts
}

func claimNames(r *checkers.Result) string {
	var names []string
	for i := range r.Claims {
		names = append(names, r.Claims[i].Name)
	}
	return strings.Join(names, ", ")
}

// shortReason is what a cell has room for: the clause before the explanation, without the
// name of the profile, which the column has already.
func shortReason(reason string) string {
	clause, _, _ := strings.Cut(reason, ": ")
	if first, rest, found := strings.Cut(clause, " has no "); found && !strings.Contains(first, " ") {
		return "No " + rest
	}
	return clause
}
