// SPDX-License-Identifier: Apache-2.0

package record

import (
	"context"
	"sync"
	"time"

	"github.com/seed-720a3c77/harness/broker"
	"github.com/seed-720a3c77/harness/contract"
	"github.com/seed-720a3c77/harness/history"
)

// Consumer records a consumer's session. It is a broker.Consumer.
type Consumer struct {
	task    *Task
	inner   broker.Consumer
	spec    broker.ConsumerSpec
	name    string
	session uint32
	op      uint32

	mu sync.Mutex // guards gone; Abandon may come from another task
	// gone: closed or abandoned here already.
	gone bool
}

var _ broker.Consumer = (*Consumer)(nil)

// Session is the session's name in the history.
func (c *Consumer) Session() string { return c.name }

// Consumer opens a consumer through the engine and records its session.
func (t *Task) Consumer(ctx context.Context, e broker.Engine, spec broker.ConsumerSpec) (*Consumer, error) {
	c := &Consumer{task: t, spec: spec, name: t.newSession(spec.Name, spec.Group, spec.From)}
	c.session = t.recording.Intern(history.Sessions, c.name)
	notify := spec.Notify
	spec.Notify = func(n broker.Notice) {
		t.notice(c.session, spec.From, n)
		if notify != nil {
			notify(n)
		}
	}
	t.segment.Append(&history.Event{T: t.now(), Kind: history.SessionOpen, Session: c.session})
	inner, err := e.Consumer(ctx, spec)
	if err != nil {
		t.closed(c.session, false, err)
		return nil, err
	}
	c.inner = inner
	return c, nil
}

// Receive records the call and every delivery, and stamps the tokens with their origin.
func (c *Consumer) Receive(ctx context.Context, into []broker.Delivery, wait time.Duration) (int, error) {
	start := c.task.now()
	n, err := c.inner.Receive(ctx, into, wait)
	now := c.task.now()
	e := history.Event{T: now, Kind: history.Receive, Session: c.session, N: uint32(n), D: now - start, Class: contract.OK}
	if err != nil {
		e.Class, e.Text = contract.Unknown, c.task.text(err.Error())
	}
	c.task.segment.Append(&e)
	for i := range into[:n] {
		c.delivered(&into[i], now)
	}
	return n, err
}

func (c *Consumer) delivered(d *broker.Delivery, now int64) {
	c.op++
	place := c.task.Place(d.Source, c.task.partitionOf(&d.Token))
	d.Token.Origin = broker.Origin{Session: c.session, Op: c.op, Place: place, ID: d.ID}
	e := history.Event{
		T: now, Kind: history.Delivery, Producer: d.ID.Producer, Seq: d.ID.Seq, Attempt: d.Attempt, Session: c.session,
		Place: place, Off: c.task.offsetOf(&d.Token), Key: c.task.key(d.Key), Op: c.op, N: uint32(d.Count),
		D: now - int64(d.Intended), Gen: generation(&d.Token), Flags: flagsOf(d),
	}
	if d.Injected {
		e.Text = c.task.text(history.Injected)
	}
	if d.Lease > 0 {
		e.Until = now - int64(d.Requested) + int64(d.Lease)
	}
	c.task.segment.Append(&e)
}

func generation(t *broker.Token) uint32 {
	if t.Epoch != 0 {
		return t.Epoch
	}
	return uint32(t.Generation)
}

func flagsOf(d *broker.Delivery) history.Flag {
	var f history.Flag
	if d.Redelivered {
		f |= history.Redelivered
	}
	if d.Corrupt {
		f |= history.Corrupt
	}
	if d.Foreign {
		f |= history.Foreign
	}
	return f
}

// Settle records every entry before the call and every answer after it.
func (c *Consumer) Settle(ctx context.Context, settlements []broker.Settlement, results []error) {
	start := c.task.now()
	for i := range settlements {
		var e history.Event
		fillSettlement(&e, &settlements[i], history.SettleStart, start)
		c.task.segment.Append(&e)
	}
	c.inner.Settle(ctx, settlements, results)
	now := c.task.now()
	for i := range settlements {
		c.settled(&settlements[i], results[i], start, now)
	}
}

