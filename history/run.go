// SPDX-License-Identifier: Apache-2.0

package history

// Run is a recorded run, to be read any number of times, also concurrently.
type Run struct {
	// Header is the manifest.
	Header Header
	// Integrity says what of the record is missing or doubtful.
	Integrity Integrity

	memory *Memory // nil unless it was recorded in one
	names  [Tables][]string
	tasks  []string
	parts  []part
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

// Run reads a recording in memory after Close. It panics for one in a directory, which is
// read by Open.
func (r *Recording) Run() *Run {
	if r.dir != "" {
		panic("history: Run of a recording in " + r.dir + ": use Open")
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	run := &Run{Header: r.header, memory: r.memory, names: r.names.texts}
	for _, s := range r.segments {
		run.add(part{head: s.head, blocks: s.blocks, payloads: s.payloads, tail: s.slots[:s.n]})
		run.Integrity.note(Finding{Task: s.head.task, Missing: int64(s.dropped)})
	}
	return run
}

// add numbers a part; those of the creating process keep their numbers.
func (r *Run) add(p part) {
	p.task = uint16(len(r.parts))
	r.tasks = append(r.tasks, p.head.task)
	r.parts = append(r.parts, p)
	r.Integrity.Events += p.events()
}
