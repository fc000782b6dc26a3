// SPDX-License-Identifier: Apache-2.0

package drive

import (
	"bytes"
	"cmp"
	"context"
	"math/rand/v2"
	"time"

	"github.com/seed-720a3c77/harness/broker"
	"github.com/seed-720a3c77/harness/clock"
	"github.com/seed-720a3c77/harness/contract"
	"github.com/seed-720a3c77/harness/msg"
)

// defaultTimeout bounds one attempt where a spec does not.
const defaultTimeout = 10 * time.Second

// link is the way of a producer's requests where it takes time:
//
//	accept -> lingering -> batch --request--> broker --answer--> completion
//	                         ^------- timeout: another attempt ----'
//
// The engine's lock guards it. A batch that has left the client belongs to nobody: it
// arrives whatever becomes of the producer.
type link struct {
	p      *producer
	random *rand.Rand
	// oneByOne: a batch leaves only when the one before it is answered, so that a second
	// attempt keeps its place.
	oneByOne  bool
	out, back way

	lingering *batch
	timer     clock.Timer
	queued    []*batch // held back by oneByOne
	underWay  int      // batches that have left and are not done
	last      []byte   // the body copied last
	free      []*batch
	// era counts the resets: what was on its way at one is lost.
	era int
}

// batch is some requests that travel together.
type batch struct {
	l        *link
	requests []request
	tries    int
	era      int
	// ghost: its answer was given up by the client; it may still arrive.
	ghost       bool
	arrive, end func() // bound once
}

// request is one message on its way.
type request struct {
	number  uint64
	m       msg.Message
	done    func(broker.Receipt, error)
	fate    Fate
	receipt broker.Receipt
	err     error
}

func newLink(p *producer) *link {
	// One connection keeps the order; the requests of a lease queue have one each.
	w := way{clk: p.e.clk, keepsOrder: p.e.profile.Model != contract.LeaseQueue}
	return &link{
		p: p, random: p.e.stream(p.spec.Name, "publish", p.e.opts.Publish),
		oneByOne: p.spec.Idempotent || p.spec.TransactionID != "", out: w, back: w,
	}
}

// accept takes a message over. Its body is copied, once for equal ones in a row.
func (l *link) accept(number uint64, m *msg.Message, done func(broker.Receipt, error)) {
	if !bytes.Equal(l.last, m.Body) {
		l.last = bytes.Clone(m.Body)
	}
	if l.lingering == nil {
		l.lingering = l.newBatch()
	}
	b := l.lingering
	b.requests = append(b.requests, request{number: number, m: *m, done: done})
	b.requests[len(b.requests)-1].m.Body = l.last
	spec := &l.p.spec
	switch {
	case spec.Linger <= 0 || spec.BatchMax > 0 && len(b.requests) >= spec.BatchMax:
		l.flush()
	case l.timer == nil:
		l.timer = l.p.e.clk.At(l.p.owner, l.p.e.clk.Now()+spec.Linger, l.lingered)
	}
}

func (l *link) lingered() {
	l.p.e.mu.Lock()
	defer l.p.e.leave()
	l.timer = nil
	l.flush()
}

// flush sends what lingers.
func (l *link) flush() {
	if l.timer != nil {
		l.timer.Stop()
		l.timer = nil
	}
	if b := l.lingering; b != nil {
		l.lingering = nil
		l.queued = append(l.queued, b)
		l.sendQueued()
	}
}

func (l *link) sendQueued() {
	for len(l.queued) > 0 && !(l.oneByOne && l.underWay > 0) {
		b := l.queued[0]
		l.queued = append(l.queued[:0], l.queued[1:]...)
		l.underWay++
		l.send(b)
	}
}

// send lets an attempt leave the client.
func (l *link) send(b *batch) {
	b.tries++
	b.era = l.era
	for i := range b.requests {
		b.requests[i].fate = l.fate(&b.requests[i], b.tries)
	}
	if held := l.p.e.breakOf(l.p.spec.Name, upHeld); held != nil {
		l.stall(b, held, l.depart)
		return
	}
	l.depart(b)
}

// depart lets it go on its way.
func (l *link) depart(b *batch) {
	at := l.out.send(b, l.latency(b)+l.p.e.late(l.p.spec.Name, true), b.arrive)
	if b.lost() && !b.ghost {
		// Never before the attempt has arrived: the batch is used for the next one.
		timeout := l.p.e.clk.Now() + cmp.Or(l.p.spec.Timeout, defaultTimeout)
		l.p.e.clk.At(l.p.owner, max(timeout, at+1), func() { l.timedOut(b) })
	}
}

// lost tells whether some request or its answer will not arrive.
func (b *batch) lost() bool {
	for i := range b.requests {
		if b.requests[i].fate != Arrives {
			return true
		}
	}
	return false
}

