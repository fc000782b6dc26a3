// SPDX-License-Identifier: Apache-2.0

package checkers

import "slices"

// pageSize is how many ids share a page. A page whose ids are all clean costs nothing once
// all before it are.
const pageSize = 1024

const (
	// farAhead bounds how many pages one id can open: an id far beyond all others is kept
	// by itself, so that a wild sequence number costs nothing.
	farAhead = 4096
	// fewOdd is how many messages that are not clean may move out of an old page.
	fewOdd = pageSize / 16
	// A page that far behind a new one is old.
	oldPage = 16
	// exactOdd is how many messages of old pages are known exactly; of more, those that
	// nothing happens to any more are reduced to a number (leaf.go).
	exactOdd = 1 << 15
	// agedAtOnce bounds how many pages a new page looks at for that.
	agedAtOnce = 4
)

// pages keeps the messages of one producer in one subscription. A message that went as
// everything should is reduced to the clean one, and a page of clean messages is folded,
// so that memory follows what is outstanding or anomalous. An old page with few messages
// that are not clean moves those into a leaf and is folded too; one with many is folded
// when there are too many of them.
type pages struct {
	clean   message
	base    uint64 // pages before it are folded, and not in the list any more
	list    []*page
	leaves  map[uint64]*leaf   // of folded pages: what is not clean
	aging   []aging            // old pages with messages that are known exactly
	far     map[uint64]message // beyond farAhead
	memory  *memory
	sub     *subscription
	rest    func(*message) bool // whether nothing happens to a message any more; nil is never
	scratch message
}

