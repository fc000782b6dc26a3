// SPDX-License-Identifier: Apache-2.0

// Package checkers judges a recorded history: streaming folds that count facts, and
// claims that decide which facts are violations.
//
//	history.Run --Each--> Judge --> Checker ... --> Facts --> judge --> Result
//
// The Judge puts the events of one instant into a possible order (ties.go), joins each
// with what it is about (case.go: the message, the hold, the session), pairs an extra
// delivery with its cause (pair.go), shows this Moment to the checkers that asked for its
// kind, and only then brings the Case up to date (apply.go). So a checker sees the state
// before the event, and none depends on another.
//
// A checker counts every anomaly with ids and evidence, whatever is claimed; an anomaly is
// a Row of one table (row.go). Claims and expectations are judged afterwards, from the
// facts alone (claims.go, expect.go), and a pass must have teeth (teeth.go): a claim whose
// exposure is zero, whose fault never was active or whose drain did not end is
// inconclusive. Positive evidence is a violation even in an incomplete run.
//
// A message that went as everything should is forgotten but for its place in a count
// (pages.go), a delivery once nothing more can happen to it (hold.go): memory follows what
// is outstanding or anomalous.
//
// A new checker is one file with a type that has the four methods of Checker, one line in
// All, and a row for each anomaly. Results (result.go) is what results.json holds and all
// that a report reads.
package checkers
