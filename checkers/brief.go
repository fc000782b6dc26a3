// SPDX-License-Identifier: Apache-2.0

package checkers

import (
	"slices"
	"strings"

	"github.com/seed-720a3c77/harness/contract"
	"github.com/seed-720a3c77/harness/history"
)

// Brief checks runs by the thousand. Counts, ledger, anomalies, faults and verdicts are
// those of Check. What only a report shows is left out: latencies that no threshold asks
// for, series over time, shares of the work, lives. Memory is used again by the next
// check. The zero value is ready; it is not safe for concurrent use.
type Brief struct{ memory memory }

// Check is the verdict of a recorded run.
func (b *Brief) Check(run *history.Run) (Result, error) {
	j := newJudge(&run.Header, run.Name, essential(run), &b.memory)
	j.c.brief = true
	result, err := j.judge(run)
	j.c.giveBack()
	return result, err
}

// essential lists the checkers without those that only tell a report more.
func essential(run *history.Run) []Checker {
	h := &run.Header
	wanted := slices.ContainsFunc(h.Thresholds, func(t contract.Threshold) bool { return strings.HasPrefix(t.Metric, latencyMetric) })
	return slices.DeleteFunc(allFor(run), func(c Checker) bool {
		switch c.(type) {
		case *shares:
			return true
		case *latencies:
			return !wanted
		case *timeline:
			return len(h.Faults) == 0 // without one there is nothing to recover from
		}
		return false
	})
}

// memory is what is used again: by the same check, and by the next one.
type memory struct {
	pages   []*page
	moves   uint64 // how often a page was given back
	chunks  []*chunk
	columns []column
	ties    ties
	facts   Facts
	byKind  []Checker
	// messages at rest in old pages, and how many there are known exactly
	shapes  shapes
	exact   int
	numbers []uint16
	letGo   func(*message) // hears of a message before it is reduced to its shape
}

// begin forgets what was said by an earlier check.
func (m *memory) begin() {
	m.ties.begin()
	m.exact, m.letGo = 0, nil
}

func (m *memory) page() *page {
	n := len(m.pages)
	if n == 0 {
		return new(page)
	}
	pg := m.pages[n-1]
	m.pages = m.pages[:n-1]
	pg.reset()
	return pg
}

// keepPage takes back a page whose messages are elsewhere now.
func (m *memory) keepPage(pg *page) {
	m.pages = append(m.pages, pg)
	m.moves++
}

func (m *memory) chunk(first uint32) *chunk {
	n := len(m.chunks)
	if n == 0 {
		return &chunk{first: first}
	}
	c := m.chunks[n-1]
	m.chunks = m.chunks[:n-1]
	c.reset(first)
	return c
}

// giveBack lets go of what the next check can use. The case ends with it.
func (c *Case) giveBack() {
	for i := range c.subs {
		for _, t := range c.tablesOf(i) {
			for _, pg := range t.list {
				if pg != nil && pg != folded {
					c.memory.keepPage(pg)
				}
			}
		}
	}
	for _, s := range c.sessions {
		if s != nil {
			for _, one := range s.holds.chunks {
				c.memory.chunks = append(c.memory.chunks, one)
			}
		}
	}
}
