// SPDX-License-Identifier: Apache-2.0

package explore

import (
	"bufio"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/seed-720a3c77/harness/history"
	"github.com/seed-720a3c77/harness/msg"
)

// maxMarks bounds a drawing: a shrunk run needs a few dozen.
const maxMarks = 400

// Drawing is a run in space and time: a lane for the producers, the broker and each worker,
// a mark for each event that moved a message or broke something.
type Drawing struct {
	Lanes []string
	Marks []Mark
	// Left is how many marks are left out. Where there are too many, only messages that
	// were not delivered and done once are drawn, and of these the first.
	Left int
}

// Mark is one event in its lane.
type Mark struct {
	AtNs int64
	Lane int
	// ID is the message; empty where there is none.
	ID string
	// Kind is message, bad (broken, failed, done again), born, left or killed (of the lane), or other.
	Kind string
	Text string
}

// Draw makes the drawing of a run.
func Draw(run *history.Run) (Drawing, error) {
	d := diagram{run: run, Drawing: Drawing{Lanes: []string{"producers", "broker"}}}
	events := 0
	err := run.Each(drawn, func(*history.Event) { events++ })
	if err == nil && events > maxMarks {
		d.only, err = unusual(run)
	}
	if err == nil {
		err = run.Each(drawn, d.add)
	}
	return d.Drawing, err
}

// Diagram draws a run as text:
//
//	    time  producers         broker       billing/0
//	  0.5 ms  p0/0 sent
//	  1.2 ms  p0/0 acked ok
//	101.3 ms                                 p0/0 delivered
func Diagram(w io.Writer, d *Drawing) error {
	out := bufio.NewWriter(w)
	d.write(out)
	return out.Flush()
}

var drawn = history.Only(history.PublishStart, history.PublishAnswer, history.Delivery, history.HandlerEnd, history.EffectResult,
	history.SettleAnswer, history.Assign, history.Revoke, history.FaultActive, history.FaultHealed, history.WorkerStart, history.WorkerEnd, history.Drained)

type diagram struct {
	Drawing
	run  *history.Run
	only map[msg.ID]bool // messages that are drawn; nil is all
}

func (d *diagram) add(e *history.Event) {
	lane, text := d.place(e), d.describe(e)
	if text == "" {
		return
	}
	passed := d.only != nil && aboutMessage.Has(e.Kind) && !d.only[e.ID()]
	if passed || len(d.Marks) == maxMarks {
		d.Left++
		return
	}
	m := Mark{AtNs: e.T, Lane: lane, Kind: kindOf(e), Text: text}
	if aboutMessage.Has(e.Kind) {
		m.ID = e.ID().String()
	}
	d.Marks = append(d.Marks, m)
}

var aboutMessage = history.Only(history.PublishStart, history.PublishAnswer, history.Delivery, history.HandlerEnd, history.EffectResult, history.SettleAnswer)

func kindOf(e *history.Event) string {
	switch {
	case e.Kind == history.WorkerStart:
		return "born"
	case e.Kind == history.WorkerEnd && e.Has(history.Crashed):
		return "killed"
	case e.Kind == history.WorkerEnd:
		return "left"
	case e.Kind == history.FaultActive, e.Kind == history.HandlerEnd, e.Kind == history.EffectResult && e.N > 1:
		return "bad"
	case aboutMessage.Has(e.Kind):
		return "message"
	}
	return "other"
}

// place is the lane of an event: the worker whose session or task it is.
func (d *diagram) place(e *history.Event) int {
	switch e.Kind {
	case history.PublishStart, history.PublishAnswer:
		return 0
	case history.FaultActive, history.FaultHealed, history.Drained:
		return 1
	case history.WorkerStart, history.WorkerEnd:
		return d.lane(d.run.Name(history.Texts, e.Text))
	}
	session, _, _ := strings.Cut(d.run.Name(history.Sessions, e.Session), "|")
	return d.lane(worker(session))
}

// worker is the part of a session's name before its life and session numbers.
func worker(session string) string {
	for range 2 {
		if i := strings.LastIndexByte(session, '-'); i > 0 {
			session = session[:i]
		}
	}
	return session
}

func (d *diagram) lane(name string) int {
	if len(name) > 1 && name[0] == 'p' && !strings.Contains(name, "/") {
		return 0
	}
	for i, lane := range d.Lanes {
		if lane == name {
			return i
		}
	}
	d.Lanes = append(d.Lanes, name)
	return len(d.Lanes) - 1
}

func (d *diagram) describe(e *history.Event) string {
	text := func() string { return d.run.Name(history.Texts, e.Text) }
	switch e.Kind {
	case history.PublishStart:
		return fmt.Sprintf("%s sent", e.ID())
	case history.PublishAnswer:
		return fmt.Sprintf("%s %s %s", e.ID(), e.Answer, e.Class)
	case history.Delivery:
		return fmt.Sprintf("%s delivered%s", e.ID(), again(e))
	case history.EffectResult:
		return fmt.Sprintf("%s effect %d", e.ID(), e.N)
	case history.HandlerEnd:
		if e.Has(history.Failed) {
			return fmt.Sprintf("%s failed", e.ID())
		}
		return ""
	case history.SettleAnswer:
		return fmt.Sprintf("%s %s %s", e.ID(), settled(e.Verb), e.Class)
	case history.Assign:
		return "assigned " + d.run.Name(history.Places, e.Place)
	case history.Revoke:
		return "revoked " + d.run.Name(history.Places, e.Place)
	case history.FaultActive:
		return "!! " + text()
	case history.FaultHealed:
		return "healed: " + text()
	case history.WorkerEnd:
		if e.Has(history.Crashed) {
			return "killed"
		}
		return "leaves"
	case history.WorkerStart:
		return "starts"
	case history.Drained:
		return "drained " + text()
	}
	return ""
}

func again(e *history.Event) string {
	if e.Has(history.Redelivered) || e.N > 1 {
		return " again"
	}
	return ""
}

func settled(verb uint8) string {
	words := map[uint8]string{history.VerbAck: "acked", history.VerbRequeue: "requeued", history.VerbReject: "rejected",
		history.VerbExtend: "extended", history.VerbCommit: "committed", history.VerbMark: "marked"}
	return words[verb]
}

func (d *Drawing) write(w io.Writer) {
	width := make([]int, len(d.Lanes))
	for i, lane := range d.Lanes {
		width[i] = len(lane)
	}
	for _, m := range d.Marks {
		width[m.Lane] = max(width[m.Lane], len(m.Text))
	}
	line(w, "time", func(i int) string { return d.Lanes[i] }, width)
	for _, m := range d.Marks {
		at := time.Duration(m.AtNs).Round(10 * time.Microsecond).String()
		line(w, at, func(i int) string {
			if i == m.Lane {
				return m.Text
			}
			return ""
		}, width)
	}
	if d.Left > 0 {
		fmt.Fprintf(w, "%13s  and %d more\n", "", d.Left)
	}
}

func line(w io.Writer, at string, text func(int) string, width []int) {
	var b strings.Builder
	fmt.Fprintf(&b, "%13s", at)
	for i := range width {
		fmt.Fprintf(&b, "  %-*s", width[i], text(i))
	}
	fmt.Fprintln(w, strings.TrimRight(b.String(), " "))
}
