// SPDX-License-Identifier: Apache-2.0

// Package reports renders results: to a terminal, HTML, Markdown, JUnit and JSON, one
// file each, from results.json alone. Nothing here decides anything: a verdict, a count
// or a sentence that is not in the results is not in a report.
//
// Whatever came from a message, a broker or a workload is escaped where it is shown. A
// report loads nothing from a network. A new format is one file and one line in Formats.
package reports
