// SPDX-License-Identifier: Apache-2.0

package checkers

import (
	"fmt"

	"github.com/seed-720a3c77/harness/history"
)

// This file tells what happened around a message: faults, the partition that it stands in,
// and the sessions that had it.

// fault tells a message that is known by then of a fault's beginning and end.
func (l *lives) fault(m *Moment) {
	for _, s := range l.stories {
		if s.known > 0 {
			s.add(LifeStep{AtNs: m.T, Event: m.Index, Lane: "fault", Kind: m.Kind.String(), Text: l.faultText(m)})
		}
	}
}

// faultText is "kill billing/0 begins" or "kill billing/0 is healed".
func (l *lives) faultText(m *Moment) string {
	text := l.text(m)
	if n := int(m.Op); text == "" && n > 0 && n <= len(l.c.header.Faults) {
		text = l.c.header.Faults[n-1].Name
	}
	if m.Kind == history.FaultActive {
		return text + " begins"
	}
	return text + " is healed"
}

// move tells a message on a log of its partition's new owner, or the loss of one.
func (l *lives) move(m *Moment) {
	if m.sub == nil {
		return
	}
	for _, s := range l.stories {
		if s.place == 0 || s.place != m.Event.Place {
			continue
		}
		text := m.place.text + " taken from " + m.session.worker
		if m.Kind == history.Assign {
			text = m.place.text + " given to " + m.session.worker
			if m.Off >= 0 {
				text += fmt.Sprintf(", which begins at %d", m.Off)
			}
		}
		s.add(LifeStep{AtNs: m.T, Event: m.Index, Lane: m.session.worker, Kind: m.Kind.String(), Text: l.because(m, text)})
	}
}

// sessionClose is a step of every message that the session held, and on a log of one that
// it had handled and whose position had not been committed.
func (l *lives) sessionClose(m *Moment) {
	if m.sub == nil {
		return
	}
	cause := deathCause(l.text(m), m.Has(history.Crashed)).String()
	for id, s := range l.stories {
		known := l.c.load(m.sub.index, id)
		if s.holder != m.Event.Session || s.known == 0 {
			continue
		}
		text := l.left(m.sub, &known, s)
		if text == "" {
			continue
		}
		s.add(LifeStep{AtNs: m.T, Event: m.Index, Lane: m.session.worker, Kind: m.Kind.String(), Text: cause + text})
	}
}

// left says what the end of its session means to a message, "" for nothing.
func (l *lives) left(sub *subscription, known *message, s *narrative) string {
	h := l.c.hold(known.hold)
	switch {
	case h != nil && known.hold.session == s.holder && h.over == noCause && !(h.is(settledHold) && h.is(handled)):
		return " while it held the message"
	case sub.log && s.place != 0 && sub.partition(s.place).committed <= s.off:
		return " before the position behind the message was committed"
	}
	return ""
}

// tells whether an event is about the message that its id names, even where nobody is owed
// it: a log that was recorded without its readers' group.
func tells(kind history.Kind) bool {
	switch kind {
	case history.PublishStart, history.PublishAnswer, history.Decision, history.Delivery, history.Audit:
		return true
	}
	return false
}
