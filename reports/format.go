// SPDX-License-Identifier: Apache-2.0

package reports

import (
	"encoding/json"
	"errors"
	"io"

	"github.com/seed-720a3c77/harness/checkers"
	"github.com/seed-720a3c77/harness/internal/suggest"
)

// Format is one way to render results.
type Format struct {
	// Name is what --format takes.
	Name string
	Doc  string
	// File is its usual name beside results.json; "" goes to the terminal.
	File  string
	Write func(w io.Writer, results *checkers.Results) error
}

// Formats lists every format.
func Formats() []Format {
	return []Format{
		{"text", "the table of a terminal", "", Text},
		{"html", "one page to look at in a browser, with plots", "report.html", HTML},
		{"md", "at most 40 lines for a pull request", "report.md", Markdown},
		{"junit", "a test case for each claim and expectation", "junit.xml", JUnit},
		{"json", "the results themselves", "results.json", JSON},
	}
}

// Find returns the format of a name; the error names the nearest right one.
func Find(name string) (Format, error) {
	var names []string
	for _, f := range Formats() {
		if f.Name == name {
			return f, nil
		}
		names = append(names, f.Name)
	}
	return Format{}, errors.New(suggest.Unknown("format", name, names))
}

// JSON writes the results with stable indentation.
func JSON(w io.Writer, results *checkers.Results) error {
	e := json.NewEncoder(w)
	e.SetIndent("", "\t")
	return e.Encode(results)
}
