// SPDX-License-Identifier: Apache-2.0

// Package history is the record of a run: fixed-size events, a crash-safe file to write
// them to, and a reader that merges the segments of all tasks by time.
//
// A run is one directory:
//
//	manifest.json   Header: versions, profile, workload as run, seed, host, claims
//	names.seg       interned texts, each written before the first event that uses it
//	NNN-task.seg    one segment a task: framed columnar blocks with checksums
//	results.json    written by checkers, read by reports
//
// What is missing at the end of a segment is unknown, never lost. The codec is described
// in schema.proto beside this file, so that a history can be read in any language.
package history
