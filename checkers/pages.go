// SPDX-License-Identifier: Apache-2.0

package checkers

// pageSize is how many ids share a page. A page whose ids are all clean costs 8 bytes.
const pageSize = 1024

// farAhead bounds how many pages one id can open: an id far beyond all others is kept by
// itself, so that a wild sequence number costs nothing.
const farAhead = 4096

// pages keeps a small value for each of a dense range of sequence numbers. A value equal
// to clean needs no memory of its own once its whole page is clean: the page collapses,
// so that memory follows what is outstanding or anomalous. A page that is old and mostly
// clean moves the rest into a map and collapses too.
//
// The zero value of T stands for an id that was never touched.
type pages[T comparable] struct {
	clean    T
	list     []*page[T]
	sparse   map[uint64]T // of collapsed pages: what is not clean
	far      map[uint64]T // beyond farAhead
	free     []*page[T]
	collapse *page[T] // stands in list for a page that collapsed
}

type page[T comparable] struct {
	at    [pageSize]T
	clean int
}

func newPages[T comparable](clean T) *pages[T] {
	return &pages[T]{clean: clean, sparse: map[uint64]T{}, far: map[uint64]T{}, collapse: new(page[T])}
}

func (p *pages[T]) get(seq uint64) T {
	i := seq / pageSize
	if i >= uint64(len(p.list)) || p.list[i] == nil {
		return p.stray(seq)
	}
	if p.list[i] != p.collapse {
		return p.list[i].at[seq%pageSize]
	}
	if v, found := p.sparse[seq]; found {
		return v
	}
	return p.clean
}

func (p *pages[T]) stray(seq uint64) T {
	if len(p.far) == 0 {
		var none T
		return none
	}
	return p.far[seq]
}

func (p *pages[T]) put(seq uint64, v T) {
	i := seq / pageSize
	if _, strayed := p.far[seq]; strayed || i > uint64(len(p.list))+farAhead {
		p.far[seq] = v
		return
	}
	for uint64(len(p.list)) <= i {
		p.list = append(p.list, nil)
	}
	if p.list[i] == p.collapse {
		p.putSparse(seq, v)
		return
	}
	if p.list[i] == nil {
		p.list[i] = p.fresh()
	}
	p.putPage(i, seq, v)
}

func (p *pages[T]) putSparse(seq uint64, v T) {
	if v == p.clean {
		delete(p.sparse, seq)
		return
	}
	p.sparse[seq] = v
}

func (p *pages[T]) putPage(i, seq uint64, v T) {
	pg := p.list[i]
	slot := &pg.at[seq%pageSize]
	if v != p.clean {
		if *slot == p.clean {
			pg.clean--
		}
		*slot = v
		return
	}
	if *slot != p.clean {
		pg.clean++
	}
	*slot = v
	old := i+2 < uint64(len(p.list))
	if pg.clean == pageSize || old && pg.clean >= pageSize-pageSize/16 {
		p.fold(i)
	}
}

// fold collapses a page.
func (p *pages[T]) fold(i uint64) {
	pg := p.list[i]
	if pg.clean < pageSize {
		for k, v := range pg.at {
			if v != p.clean {
				p.sparse[i*pageSize+uint64(k)] = v
			}
		}
	}
	p.list[i] = p.collapse
	p.free = append(p.free, pg)
}

func (p *pages[T]) fresh() *page[T] {
	n := len(p.free)
	if n == 0 {
		return new(page[T])
	}
	pg := p.free[n-1]
	p.free = p.free[:n-1]
	*pg = page[T]{}
	return pg
}

// each calls visit for every value that is not clean, in order of sequence number, and
// returns how many are clean.
func (p *pages[T]) each(visit func(seq uint64, v T)) (clean int64) {
	odd := sortedKeys(p.sparse)
	for i, pg := range p.list {
		switch first := uint64(i) * pageSize; pg {
		case nil:
		case p.collapse:
			clean += pageSize
			for len(odd) > 0 && odd[0] < first+pageSize {
				clean--
				visit(odd[0], p.sparse[odd[0]])
				odd = odd[1:]
			}
		default:
			clean += p.eachOf(pg, first, visit)
		}
	}
	for _, seq := range sortedKeys(p.far) {
		visit(seq, p.far[seq])
	}
	return clean
}

func (p *pages[T]) eachOf(pg *page[T], first uint64, visit func(seq uint64, v T)) (clean int64) {
	var none T
	for k, v := range pg.at {
		switch v {
		case none:
		case p.clean:
			clean++
		default:
			visit(first+uint64(k), v)
		}
	}
	return clean
}

func (p *pages[T]) empty() bool { return len(p.list) == 0 && len(p.far) == 0 }
