// SPDX-License-Identifier: Apache-2.0

package inmem

import (
	"slices"

	"github.com/seed-720a3c77/harness/broker"
)

// shelf is a buffer that all claims of a client share, each of which puts its records in by a
// task of its own. One that goes on fills it until it is full; then each that has more waits with
// one record, and those come first when there is room. What a claim has put stays there when it
// ends, is passed over, and takes room until then.
//
// So a consumer that is behind is handed a batch of one partition, later ones of one record of
// each and the rest of one, and one record of each when it was busy during a rebalance.
//
// A nil shelf is that of a client whose consumer is handed one partition after another.
type shelf struct {
	room  int
	queue []shelved
	// waiting have a record for the next room, in order; running is who puts in after them.
	waiting []*claim
	running *claim
	// called: the consumer waited and was woken.
	called bool
}

// shelved is the next record of a claim.
type shelved struct {
	of  *claim
	era int
}

// drop makes what is of a claim a thing of the past.
func (s *shelf) drop(cl *claim) {
	if s == nil {
		return
	}
	cl.shelved = 0
	cl.era++
	s.waiting = slices.DeleteFunc(s.waiting, func(other *claim) bool { return other == cl })
	if s.running == cl {
		s.running = nil
	}
}

func (s *shelf) put(cl *claim) {
	s.queue = append(s.queue, shelved{cl, cl.era})
	cl.shelved++
}

// admit lets who waits put in what there is room for.
func (s *shelf) admit() {
	for len(s.queue) < s.room && len(s.waiting) > 0 {
		cl := s.waiting[0]
		s.waiting = slices.Delete(s.waiting, 0, 1)
		if cl.more() {
			s.put(cl)
		}
	}
}

// receiveShared hands out what the claims have put. Who waited for it is given what the first of
// them has, before the others come to it.
func (c *logConsumer) receiveShared(into []broker.Delivery) (n int) {
	s := c.shelf
	s.called = false
	for n < len(into) && len(s.queue) > 0 {
		next := s.queue[0]
		s.queue = slices.Delete(s.queue, 0, 1)
		s.admit()
		if cl := next.of; next.era == cl.era {
			cl.shelved--
			n += cl.take(into[n : n+1])
		}
	}
	if n == 0 && c.runs() {
		for first := s.running; n < len(into) && first.more(); {
			n += first.take(into[n : n+1])
		}
	}
	c.stock()
	return n
}

// arrived lets a claim put in what has come while nobody waits for it, or is about to take it.
func (c *logConsumer) arrived() {
	if c.shelf != nil && !c.waiting && !c.shelf.called {
		c.stock()
	}
}

// stock fills the shelf as far as the claims can. If it is full, those that have more wait; who
// begins to do so, in any order.
func (c *logConsumer) stock() {
	s := c.shelf
	s.admit()
	for len(s.queue) < s.room && c.runs() {
		s.put(s.running)
	}
	if len(s.queue) < s.room {
		return
	}
	s.running = nil
	able := slices.DeleteFunc(c.able(), func(cl *claim) bool { return slices.Contains(s.waiting, cl) })
	for len(able) > 0 {
		i := c.m.choose(len(able))
		s.waiting = append(s.waiting, able[i])
		able = slices.Delete(able, i, i+1)
	}
}

// runs tells whether some claim can put something in, which is the running one then.
func (c *logConsumer) runs() bool {
	s := c.shelf
	if s.running != nil && s.running.more() {
		return true
	}
	able := c.able()
	if len(able) > 0 {
		s.running = able[c.m.choose(len(able))]
	}
	return len(able) > 0
}

// able are the claims that have more.
func (c *logConsumer) able() []*claim {
	var all []*claim
	for _, cl := range c.claims {
		if cl.more() {
			all = append(all, cl)
		}
	}
	return all
}

func (m *Machine) choose(of int) int {
	if m.pick == nil {
		return 0
	}
	return m.pick(of)
}
