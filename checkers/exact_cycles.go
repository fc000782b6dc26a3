// SPDX-License-Identifier: Apache-2.0

package checkers

import (
	"slices"

	"github.com/seed-720a3c77/harness/msg"
)

// cycles finds operations that depend on each other in a circle: by the order in which
// their writes stand (write-cycle), or by that and by who read what of whom (read-cycle).
// The order of writes counts only where the run asks for it by its setting "ww-deps":
// nothing isolates writes on a log, so that such circles are ordinary.
func cycles(a *analysis) (all []LogFinding) {
	g := newGraph()
	if a.c.header.Settings["ww-deps"] == "true" {
		a.writesFollow(g)
	}
	inWrites := map[*logOp]bool{}
	for _, circle := range g.circles() {
		for _, op := range circle {
			inWrites[op] = true
		}
		all = append(all, a.found(writeCycle, 0, msg.ID{}, circle...))
	}
	a.readsFollow(g)
	for _, circle := range g.circles() {
		if !slices.ContainsFunc(circle, func(op *logOp) bool { return inWrites[op] }) {
			all = append(all, a.found(readCycle, 0, msg.ID{}, circle...))
		}
	}
	return all
}

// writesFollow: who wrote what stands at an index goes before who wrote the next.
func (a *analysis) writesFollow(g *graph) {
	for _, place := range a.places {
		l := a.logs[place]
		for i := 1; i < len(l.offsets); i++ {
			g.link(a.writer[l.at(i-1)], a.writer[l.at(i)])
		}
	}
}

// readsFollow: a writer goes before those that read what it wrote.
func (a *analysis) readsFollow(g *graph) {
	for _, op := range a.ops {
		for _, r := range op.reads {
			g.link(a.writer[r.id], op)
		}
	}
}

// graph links operations.
type graph struct {
	next  map[*logOp][]*logOp
	nodes []*logOp // in the order in which they came
}

func newGraph() *graph { return &graph{next: map[*logOp][]*logOp{}} }

func (g *graph) link(from, to *logOp) {
	if from == nil || to == nil || from == to {
		return
	}
	for _, op := range []*logOp{from, to} {
		if _, known := g.next[op]; !known {
			g.next[op] = nil
			g.nodes = append(g.nodes, op)
		}
	}
	g.next[from] = append(g.next[from], to)
}

// circles are the strongly connected components of more than one operation, each in the
// order of the history (Tarjan 1972, without recursion).
func (g *graph) circles() (all [][]*logOp) {
	s := search{g: g, at: map[*logOp]int{}, low: map[*logOp]int{}, on: map[*logOp]bool{}}
	for _, op := range g.nodes {
		if _, seen := s.at[op]; !seen {
			s.from(op)
		}
	}
	for _, circle := range s.found {
		slices.SortFunc(circle, func(a, b *logOp) int { return int(a.event - b.event) })
	}
	return s.found
}

type search struct {
	g     *graph
	at    map[*logOp]int // order of discovery
	low   map[*logOp]int
	on    map[*logOp]bool
	stack []*logOp
	found [][]*logOp
}

// visit is one step of the way: an operation and how many of its links were followed.
type visit struct {
	op   *logOp
	next int
}

func (s *search) from(root *logOp) {
	way := []visit{s.enter(root)}
	for len(way) > 0 {
		v := &way[len(way)-1]
		links := s.g.next[v.op]
		if v.next == len(links) {
			s.leave(v.op)
			way = way[:len(way)-1]
			if len(way) > 0 {
				above := way[len(way)-1].op
				s.low[above] = min(s.low[above], s.low[v.op])
			}
			continue
		}
		to := links[v.next]
		v.next++
		if _, seen := s.at[to]; !seen {
			way = append(way, s.enter(to))
		} else if s.on[to] {
			s.low[v.op] = min(s.low[v.op], s.at[to])
		}
	}
}

func (s *search) enter(op *logOp) visit {
	s.at[op], s.low[op] = len(s.at), len(s.at)
	s.on[op] = true
	s.stack = append(s.stack, op)
	return visit{op: op}
}

func (s *search) leave(op *logOp) {
	if s.low[op] != s.at[op] {
		return
	}
	i := slices.Index(s.stack, op)
	circle := slices.Clone(s.stack[i:])
	s.stack = s.stack[:i]
	for _, member := range circle {
		delete(s.on, member)
	}
	if len(circle) > 1 {
		s.found = append(s.found, circle)
	}
}
