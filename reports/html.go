// SPDX-License-Identifier: Apache-2.0

package reports

import (
	"crypto/sha256"
	"embed"
	"encoding/base64"
	"fmt"
	"html/template"
	"io"
	"io/fs"
	"strings"

	"github.com/seed-720a3c77/harness/checkers"
)

//go:embed assets
var assets embed.FS

// pageView is the whole file. A single run stands alone; otherwise the suite is the
// page, and each run a page of its own that its address shows.
type pageView struct {
	Title string
	Style template.CSS
	// Script is ours; Policy allows it by its hash and nothing else.
	Script template.JS
	Policy string
	Tool   string

	Single bool
	Suite  suiteView
	Runs   []runView
}

// HTML writes one self-contained page: it loads nothing, and everything but the comfort
// of a cursor, zoom and filters is there without script.
func HTML(w io.Writer, results *checkers.Results) error {
	page, err := newPage(results)
	if err != nil {
		return fmt.Errorf("html: %w", err)
	}
	pages, err := template.New("page.html").Funcs(functions()).ParseFS(assets, "assets/*.html")
	if err != nil {
		return fmt.Errorf("html: %w", err)
	}
	if err := pages.Execute(w, page); err != nil {
		return fmt.Errorf("html: %w", err)
	}
	return nil
}

func newPage(results *checkers.Results) (*pageView, error) {
	style, err := fs.ReadFile(assets, "assets/report.css")
	if err != nil {
		return nil, err
	}
	script, err := fs.ReadFile(assets, "assets/report.js")
	if err != nil {
		return nil, err
	}
	anchors := anchorsOf(results)
	page := &pageView{
		Style: template.CSS(style), Script: template.JS(script), Policy: policy(script), Tool: results.Tool,
		Single: len(results.Runs) == 1 && len(results.NotRun) == 0,
	}
	page.Suite = newSuite(results, anchors)
	for i := range results.Runs {
		run := newRun(&results.Runs[i], anchors[i])
		run.Single = page.Single
		page.Runs = append(page.Runs, run)
	}
	page.Title = page.Suite.State.Word + ": " + page.Suite.Title
	if page.Single {
		page.Title = page.Runs[0].State.Word + ": " + rowName(results.Runs[0].Workload, results.Runs[0].Variant) + " on " + page.Runs[0].On
	}
	return page, nil
}

// policy forbids a page to load or run anything but what is in it.
func policy(script []byte) string {
	sum := sha256.Sum256(script)
	return "default-src 'none'; img-src data:; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'; script-src 'sha256-" +
		base64.StdEncoding.EncodeToString(sum[:]) + "'"
}

// anchorsOf gives every run an address on the page, made of plain letters alone.
func anchorsOf(results *checkers.Results) []string {
	var all []string
	seen := map[string]bool{}
	for i := range results.Runs {
		anchor := "run-" + slug(results.Runs[i].Run)
		if seen[anchor] || anchor == "run-" {
			anchor += "-" + itoa(i)
		}
		seen[anchor] = true
		all = append(all, anchor)
	}
	return all
}

// slug keeps letters and digits; everything else is a dash.
func slug(text string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r >= 'a' && r <= 'z', r >= '0' && r <= '9':
			return r
		case r >= 'A' && r <= 'Z':
			return r + 'a' - 'A'
		}
		return '-'
	}, text)
}

// functions are what a template may compute.
func functions() template.FuncMap {
	return template.FuncMap{
		"add":         func(a, b int) int { return a + b },
		"short":       func(v float64) string { return decimals(v, 4) },
		"head":        section,
		"ledgerAside": ledgerAside,
		"colors":      func() []int { return []int{0, 1, 2, 3, 4, 5, 6, 7} },
		"rangeName":   func(i int) string { return [...]string{"Least", "p5", "Median", "p95", "Most"}[i] },
	}
}

// heading is the top of a section.
type heading struct{ ID, Title, Lead, Aside string }

// section is called by templates: anchor, name, title, lead, what stands beside it.
func section(anchor, name, title, lead, aside string) heading {
	id := anchor
	if name != "" {
		id += "-" + name
	}
	return heading{id, title, lead, aside}
}

func ledgerAside(balanced bool, sheets int) string {
	switch {
	case sheets == 0:
		return ""
	case balanced:
		return plural(sheets, "balance", "balances") + ", no remainder"
	}
	return "does not balance"
}
