// SPDX-License-Identifier: Apache-2.0

// Package conformance holds the checkers to what is known: cases from the tests, issues
// and published runs of other projects, and defects planted in the reference engine.
//
// A case is one line of cases.jsonl: a history in the compact form of its kind and the
// verdict that its source gives. Every kind has one judge (kinds.go), which translates the
// history to native events where the native checkers can decide it, and states the rule of
// its source where that differs. Cases knows none of the lines: a file that others wrote
// is judged in the same way. Where this project decides otherwise on purpose, the
// difference is listed with its reason (deviations.go).
//
// Bugs is a table of planted defects, each with the workload in planted/ that shows it and
// exactly what must be found of it, with ids; without the defect nothing may be found.
//
// Run runs all of it and is what `harness selftest` prints. Rules can be taken away one at
// a time: whatever is taken, something must turn red.
package conformance
