// SPDX-License-Identifier: Apache-2.0

package checkers

import (
	"fmt"
	"slices"

	"github.com/seed-720a3c77/harness/contract"
	"github.com/seed-720a3c77/harness/history"
)

// This file tells a message of the transactions in which it was sent or read.

// joins makes a message part of the transaction that its session has open, and says so.
func (l *lives) joins(s *narrative, m *Moment) string {
	number, open := l.txns[m.Event.Session]
	if !open {
		return ""
	}
	if !slices.Contains(s.within, m.Event.Session) {
		s.within = append(s.within, m.Event.Session)
	}
	return fmt.Sprintf(", in transaction %d", number)
}

// endTxn is a step of every message that was part of it.
func (l *lives) endTxn(m *Moment) {
	number, open := l.txns[m.Event.Session]
	if !open {
		return
	}
	delete(l.txns, m.Event.Session)
	for _, s := range l.stories {
		i := slices.Index(s.within, m.Event.Session)
		if i < 0 {
			continue
		}
		s.within = slices.Delete(s.within, i, i+1)
		s.known++
		s.add(LifeStep{AtNs: m.T, Event: m.Index, Lane: l.c.scene.session(m.Event.Session).worker, Kind: m.Kind.String(),
			Text: l.because(m, fmt.Sprintf("transaction %d %s", number, txnWord(m)))})
	}
}

// txnWord says how a transaction ended.
func txnWord(m *Moment) string {
	switch {
	case m.Class == contract.Unknown:
		return "ended without an answer: it may hold or not"
	case m.Kind == history.TxnAbort, m.Class == contract.Rejected:
		return "aborted"
	}
	return "committed"
}
