// SPDX-License-Identifier: Apache-2.0

package checkers

import (
	"fmt"
	"strings"

	"github.com/seed-720a3c77/harness/contract"
	"github.com/seed-720a3c77/harness/history"
	"github.com/seed-720a3c77/harness/msg"
)

const (
	// maxLives is how many messages have their narrative told in a result.
	maxLives = 6
	// livesEach is how many of them one anomaly can have.
	livesEach = 2
	// maxSteps bounds a story: a message can be delivered without end.
	maxSteps = 200
)

// Explain tells the life of one message of a run: every event, who held it, why it was
// delivered again, where it ended. The steps are empty if nothing is recorded of it.
func Explain(run *history.Run, id msg.ID) (Life, error) {
	told, err := narrate(run, []Life{{ID: id, Title: id.String()}}, nil)
	if err != nil {
		return Life{}, fmt.Errorf("explain %s: %w", id, err)
	}
	return told[0], nil
}

// tellLives adds the stories of the first messages that something happened to, and the
// events of the findings that have none yet.
func tellLives(result *Result, run *history.Run) (err error) {
	chosen, bare := choose(result), wanted(result)
	if len(chosen)+len(bare) == 0 {
		return nil
	}
	result.Lives, err = narrate(run, chosen, bare)
	bare.give(result)
	return err
}

// choose takes the first examples of the worst anomalies.
func choose(result *Result) []Life {
	var chosen []Life
	seen := map[msg.ID]bool{}
	for i := range result.Anomalies {
		a := &result.Anomalies[i]
		taken := 0
		for k := range a.Examples {
			x := &a.Examples[k]
			if seen[x.ID] || taken == livesEach || len(chosen) == maxLives || x.Subscription == "" {
				continue
			}
			seen[x.ID] = true
			taken++
			title := x.ID.String() + ": " + a.Name
			if x.Cause != "" {
				title += ", " + x.Cause
			}
			chosen = append(chosen, Life{ID: x.ID, Title: title})
		}
	}
	return chosen
}

// narrate reads a run once more, for some messages only.
func narrate(run *history.Run, chosen []Life, bare evidence) ([]Life, error) {
	l := &lives{stories: map[msg.ID]*narrative{}, bare: bare}
	for i := range chosen {
		l.stories[chosen[i].ID] = &narrative{Life: &chosen[i]}
	}
	j := newJudge(&run.Header, run.Name, []Checker{l}, new(memory))
	if err := run.EachBatch(history.AllKinds, fieldsOfChecks, j.batch); err != nil {
		return nil, err
	}
	j.Finish()
	return chosen, nil
}

// lives follows some messages through a run.
type lives struct {
	c       *Case
	stories map[msg.ID]*narrative
	bare    evidence
	txns    map[uint32]uint32 // open transactions, by session
}

// narrative is a life as it is told.
type narrative struct {
	*Life
	effects int
	known   int // steps that are about the message itself
	// Where it stands on a log, and the session that had it last.
	place, holder uint32
	off           int64
	within        []uint32 // sessions with an open transaction that it is part of
}

func (l *lives) Kinds() history.KindSet { return history.AllKinds }

func (l *lives) Begin(c *Case) { l.c, l.txns = c, map[uint32]uint32{} }

func (l *lives) Observe(m *Moment) {
	switch m.Kind {
	case history.SessionClose:
		l.sessionClose(m)
	case history.FaultActive, history.FaultHealed:
		l.fault(m)
	case history.Assign, history.Revoke:
		l.move(m)
	case history.TxnBegin:
		l.txns[m.Event.Session] = m.Op
	case history.TxnCommit, history.TxnAbort:
		l.endTxn(m)
	default:
		l.bare.note(m)
		if s := l.stories[m.id]; s != nil && (m.known || tells(m.Kind)) {
			l.step(s, m)
		}
	}
}

func (s *narrative) add(step LifeStep) {
	if len(s.Steps) < maxSteps {
		s.Steps = append(s.Steps, step)
	}
}

func (l *lives) text(m *Moment) string { return l.c.names(history.Texts, m.Text) }

