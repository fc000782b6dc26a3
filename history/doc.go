// SPDX-License-Identifier: Apache-2.0

// Package history is the record of a run: fixed-size events, a crash-safe file to write
// them to, and a reader that merges the segments of all tasks by time.
//
// A run is one directory:
//
//	manifest.json   Header: versions, profile, workload as run, seed, host, claims
//	names.seg       interned texts, each written before the first event that uses it
//	NNN-task.seg    one segment a task: framed columnar blocks with checksums
//	NNN-task.open   its open block: there while the run goes on, or after a crash
//	results.json    written by checkers, read by reports
//
// A Recording makes it. Each task appends to its own Segment; other processes Attach
// with names and segments of their own. Open reads it, also while it is being written
// and after a crash, and Run.Each hands the events to checkers in one pass.
//
//	r, err := history.Create(dir, header)        run, err := history.Open(dir)
//	s, err := r.Segment("billing/0")             err = run.Each(kinds, func(e *history.Event) {
//	s.Append(&history.Event{...})                    run.Name(history.Keys, e.Key)
//	err = r.Close()                              })
//
// A process that is killed loses no event that was appended: the open block is memory
// that is shared with a file. A machine that loses power may lose what its kernel had not
// written; Integrity then says how much at most. What is missing is unknown, never lost.
//
// The format is described in schema.proto beside this file, so that a history can be read
// in any language; Export and Import are its JSON Lines form (json_form.go).
package history