// aging is a page whose messages may have to be known less exactly.
type aging struct {
	page uint64
	odd  int
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

// folded stands in a list for a page that is folded. It is never changed.
var folded = new(page)

func newPages(clean message, memory *memory) *pages {
	return &pages{clean: clean, memory: memory, leaves: map[uint64]*leaf{}, far: map[uint64]message{}}
}

func (p *pages) empty() bool { return p.end() == 0 && len(p.far) == 0 }

// end is the number of pages that there were ever.
func (p *pages) end() uint64 { return p.base + uint64(len(p.list)) }

// page is a page by its number: folded, or nil if there is none.
func (p *pages) page(i uint64) *page {
	switch {
	case i < p.base:
		return folded
	case i-p.base < uint64(len(p.list)):
		return p.list[i-p.base]
	}
	return nil
}

// get is what is known of a message.
func (p *pages) get(seq uint64) message {
	i := seq / pageSize
	switch pg := p.page(i); pg {
	case nil:
		return p.far[seq]
	case folded:
		return p.getFolded(i, seq%pageSize)
	default:
		return pg.at[seq%pageSize]
	}
}

func (p *pages) getFolded(i, k uint64) message {
	if l := p.leaves[i]; l != nil {
		if m, odd := l.get(uint16(k), p.memory); odd {
			return m
		}
	}
	return p.clean
}

// edit gives a message to be changed. keep must follow before the next edit, unless the
// message is busy: then it may be left as it is changed.
func (p *pages) edit(seq uint64) (m *message, busy bool) {
	if i := seq/pageSize - p.base; i < uint64(len(p.list)) && p.list[i] != nil && p.list[i] != folded {
		return p.list[i].edit(seq % pageSize)
	}
	return p.editRare(seq)
}

func (p *pages) editRare(seq uint64) (m *message, busy bool) {
	i := seq / pageSize
	_, strayed := p.far[seq]
	if p.page(i) == folded || strayed || i > p.end()+farAhead {
		p.scratch = p.get(seq)
		p.scratch.marks &^= isClean
		return &p.scratch, false
	}
	for p.end() <= i {
		p.list = append(p.list, nil)
	}
	pg := p.memory.page()
	p.list[i-p.base] = pg
	p.revisit(i)
	return pg.edit(seq % pageSize)
}

// keep takes a message back; clean says that it went as everything should.
func (p *pages) keep(seq uint64, m *message, clean bool) {
	i := seq / pageSize
	switch {
	case m != &p.scratch:
		if clean {
			*m = p.clean
			pg := p.list[i-p.base]
			if pg.clean++; pg.clean == pageSize {
				p.fold(i)
			}
		}
	case p.page(i) != folded:
		p.far[seq] = *m
	default:
		p.keepFolded(i, uint16(seq%pageSize), m, clean)
	}
}

func (p *pages) keepFolded(i uint64, k uint16, m *message, clean bool) {
	l := p.leaves[i]
	if l == nil {
		if clean {
			return
		}
		l = new(leaf)
		p.leaves[i] = l
	}
	l.remove(k)
	if !clean {
		l.put(k, m)
		if l.packed && len(l.exact) > l.packAt {
			p.pack(l)
		}
	} else if l.empty() {
		delete(p.leaves, i)
	}
}

// revisit looks at pages some way behind a new one: what kept them open may be over.
func (p *pages) revisit(i uint64) {
	for _, behind := range [...]uint64{2, oldPage} {
		if i < behind {
			return
		}
		if pg := p.page(i - behind); pg != nil && pg != folded && pg.clean >= pageSize-fewOdd {
			p.fold(i - behind)
		}
	}
	p.age(i - oldPage)
	for len(p.list) > 0 && p.list[0] == folded {
		p.list = p.list[1:]
		p.base++
	}
}

// fold lets go of a page. What is not clean goes into a leaf.
func (p *pages) fold(i uint64) {
	pg := p.list[i-p.base]
	if pg.clean < pageSize {
		l := &leaf{exact: make([]oddMessage, 0, pageSize-pg.clean)}
		for k := range pg.at {
			if !pg.at[k].is(isClean) {
				l.put(uint16(k), &pg.at[k])
			}
		}
		p.leaves[i] = l
	}
	p.list[i-p.base] = folded
	p.memory.keepPage(pg)
}

// each calls visit for every message that is known and not clean, in order of sequence
// number, and returns how many are clean.
func (p *pages) each(visit func(seq uint64, m *message)) (clean int64) {
	for i := range p.end() {
		switch pg := p.page(i); pg {
		case nil:
		case folded:
			clean += pageSize - p.eachFolded(i, visit)
		default:
			clean += int64(pg.clean)
			for k := range pg.at[:pg.used] {
				if !pg.at[k].is(isClean) {
					visitKnown(i*pageSize+uint64(k), &pg.at[k], visit)
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

// eachFolded visits what is not clean of a folded page, and returns how many that are.
func (p *pages) eachFolded(i uint64, visit func(seq uint64, m *message)) int64 {
	l := p.leaves[i]
	if l == nil {
		return 0
	}
	odd := l.odd(p.memory)
	for _, k := range odd {
		p.scratch, _ = l.get(k, p.memory)
		visitKnown(i*pageSize+uint64(k), &p.scratch, visit)
	}
	return int64(len(odd))
}

func visitKnown(seq uint64, m *message, visit func(seq uint64, m *message)) {
	if *m != (message{}) {
		visit(seq, m)
	}
}

// age notes an old page, and packs the oldest ones while too much is known exactly.
func (p *pages) age(i uint64) {
	odd := 0
	if pg := p.page(i); pg != nil && pg != folded {
		odd = pageSize - pg.clean
	} else if l := p.leaves[i]; l != nil {
		odd = len(l.exact)
	}
	if odd == 0 || p.rest == nil {
		return
	}
	p.aging = append(p.aging, aging{i, odd})
	p.memory.exact += odd
	for range agedAtOnce {
		if p.memory.exact <= exactOdd || len(p.aging) < 2 {
			return
		}
		oldest := p.aging[0]
		p.aging = slices.Delete(p.aging, 0, 1)
		if p.ripen(oldest.page) {
			p.memory.exact -= oldest.odd
		} else {
			p.aging = append(p.aging, oldest)
		}
	}
}

// ripen packs a page, unless too many of its messages are still on their way.
func (p *pages) ripen(i uint64) bool {
	if pg := p.page(i); pg != nil && pg != folded {
		if p.onTheirWay(pg) > fewOdd {
			return false
		}
		p.fold(i)
	}
	if l := p.leaves[i]; l != nil {
		l.packed = true
		p.pack(l)
	}
	return true
}

func (p *pages) onTheirWay(pg *page) (n int) {
	for k := range pg.at[:pg.used] {
		if m := &pg.at[k]; !m.is(isClean) && !p.rest(m) {
			n++
		}
	}
	return n
}
