// SPDX-License-Identifier: Apache-2.0

package checkers

// pageSize is how many ids share a page. A page whose ids are all clean costs 8 bytes.
const pageSize = 1024

const (
	// farAhead bounds how many pages one id can open: an id far beyond all others is kept
	// by itself, so that a wild sequence number costs nothing.
	farAhead = 4096
	// fewOdd is how many messages that are not clean may move out of an old page.
	fewOdd = pageSize / 16
)

// pages keeps the messages of one producer in one subscription. A message that went as
// everything should is reduced to the clean one, and a page of clean messages collapses,
// so that memory follows what is outstanding or anomalous. An old page with few messages
// that are not clean moves those into a map and collapses too.
type pages struct {
	clean   message
	list    []*page
	sparse  map[uint64]message // of collapsed pages: what is not clean
	far     map[uint64]message // beyond farAhead
	memory  *memory
	scratch message
}

type page struct {
	at    [pageSize]message
	used  uint64 // messages from here on are not known
	clean int
}

func (pg *page) reset() {
	clear(pg.at[:pg.used])
	pg.used, pg.clean = 0, 0
}

// edit gives a message to be changed; busy says that it was not clean.
func (pg *page) edit(k uint64) (m *message, busy bool) {
	pg.used = max(pg.used, k+1)
	m = &pg.at[k]
	if m.is(isClean) {
		pg.clean--
		m.marks &^= isClean
		return m, false
	}
	return m, true
}

// folded stands in a list for a page that collapsed. It is never changed.
var folded = new(page)

func newPages(clean message, memory *memory) *pages {
	return &pages{clean: clean, memory: memory, sparse: map[uint64]message{}, far: map[uint64]message{}}
}

func (p *pages) empty() bool { return len(p.list) == 0 && len(p.far) == 0 }

// get is what is known of a message.
func (p *pages) get(seq uint64) message {
	i := seq / pageSize
	switch {
	case i >= uint64(len(p.list)) || p.list[i] == nil:
		return p.far[seq]
	case p.list[i] != folded:
		return p.list[i].at[seq%pageSize]
	}
	if m, odd := p.sparse[seq]; odd {
		return m
	}
	return p.clean
}

// edit gives a message to be changed. keep must follow before the next edit, unless the
// message is busy: then it may be left as it is changed.
func (p *pages) edit(seq uint64) (m *message, busy bool) {
	if i := seq / pageSize; i < uint64(len(p.list)) && p.list[i] != nil && p.list[i] != folded {
		return p.list[i].edit(seq % pageSize)
	}
	return p.editRare(seq)
}

func (p *pages) editRare(seq uint64) (m *message, busy bool) {
	i := seq / pageSize
	_, strayed := p.far[seq]
	collapsed := i < uint64(len(p.list)) && p.list[i] == folded
	if collapsed || strayed || i > uint64(len(p.list))+farAhead {
		p.scratch = p.get(seq)
		p.scratch.marks &^= isClean
		return &p.scratch, false
	}
	for uint64(len(p.list)) <= i {
		p.list = append(p.list, nil)
	}
	p.list[i] = p.memory.page()
	p.revisit(i, 2)
	p.revisit(i, 16)
	return p.list[i].edit(seq % pageSize)
}

// keep takes a message back; clean says that it went as everything should.
func (p *pages) keep(seq uint64, m *message, clean bool) {
	i := seq / pageSize
	switch {
	case m != &p.scratch:
		if clean {
			*m = p.clean
			p.list[i].clean++
			p.fold(i)
		}
	case i >= uint64(len(p.list)) || p.list[i] != folded:
		p.far[seq] = *m
	case clean:
		delete(p.sparse, seq)
	default:
		p.sparse[seq] = *m
	}
}

// revisit folds a page some way behind a new one: what kept it open may be over.
func (p *pages) revisit(i, behind uint64) {
	if i >= behind && p.list[i-behind] != nil && p.list[i-behind] != folded {
		p.fold(i - behind)
	}
}

// fold collapses a page that is clean, or old and nearly so.
func (p *pages) fold(i uint64) {
	pg := p.list[i]
	old := i+2 < uint64(len(p.list))
	if pg.clean < pageSize && !(old && pg.clean >= pageSize-fewOdd) {
		return
	}
	if pg.clean < pageSize {
		for k := range pg.at {
			if !pg.at[k].is(isClean) {
				p.sparse[i*pageSize+uint64(k)] = pg.at[k]
			}
		}
	}
	p.list[i] = folded
	p.memory.pages = append(p.memory.pages, pg)
}

// each calls visit for every message that is known and not clean, in order of sequence
// number, and returns how many are clean.
func (p *pages) each(visit func(seq uint64, m *message)) (clean int64) {
	odd := sortedKeys(p.sparse)
	for i, pg := range p.list {
		switch first := uint64(i) * pageSize; pg {
		case nil:
		case folded:
			clean += pageSize
			for len(odd) > 0 && odd[0] < first+pageSize {
				clean--
				p.scratch = p.sparse[odd[0]]
				visitKnown(odd[0], &p.scratch, visit)
				odd = odd[1:]
			}
		default:
			clean += int64(pg.clean)
			for k := range pg.at[:pg.used] {
				if !pg.at[k].is(isClean) {
					visitKnown(first+uint64(k), &pg.at[k], visit)
				}
			}
		}
	}
	for _, seq := range sortedKeys(p.far) {
		p.scratch = p.far[seq]
		visitKnown(seq, &p.scratch, visit)
	}
	return clean
}

func visitKnown(seq uint64, m *message, visit func(seq uint64, m *message)) {
	if *m != (message{}) {
		visit(seq, m)
	}
}