func (l *lives) step(s *narrative, m *Moment) {
	step := LifeStep{AtNs: m.T, Event: m.Index, Kind: m.Kind.String(), Lane: l.lane(m), Text: l.words(m)}
	if step.Text == "" {
		return
	}
	switch m.Kind {
	case history.PublishStart:
		step.Text += l.joins(s, m)
	case history.Delivery:
		step.UntilNs, s.holder = m.Until, m.Session
		step.Text += l.joins(s, m)
	case history.HandlerEnd:
		s.endBar(m.T, step.Lane)
	case history.EffectResult:
		if effectsAfter(m.message.effects, m.Event) > m.message.effects {
			s.effects++
			step.Effect = s.effects
		}
	}
	if m.Off >= 0 && m.Event.Place != 0 && tells(m.Kind) && m.Kind != history.PublishStart && !m.forward && m.place.role != deadLetter {
		s.place, s.off = m.Event.Place, m.Off
	}
	s.known++
	s.add(step)
}

// endBar gives the handler that began on a lane its end.
func (s *narrative) endBar(at int64, lane string) {
	for i := len(s.Steps) - 1; i >= 0; i-- {
		if step := &s.Steps[i]; step.Lane == lane && step.Kind == history.HandlerStart.String() {
			step.UntilNs = at
			return
		}
	}
}

func (l *lives) lane(m *Moment) string {
	switch {
	case m.Kind == history.Audit || m.session == nil:
		return "broker"
	case m.Kind == history.PublishStart, m.Kind == history.PublishAnswer, m.Kind == history.Decision:
		if !m.forward {
			return "producer"
		}
	}
	return m.session.worker
}

// words say what happened; "" for what is no step of its own.
func (l *lives) words(m *Moment) string {
	switch m.Kind {
	case history.PublishStart:
		return fmt.Sprintf("sent to %s, attempt %d", m.place.text, max(m.Attempt, 1))
	case history.PublishAnswer:
		return l.because(m, "publish "+answerWord(m))
	case history.Decision:
		return "decision: " + l.text(m)
	case history.Delivery:
		return l.delivery(m)
	case history.HandlerStart:
		return "handler started"
	case history.HandlerEnd:
		if m.Has(history.Failed) {
			return l.because(m, "handler failed")
		}
		return "handler ended"
	case history.EffectResult:
		return l.because(m, effectWord(m))
	case history.SettleStart:
		return verbWord(m.Verb) + " asked for"
	case history.SettleAnswer:
		return l.because(m, verbWord(m.Verb)+" "+answerWord(m))
	case history.Audit:
		return "found stored in " + m.place.text
	}
	return ""
}

func (l *lives) because(m *Moment, text string) string {
	if why := l.text(m); why != "" {
		return text + ": " + why
	}
	return text
}

func (l *lives) delivery(m *Moment) string {
	text := "received from " + m.place.text
	if m.Off >= 0 {
		text += fmt.Sprintf(" at %d", m.Off)
	}
	if m.N > 0 {
		text += fmt.Sprintf(", count %d", m.N)
	}
	if m.Has(history.Redelivered) {
		text += ", flagged"
	}
	if m.extra {
		text += "; again: " + m.cause.String()
	}
	return text
}

func answerWord(m *Moment) string {
	if m.Class == contract.OK {
		return "ok"
	}
	if m.Answer == contract.None {
		return m.Class.String()
	}
	return m.Answer.String() + " (" + m.Class.String() + ")"
}

func effectWord(m *Moment) string {
	switch {
	case m.Has(history.Skipped):
		return "effect skipped, done before"
	case m.Has(history.Refused):
		return "effect refused by the store"
	case m.Class == contract.Unknown:
		return "effect unknown"
	}
	return "effect"
}

var verbWords = [...]string{"settle", "ack", "requeue", "reject", "extend", "commit", "mark"}

func verbWord(verb uint8) string {
	if int(verb) < len(verbWords) {
		return verbWords[verb]
	}
	return "settle"
}

// Finish cuts faults that came after the message's last event, and adds where it ended.
func (l *lives) Finish(*Facts) {
	for id, s := range l.stories {
		for n := len(s.Steps); n > 0 && s.Steps[n-1].Lane == "fault"; n-- {
			s.Steps = s.Steps[:n-1]
		}
		for _, sub := range l.c.subs {
			known := l.c.load(sub.index, id)
			if known.class() != contract.OK || s.known == 0 {
				continue
			}
			s.add(LifeStep{AtNs: l.c.now, Event: never, Lane: "broker", Kind: "end", Inferred: true,
				Text: strings.TrimSpace(sub.Name + ": " + strings.ToLower(l.c.fate(sub, &known).String()))})
		}
	}
}
