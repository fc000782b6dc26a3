// SPDX-License-Identifier: Apache-2.0

package checkers

import (
	"slices"

	"github.com/seed-720a3c77/harness/contract"
	"github.com/seed-720a3c77/harness/history"
	"github.com/seed-720a3c77/harness/msg"
)

// maxExact is how many events a run of a log may have to be looked at as a whole. What
// lies beyond is not measured: every position and every id is held in memory.
const maxExact = 1 << 20

// exactLog holds a log to the rules that need all of it: which id stands where, what was
// read in which order, and what transactions saw of each other. It thinks in operations: a
// transaction is one, and without transactions every publish and every receive is.
//
// An operation without a clear outcome counts as committed once something that it sent is
// read by an operation that went well. Positions are compared by their index among those
// that anybody observed: an offset that nobody saw is a hole, not a message.
type exactLog struct {
	c       *Case
	ops     []*logOp
	open    map[uint32]*logOp // the transaction of each session
	polls   map[uint32]*logOp // the receive of each session
	pending map[ref]pendingSend
	report  *LogReport // nil: the findings go to the facts alone
}

// logOp is one operation.
type logOp struct {
	number   uint32 // of a transaction
	event    int64  // its last event
	session  uint32
	start    int64
	end      int64
	class    contract.Class
	txn      bool
	sends    []logSend
	reads    []logRead
	moved    []uint32 // places that moved inside it
	reset    bool     // no operation: the session's positions are forgotten
	resetOf  uint32   // of this place alone; 0 is all
	audit    bool
	answered bool
}

type logSend struct {
	id    msg.ID
	place uint32
	off   int64 // -1 unknown
}

type logRead struct {
	id    msg.ID
	place uint32
	off   int64
}

type pendingSend struct {
	op *logOp
	at int
}

func (x *exactLog) Kinds() history.KindSet {
	return history.Only(history.PublishStart, history.PublishAnswer, history.Receive, history.Delivery, history.Audit, history.SessionOpen,
		history.Assign, history.Revoke, history.Seek, history.TxnBegin, history.TxnCommit, history.TxnAbort)
}

func (x *exactLog) Begin(c *Case) {
	x.c = c
	x.open, x.polls, x.pending = map[uint32]*logOp{}, map[uint32]*logOp{}, map[ref]pendingSend{}
	c.facts.measure(exactRows...)
}

func (x *exactLog) Observe(m *Moment) {
	switch m.Kind {
	case history.TxnBegin:
		x.open[m.Session] = &logOp{number: m.Op, session: m.Session, start: m.T, txn: true}
	case history.TxnCommit, history.TxnAbort:
		x.endTxn(m)
	case history.PublishStart:
		x.send(m)
	case history.PublishAnswer:
		x.answer(m)
	case history.Receive:
		delete(x.polls, m.Session)
	case history.Delivery:
		x.read(m)
	case history.Audit:
		x.add(&logOp{start: m.T, audit: true, class: contract.OK, reads: []logRead{{m.id, m.Event.Place, m.Off}}}, m)
	default:
		x.move(m)
	}
}

func (x *exactLog) add(op *logOp, m *Moment) {
	op.event, op.end = m.Index, m.T
	x.ops = append(x.ops, op)
}

// endTxn ends a transaction, or is the end of nothing.
func (x *exactLog) endTxn(m *Moment) {
	op := x.open[m.Session]
	if op == nil {
		return
	}
	delete(x.open, m.Session)
	op.class = m.Class
	if m.Kind == history.TxnAbort && m.Class == contract.OK {
		op.class = contract.Rejected
	}
	x.add(op, m)
}

func (x *exactLog) send(m *Moment) {
	if m.forward {
		return
	}
	op := x.open[m.Session]
	if op == nil {
		op = &logOp{session: m.Session, start: m.T}
	}
	s := logSend{id: m.Event.ID(), off: -1}
	if m.place.partition != "" {
		s.place = m.Event.Place
	}
	x.pending[ref{m.Session, m.Op}] = pendingSend{op, len(op.sends)}
	op.sends = append(op.sends, s)
}

func (x *exactLog) answer(m *Moment) {
	p, known := x.pending[ref{m.Session, m.Op}]
	if !known {
		return
	}
	delete(x.pending, ref{m.Session, m.Op})
	s := &p.op.sends[p.at]
	if m.Off >= 0 && m.Event.Place != 0 {
		s.place, s.off = m.Event.Place, m.Off
	}
	if p.op.txn {
		return
	}
	if p.op.class = m.Class; m.Class == contract.AcceptedOnly {
		p.op.class = contract.Unknown
	}
	p.op.answered = true
	x.add(p.op, m)
}

func (x *exactLog) read(m *Moment) {
	if m.Has(history.Foreign) || m.place.role != source {
		return
	}
	op := x.open[m.Session]
	if op == nil {
		if op = x.polls[m.Session]; op == nil {
			op = &logOp{session: m.Session, start: m.T, class: contract.OK}
			x.polls[m.Session] = op
			x.add(op, m)
		}
	}
	op.reads = append(op.reads, logRead{m.id, m.Event.Place, m.Off})
}

func (x *exactLog) move(m *Moment) {
	if op := x.open[m.Session]; op != nil {
		op.moved = append(op.moved, m.Event.Place)
	}
	delete(x.polls, m.Session)
	x.add(&logOp{session: m.Session, reset: true, resetOf: m.Event.Place}, m)
}

// Finish looks at all of it together. A publish that was never answered is unknown.
func (x *exactLog) Finish(f *Facts) {
	for _, p := range x.pending {
		if !p.op.txn && !p.op.answered {
			p.op.class, p.op.answered = contract.Unknown, true
			x.ops = append(x.ops, p.op)
		}
	}
	for _, op := range x.open {
		op.class = contract.Unknown
		x.ops = append(x.ops, op)
	}
	slices.SortStableFunc(x.ops, func(a, b *logOp) int { return int(a.event - b.event) })
	a := analyse(x.c, x.ops)
	a.alone(f)
	var all []LogFinding
	for _, rule := range logRules() {
		all = append(all, rule(a)...)
	}
	for i := range all {
		x.note(f, &all[i])
	}
	if x.report != nil {
		a.tell(x.report, all)
	}
}

// note makes a finding one of the run.
func (x *exactLog) note(f *Facts, found *LogFinding) {
	e := f.add(found.row, found.op.start, found.op.end)
	if e == nil {
		return
	}
	e.ID, e.AtNs, e.Text = found.ID, found.op.end, found.words()
	e.Subscription = x.c.place(found.place).text
	for _, op := range found.ops {
		e.Events = append(e.Events, op.event)
	}
}
