// SPDX-License-Identifier: Apache-2.0

// Package reports renders results: to a terminal, HTML, Markdown, JUnit and JSON, one
// file each, from results.json alone. Nothing here decides anything: a verdict, a count
// or a sentence that is not in the results is not in a report. What was not measured is
// shown as not measured, and where there is nothing to draw it is said in words.
//
// Whatever came from a message, a broker or a workload is escaped where it is shown. A
// report loads nothing from a network. One result gives one text, byte for byte.
//
// The HTML page is made in two steps. Go code works out what is shown and where (views:
// run.go, suite.go, timeline.go, lifeline.go and the other charts, each a file); the
// templates in assets write it, and they alone write markup, so that nothing is escaped
// by hand. Charts are SVG with x in per cent and y in pixels: scale.go and pen.go. The
// script in assets adds a cursor, zoom and filters to a page that is complete without it.
//
// A new format is one file and one line in Formats; a new chart is a view, a template
// and a line in run.html. Read html.go next.
package reports
