// SPDX-License-Identifier: Apache-2.0

// Package suite runs workloads on engines, one cell of the matrix after another, and
// judges each from its file:
//
//	workload x variant x engine -> plan -> run -> history -> check -> results.json
//
// A cell that cannot be shown is not applicable with the reason, one that failed is
// inconclusive with the error; neither hides the others.
package suite
