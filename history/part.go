// SPDX-License-Identifier: Apache-2.0

package history

// part is one segment as it is read: its sealed blocks, and the events of the one that
// was open.
type part struct {
	closed   bool // it has its footer
	head     head
	path     string // of its file
	blocks   []blockRef
	payloads [][]byte // of the blocks, of a recording in memory
	tail     []Event
	refs     *references
	task     uint16
}

// blockRef tells where a sealed block is, and whether it is worth decoding.
type blockRef struct {
	at    int64 // of its payload in the file
	size  int32
	rows  int32
	kinds KindSet
	first int64 // time of its first event
}

func (p *part) events() int64 {
	n := int64(len(p.tail))
	for _, b := range p.blocks {
		n += int64(b.rows)
	}
	return n
}

func (p *part) has(kinds KindSet) bool {
	for _, b := range p.blocks {
		if b.kinds&kinds != 0 {
			return true
		}
	}
	return len(p.tail) > 0
}

// references turn the numbers of names that another process gave into those of the run.
type references [Tables][]uint32

// rename does it in place. A number that has no name becomes 0.
func (r *references) rename(events []Event) {
	if r == nil {
		return
	}
	for i := range events {
		e := &events[i]
		e.Session = r.of(Sessions, e.Session)
		e.Place = r.of(Places, e.Place)
		e.Key = r.of(Keys, e.Key)
		e.Text = r.of(Texts, e.Text)
	}
}

func (r *references) of(table Table, ref uint32) uint32 {
	if int(ref) < len(r[table]) {
		return r[table][ref]
	}
	return 0
}
