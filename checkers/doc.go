// SPDX-License-Identifier: Apache-2.0

// Package checkers judges a recorded history: streaming folds that count facts, and
// claims that decide which facts are violations.
//
// A checker counts every anomaly with ids and evidence, whatever is claimed. Claims and
// expectations are judged afterwards, from the facts alone, and a pass must have teeth:
// a claim whose exposure is zero, whose fault never was active or whose drain did not
// end is inconclusive. Positive evidence is a violation even in an incomplete run.
//
// Results (result.go) is what results.json holds and all that a report reads.
package checkers
