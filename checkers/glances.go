// SPDX-License-Identifier: Apache-2.0

package checkers

const (
	glanceSize = 4096
	// glanceAcked is set in the byte of an id that was acked. Below it is how often its
	// work was done, up to glanceTimes.
	glanceAcked = 0x80
	glanceTimes = 0x7f
	// glanceStands marks a number of times as all that there are, not as more of them.
	glanceStands = 0x80
	glanceOnce   = glanceAcked | 1
	// fewGlances may move out of an old page, if all others were acked and done once.
	fewGlances = glanceSize / 16
)

// glances are the messages of a producer in a subscription. A page whose messages were all
// acked and done once costs a pointer, an old page that is nearly so a map's entries more.
type glances struct {
	pages []*glancePage
	odd   map[uint64]uint8 // of pages that are folded
	free  []*glancePage
}

type glancePage struct {
	at   [glanceSize]uint8
	once int // acked and done once
}

// glanceFolded stands for a page that is folded. It is never changed.
var glanceFolded = new(glancePage)

// change adds that an id was acked, or that its work was done: once more, or in all as
// often as its store says.
func (g *glances) change(seq uint64, acked, times uint8) {
	i, k := seq/glanceSize, seq%glanceSize
	if i >= uint64(len(g.pages)) || g.pages[i] == nil || g.pages[i] == glanceFolded {
		g.changeRare(seq, acked, times)
		return
	}
	p := g.pages[i]
	before := p.at[k]
	after := glanced(before, acked, times)
	p.at[k] = after
	if after == glanceOnce && before != glanceOnce {
		if p.once++; p.once == glanceSize {
			g.fold(i)
		}
	} else if before == glanceOnce && after != glanceOnce {
		p.once--
	}
}

func glanced(before, acked, times uint8) uint8 {
	done := before & glanceTimes
	switch {
	case times&glanceStands != 0:
		done = max(done, times&glanceTimes)
	case times > 0:
		done = min(done+1, glanceTimes)
	}
	return before&glanceAcked | acked | done
}

func (g *glances) changeRare(seq uint64, acked, times uint8) {
	i := seq / glanceSize
	if i < uint64(len(g.pages)) && g.pages[i] == glanceFolded {
		before, odd := g.odd[seq]
		if !odd {
			before = glanceOnce
		}
		g.keep(seq, glanced(before, acked, times))
		return
	}
	if i > uint64(len(g.pages))+farAhead {
		return // a wild number: nothing that was acked here
	}
	*slot(&g.pages, uint32(i)) = g.page()
	g.change(seq, acked, times)
	for _, behind := range []uint64{2, 16} {
		if i >= behind && g.pages[i-behind] != nil && g.pages[i-behind].once >= glanceSize-fewGlances {
			g.fold(i - behind)
		}
	}
}

// keep remembers what is odd of a folded page.
func (g *glances) keep(seq uint64, b uint8) {
	if b == glanceOnce {
		delete(g.odd, seq)
		return
	}
	if g.odd == nil {
		g.odd = map[uint64]uint8{}
	}
	g.odd[seq] = b
}

func (g *glances) page() *glancePage {
	n := len(g.free)
	if n == 0 {
		return new(glancePage)
	}
	p := g.free[n-1]
	g.free = g.free[:n-1]
	*p = glancePage{}
	return p
}

func (g *glances) fold(i uint64) {
	p := g.pages[i]
	if p.once < glanceSize {
		for k, b := range p.at {
			if b != glanceOnce {
				g.keep(i*glanceSize+uint64(k), b)
			}
		}
	}
	g.pages[i] = glanceFolded
	g.free = append(g.free, p)
}

func (g *glances) sum(sum *Glance) {
	for _, p := range g.pages {
		switch p {
		case nil:
		case glanceFolded:
			sum.Acked += glanceSize
		default:
			for _, b := range p.at {
				sum.add(b)
			}
		}
	}
	for _, b := range g.odd {
		sum.Acked--
		sum.add(b)
	}
}

func (s *Glance) add(b uint8) {
	if b&glanceAcked != 0 {
		s.Acked++
		if b&glanceTimes == 0 {
			s.Missing++
		}
	}
	if b&glanceTimes > 1 {
		s.Again++
	}
}