func (l *link) fate(r *request, number int) Fate {
	switch e := l.p.e; {
	case e.breakOf(l.p.spec.Name, upDrops) != nil:
		return RequestLost
	case e.breakOf(l.p.spec.Name, downDrops) != nil:
		return AnswerLost
	case e.opts.Wire == nil:
		return Arrives
	}
	return l.p.e.opts.Wire(Attempt{Producer: l.p.spec.Name, ID: r.m.ID, Number: number})
}

func (l *link) latency(b *batch) time.Duration {
	if l.random == nil {
		return 0
	}
	if ways := l.p.e.opts.Ways; ways != nil {
		return ways(Attempt{Producer: l.p.spec.Name, ID: b.requests[0].m.ID, Number: b.tries}).draw(l.random)
	}
	return l.p.e.opts.Publish.draw(l.random)
}

// way is one direction of a link.
type way struct {
	clk clock.Clock
	// keepsOrder: nothing overtakes. Events of one instant come in any order, so each
	// takes the batch that is first, whichever it was made for.
	keepsOrder bool
	last       time.Duration
	first      []*batch
}

// send lets a batch arrive later, where arrive is called, and returns when.
func (w *way) send(b *batch, d time.Duration, arrive func()) time.Duration {
	at := w.clk.Now() + d
	if w.keepsOrder {
		at = max(at, w.last)
		w.last = at
		w.first = append(w.first, b)
	}
	w.clk.At(context.Background(), at, arrive)
	return at
}

// receive is the batch that arrives by an event that was made for b.
func (w *way) receive(b *batch) *batch {
	if !w.keepsOrder {
		return b
	}
	b = w.first[0]
	w.first = append(w.first[:0], w.first[1:]...)
	return b
}

// arrived is the batch at the broker.
func (b *batch) arrived() {
	l := b.l
	l.p.e.mu.Lock()
	defer l.p.e.leave()
	b = l.out.receive(b)
	if b.era != l.era {
		l.cutOff(b)
		return
	}
	now := l.p.e.clk.Now()
	for i := range b.requests {
		r := &b.requests[i]
		if r.fate != RequestLost {
			r.receipt, r.err = l.p.e.machine.Publish(now, l.p.session, r.number, &r.m)
		}
	}
	if b.lost() || b.ghost {
		return
	}
	if held := l.p.e.breakOf(l.p.spec.Name, downHeld); held != nil {
		l.stall(b, held, l.answer)
		return
	}
	l.answer(b)
}

// answer lets the answer go on its way.
func (l *link) answer(b *batch) {
	if !b.ghost {
		l.back.send(b, l.latency(b)+l.p.e.late(l.p.spec.Name, false), b.end)
	}
}

// answered is the batch back at the client.
func (b *batch) answered() {
	b.l.p.e.mu.Lock()
	defer b.l.p.e.leave()
	b = b.l.back.receive(b)
	if b.era != b.l.era {
		b.l.cutOff(b)
		return
	}
	for i := range b.requests {
		r := &b.requests[i]
		if b.tries > 1 {
			r.receipt.Copies = b.tries
		}
		b.l.p.answer(answer{r.done, r.receipt, r.err})
	}
	b.l.done(b)
}

// timedOut makes another attempt of the whole batch, or gives it up as unknown. The answers
// of the attempt before are not looked at: a client counts them as lost with the batch.
func (l *link) timedOut(b *batch) {
	l.p.e.mu.Lock()
	defer l.p.e.leave()
	if l.p.closed && l.p.gone {
		return
	}
	if b.tries <= l.p.spec.Retries {
		l.retried(b)
		l.send(b)
		return
	}
	for i := range b.requests {
		l.p.answer(answer{b.requests[i].done, broker.Receipt{Offset: -1, Copies: b.tries}, errNoAnswer})
	}
	l.done(b)
}

var errNoAnswer error = &broker.Error{
	Op: "publish", Answer: contract.Timeout, Class: contract.Unknown, Err: context.DeadlineExceeded,
}

func (l *link) retried(b *batch) {
	if notify := l.p.spec.Notify; notify != nil {
		n := broker.Notice{Kind: broker.Retried, Text: b.requests[0].m.ID.String()}
		l.p.e.clk.Post(l.p.owner, func() { notify(n) })
	}
}

// done gives the batch back for another use.
func (l *link) done(b *batch) {
	l.underWay--
	clear(b.requests)
	b.requests, b.tries = b.requests[:0], 0
	l.free = append(l.free, b)
	l.sendQueued()
	if l.p.closed && !l.busy() {
		l.p.e.machine.CloseProducer(l.p.e.clk.Now(), l.p.session)
	}
}

func (l *link) newBatch() *batch {
	if n := len(l.free); n > 0 {
		b := l.free[n-1]
		l.free = l.free[:n-1]
		return b
	}
	b := &batch{l: l}
	b.arrive, b.end = b.arrived, b.answered
	return b
}

// busy tells whether something is on its way.
func (l *link) busy() bool { return l.underWay > 0 }

// cut drops what has not left the client.
func (l *link) cut() {
	if l.timer != nil {
		l.timer.Stop()
		l.timer = nil
	}
	l.lingering, l.queued = nil, nil
}
