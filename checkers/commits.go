// SPDX-License-Identifier: Apache-2.0

package checkers

import (
	"fmt"

	"github.com/seed-720a3c77/harness/contract"
	"github.com/seed-720a3c77/harness/history"
)

// commits follows the positions of groups: committed beyond what was delivered, gone
// backwards, and new owners that begin elsewhere. A commit without an answer makes the
// position a range, and only what lies outside it is a finding.
type commits struct{ c *Case }

func (k *commits) Kinds() history.KindSet {
	if k.c != nil && k.c.profile.Model != contract.Log {
		return 0
	}
	return history.Only(history.SettleStart, history.SettleAnswer, history.Assign, history.Delivery)
}

func (k *commits) Begin(c *Case) {
	k.c = c
	if c.profile.Model == contract.Log {
		c.facts.measure(commitAhead, commitRegression, behindCommitted, holeAfterTakeover)
	}
}

func (k *commits) Observe(m *Moment) {
	if m.sub == nil {
		return
	}
	switch m.Kind {
	case history.SettleStart:
		k.asked(m)
	case history.SettleAnswer:
		k.answered(m)
	case history.Assign:
		p := m.sub.partition(m.Event.Place)
		if m.Off >= 0 && !p.superseded(m) && whyThere(k.c.names(history.Texts, m.Text), p) == rewound {
			k.begins(m, p)
		}
	case history.Delivery:
		if m.began && m.session.claim(m.Event.Place).cause == rewound {
			k.begins(m, m.sub.partition(m.Event.Place))
		}
	}
}

func (k *commits) asked(m *Moment) {
	if m.Verb != history.VerbCommit && m.Verb != history.VerbMark || m.hold == nil {
		return
	}
	if p := m.sub.partition(m.place.ref); m.Off > p.read {
		k.note(commitAhead, m, fmt.Sprintf("position %d, delivered up to %d", m.Off, p.read))
	}
}

func (k *commits) answered(m *Moment) {
	if m.Verb != history.VerbCommit || m.Class != contract.OK || m.hold == nil {
		return
	}
	p, a := m.sub.partition(m.place.ref), m.session.claim(m.place.ref)
	if m.hold.until < p.top && m.hold.settleAt >= p.topAt && a.cause != sought && a.cause != positionReset {
		k.note(commitRegression, m, fmt.Sprintf("from %d to %d", p.top, m.hold.until))
	}
}

// begins looks at where a new owner begins, against where it may.
func (k *commits) begins(m *Moment, p *partition) {
	switch {
	case p.committed < 0:
	case m.Off < p.committed:
		k.note(behindCommitted, m, fmt.Sprintf("began at %d, committed %d", m.Off, p.committed))
	case m.Off < p.top:
		k.note(commitRegression, m, fmt.Sprintf("from %d to %d by a late commit", p.top, m.Off))
	case m.Off > p.maybe:
		k.note(holeAfterTakeover, m, fmt.Sprintf("began at %d, committed %d at most", m.Off, p.maybe))
	}
}

func (k *commits) note(r row, m *Moment, text string) {
	if x := k.c.facts.found(r, m); x != nil {
		x.Text = m.place.text + ": " + text
	}
}

func (k *commits) Finish(*Facts) {}