func (c *Consumer) settled(s *broker.Settlement, err error, start, now int64) {
	success := c.task.profile.Settle
	if s.Verb == broker.Mark {
		success = contract.AcceptedOnly
	}
	var e history.Event
	fillSettlement(&e, s, history.SettleAnswer, now)
	e.D = now - start
	e.Answer, e.Class = broker.Classify(err, success)
	if err != nil {
		e.Text = c.task.text(err.Error())
	}
	if s.Verb == broker.Extend {
		e.Until = start + int64(s.Delay) // the earliest that it can be
	}
	c.task.segment.Append(&e)
}

func fillSettlement(e *history.Event, s *broker.Settlement, kind history.Kind, at int64) {
	o := &s.Token.Origin
	e.T, e.Kind, e.Producer, e.Seq, e.Session, e.Op, e.Place = at, kind, o.ID.Producer, o.ID.Seq, o.Session, o.Op, o.Place
	e.Verb, e.Gen, e.Off = uint8(s.Verb), generation(&s.Token), -1
	if s.Verb == broker.Commit || s.Verb == broker.Mark {
		e.Off = s.Token.Offset + 1
	}
	if s.Verb == broker.Extend && kind == history.SettleStart {
		e.Until = at + int64(s.Delay)
	}
}

// Seek records and moves the position.
func (c *Consumer) Seek(ctx context.Context, partition int32, offset int64) error {
	err := c.inner.Seek(ctx, partition, offset)
	e := history.Event{T: c.task.now(), Kind: history.Seek, Session: c.session, Place: c.task.Place(c.spec.From, partition), Off: offset}
	e.Answer, e.Class = broker.Classify(err, contract.OK)
	c.task.segment.Append(&e)
	return err
}

// Pause records and stops fetching.
func (c *Consumer) Pause(ctx context.Context) error {
	c.task.segment.Append(&history.Event{T: c.task.now(), Kind: history.Pause, Session: c.session})
	return c.inner.Pause(ctx)
}

// Resume records and goes on fetching.
func (c *Consumer) Resume(ctx context.Context) error {
	c.task.segment.Append(&history.Event{T: c.task.now(), Kind: history.Resume, Session: c.session})
	return c.inner.Resume(ctx)
}

// Close leaves politely; a second Close does nothing.
func (c *Consumer) Close(ctx context.Context) error {
	if !c.leave() {
		return nil
	}
	err := c.inner.Close(ctx)
	c.task.closed(c.session, false, err)
	return err
}

// Abandon vanishes; it may be called by another task than the owner's.
func (c *Consumer) Abandon() {
	if !c.leave() {
		return
	}
	c.inner.Abandon()
	c.task.closed(c.session, true, nil)
}

func (c *Consumer) leave() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	first := !c.gone
	c.gone = true
	return first
}

// notices maps what a session tells by itself to events.
var notices = map[broker.NoticeKind]history.Kind{
	broker.SessionOpen:  history.SessionOpen,
	broker.SessionClose: history.SessionClose,
	broker.Assigned:     history.Assign,
	broker.Revoked:      history.Revoke,
	broker.Lost:         history.Revoke,
	broker.Retried:      history.Retried,
	broker.Blocked:      history.Blocked,
	broker.Unblocked:    history.Unblocked,
}

func (t *Task) notice(session uint32, from string, n broker.Notice) {
	kind, known := notices[n.Kind]
	if !known {
		return
	}
	e := history.Event{T: t.now(), Kind: kind, Session: session, Off: n.Offset, Gen: uint32(n.Generation)}
	if n.Epoch != 0 {
		e.Gen = n.Epoch
	}
	text := n.Text
	if n.Code != "" {
		text = n.Code + " " + text
	}
	e.Text = t.text(text)
	if kind == history.Assign || kind == history.Revoke {
		e.Place = t.Place(from, n.Partition)
	}
	if n.Kind == broker.Lost {
		e.Flags |= history.Lost
	}
	t.segment.Append(&e)
}
