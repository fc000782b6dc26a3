// SPDX-License-Identifier: Apache-2.0

package history

// Run is a recorded run, to be read any number of times, also concurrently.
type Run struct {
	// Header is the manifest.
	Header Header
	// Integrity says what of the record is missing or doubtful.
	Integrity Integrity

	names [Tables][]string
	tasks []string
	parts [][]Event
}

// Name is the text that an event's reference stands for; one out of range is "".
func (r *Run) Name(table Table, ref uint32) string {
	if texts := r.Names(table); int(ref) < len(texts) {
		return texts[ref]
	}
	return ""
}

// Names lists a table by number; the first is the empty text. It must not be changed.
func (r *Run) Names(table Table) []string {
	if table < Tables {
		return r.names[table]
	}
	return nil
}

// Tasks lists the names of the tasks by number (Event.Task). It must not be changed.
func (r *Run) Tasks() []string { return r.tasks }

// Each calls observe for every event of the kinds asked for, merged over all tasks by
// time, then by task number; events of one task keep their order. The event is valid
// during the call only and must not be changed. Blocks without those kinds are not
// decoded. The error is one of reading; what is known to be missing is in Integrity.
func (r *Run) Each(kinds KindSet, observe func(*Event)) error {
	heads := make([]int, len(r.parts))
	for {
		best := -1
		for i, part := range r.parts {
			if heads[i] < len(part) && (best < 0 || part[heads[i]].T < r.parts[best][heads[best]].T) {
				best = i
			}
		}
		if best < 0 {
			return nil
		}
		if e := &r.parts[best][heads[best]]; kinds.Has(e.Kind) {
			observe(e)
		}
		heads[best]++
	}
}

// Run reads a recording in memory after Close. It panics for one in a directory, which is
// read by Open.
func (r *Recording) Run() *Run {
	if r.dir != "" {
		panic("history: Run of a recording in " + r.dir + ": use Open")
	}
	run := &Run{Header: r.header, names: r.names.texts}
	for _, s := range r.segments {
		run.tasks = append(run.tasks, s.task)
		run.parts = append(run.parts, s.events)
		run.Integrity.Events += int64(len(s.events))
	}
	return run
}
