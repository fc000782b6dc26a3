// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"io"

	"github.com/seed-720a3c77/harness/explore"
	"github.com/seed-720a3c77/harness/reports"
)

// spacetime hands a drawing to those who make a page of it.
func spacetime(title, about, replay string, d *explore.Drawing) *reports.Spacetime {
	s := &reports.Spacetime{Title: title, About: about, Replay: replay, Lanes: d.Lanes, Left: d.Left}
	for _, m := range d.Marks {
		s.Marks = append(s.Marks, reports.SpacetimeMark(m))
	}
	return s
}

func writeSpacetime(path string, s *reports.Spacetime) error {
	err := replaceFile(path, func(w io.Writer) error { return reports.SpacetimeHTML(w, s) })
	if err != nil {
		return fmt.Errorf("drawing: %w", err)
	}
	return nil
}
