// SPDX-License-Identifier: Apache-2.0

package record

import (
	"context"

	"github.com/seed-720a3c77/harness/broker"
	"github.com/seed-720a3c77/harness/contract"
	"github.com/seed-720a3c77/harness/history"
	"github.com/seed-720a3c77/harness/msg"
)

// Producer records a producer's session. It is a broker.Producer.
type Producer struct {
	task    *Task
	inner   broker.Producer
	session uint32
	op      uint32
	success contract.Class
}

var _ broker.Producer = (*Producer)(nil)

// Producer opens a producer through the engine and records its session.
func (t *Task) Producer(ctx context.Context, e broker.Engine, spec broker.ProducerSpec, to string) (*Producer, error) {
	session := t.recording.Intern(history.Sessions, t.newSession(spec.Name, "", to))
	p := &Producer{task: t, session: session, success: t.profile.Publish}
	if spec.NoConfirms || spec.Acks == "0" {
		p.success = contract.AcceptedOnly
	}
	spec.Notify = func(n broker.Notice) { t.notice(p.session, "", n) }
	inner, err := e.Producer(ctx, spec)
	if err != nil {
		return nil, err
	}
	p.inner = inner
	t.segment.Append(&history.Event{T: t.now(), Kind: history.SessionOpen, Session: p.session, N: 1})
	return p, nil
}

// pending is one publish under way.
type pending struct {
	p        *Producer
	id       msg.ID
	attempt  uint16
	op       uint32
	intended int64
	start    int64
	place    uint32
	to       string
	done     func(broker.Receipt, error)
}

// Publish records the attempt before it is made and its answer when it comes.
func (p *Producer) Publish(ctx context.Context, m *msg.Message, done func(broker.Receipt, error)) error {
	p.op++
	one := pending{
		p: p, id: m.ID, attempt: m.Attempt, op: p.op, intended: int64(m.Intended), start: p.task.now(),
		place: p.task.Place(m.To, whole), to: m.To, done: done,
	}
	var e history.Event
	one.fill(&e, history.PublishStart, one.start)
	e.D, e.Place, e.Key = one.start-one.intended, one.place, p.task.key(m.Key)
	e.N, e.CRC = uint32(len(m.Body)), msg.Checksum(m.Body)
	p.task.segment.Append(&e)
	answered := func(receipt broker.Receipt, err error) { one.answered(receipt, err) } // one allocation, as long as one is a value
	if err := p.inner.Publish(ctx, m, answered); err != nil {
		one.answered(broker.Receipt{Offset: -1}, err)
		return nil
	}
	var accepted history.Event
	now := p.task.now()
	one.fill(&accepted, history.PublishAccepted, now)
	accepted.D = now - one.start
	p.task.segment.Append(&accepted)
	return nil
}

// fill makes an event where it is: events are large, and a copy of what was just stored waits for it.
func (one pending) fill(e *history.Event, kind history.Kind, at int64) {
	e.T, e.Kind, e.Producer, e.Seq, e.Attempt = at, kind, one.id.Producer, one.id.Seq, one.attempt
	e.Session, e.Op = one.p.session, one.op
}

func (one pending) answered(receipt broker.Receipt, err error) {
	task := one.p.task
	var e history.Event
	now := task.now()
	one.fill(&e, history.PublishAnswer, now)
	e.D = now - one.start
	e.Answer, e.Class = broker.Classify(err, one.p.success)
	e.Off, e.Place, e.N = -1, one.place, uint32(receipt.Copies)
	if err == nil && task.profile.Model == contract.Log {
		e.Off, e.Place = receipt.Offset, task.Place(one.to, receipt.Partition)
	}
	if err != nil {
		e.Text = task.text(err.Error())
	}
	task.segment.Append(&e)
	one.done(receipt, err)
}

// Flush waits until every publish is answered.
func (p *Producer) Flush(ctx context.Context) error { return p.inner.Flush(ctx) }

// Begin records and begins a transaction.
func (p *Producer) Begin(ctx context.Context) error {
	return p.transaction(history.TxnBegin, func() error { return p.inner.Begin(ctx) })
}

// Commit records and commits it.
func (p *Producer) Commit(ctx context.Context, offsets ...broker.OffsetCommit) error {
	return p.transaction(history.TxnCommit, func() error { return p.inner.Commit(ctx, offsets...) })
}

// Abort records and aborts it.
func (p *Producer) Abort(ctx context.Context) error {
	return p.transaction(history.TxnAbort, func() error { return p.inner.Abort(ctx) })
}

func (p *Producer) transaction(kind history.Kind, call func() error) error {
	start := p.task.now()
	err := call()
	e := history.Event{T: p.task.now(), Kind: kind, Session: p.session}
	e.D = e.T - start
	e.Answer, e.Class = broker.Classify(err, contract.OK)
	p.task.segment.Append(&e)
	return err
}

// Close flushes and leaves politely.
func (p *Producer) Close(ctx context.Context) error {
	err := p.inner.Close(ctx)
	p.task.closed(p.session, false, err)
	return err
}

// Abandon vanishes.
func (p *Producer) Abandon() {
	p.inner.Abandon()
	p.task.closed(p.session, true, nil)
}

func (t *Task) closed(session uint32, crashed bool, err error) {
	e := history.Event{T: t.now(), Kind: history.SessionClose, Session: session}
	switch {
	case crashed:
		e.Flags, e.Text = history.Crashed, t.text("abandoned")
	case err != nil:
		e.Text = t.text(err.Error())
	}
	t.segment.Append(&e)
}
