// SPDX-License-Identifier: Apache-2.0

package checkers

import "github.com/seed-720a3c77/harness/history"

// phases are the stretches of the run, from one phase event to the next.
type phases struct {
	c     *Case
	spans []Span
}

func (p *phases) Kinds() history.KindSet { return history.Only(history.Phase) }

func (p *phases) Begin(c *Case) { p.c = c }

func (p *phases) Observe(m *Moment) {
	p.end(m.T)
	p.spans = append(p.spans, Span{Name: p.c.names(history.Texts, m.Text), StartNs: m.T})
}

func (p *phases) end(at int64) {
	if n := len(p.spans); n > 0 {
		p.spans[n-1].EndNs = at
	}
}

func (p *phases) Finish(f *Facts) {
	p.end(p.c.now)
	f.result.Phases = append(f.result.Phases, p.spans...)
}
