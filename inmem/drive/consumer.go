// SPDX-License-Identifier: Apache-2.0

package drive

import (
	"context"
	"errors"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/seed-720a3c77/harness/broker"
	"github.com/seed-720a3c77/harness/clock"
	"github.com/seed-720a3c77/harness/contract"
	"github.com/seed-720a3c77/harness/inmem"
)

// consumer is a consumer of the machine on the clock. The engine's lock guards it.
type consumer struct {
	e       *Engine
	owner   context.Context
	spec    broker.ConsumerSpec
	session inmem.Session
	gate    clock.Gate
	closed  bool
	conn    *conn // nil where nothing travels by itself

	receives, settles, pulse *rand.Rand // pulse is nil where heartbeats take no time
	beats, commits           clock.Timer
	beatDue                  bool // the client keeps one back
}

// Consumer implements broker.Engine. The task of ctx owns it.
func (e *Engine) Consumer(ctx context.Context, spec broker.ConsumerSpec) (broker.Consumer, error) {
	if err := e.enter(ctx); err != nil {
		return nil, err
	}
	defer e.leave()
	if err := e.unreachable(spec.Name); err != nil {
		return nil, err
	}
	session, err := e.machine.OpenConsumer(e.clk.Now(), spec)
	if err != nil {
		return nil, err
	}
	c := &consumer{
		e: e, owner: ctx, spec: spec, session: session, gate: e.clk.NewGate("consumer " + spec.Name),
		receives: e.stream(spec.Name, "receive", e.opts.Receive),
		settles:  e.stream(spec.Name, "settle", e.opts.Settle),
		pulse:    e.stream(spec.Name, "heartbeat", e.opts.Beat),
	}
	for len(e.consumers) <= int(session) {
		e.consumers = append(e.consumers, nil)
	}
	e.consumers[session] = c
	if e.opts.Written && e.profile.Model == contract.PushQueue && c.settles != nil && c.receives != nil {
		c.conn = &conn{c: c}
		c.conn.pull()
	}
	if e.machine.HeartbeatInterval(spec) > 0 {
		c.armBeat()
	}
	if spec.AutoCommit > 0 {
		c.armCommit()
	}
	return c, nil
}

// hear acts on what the machine has to say to this consumer.
func (c *consumer) hear(out inmem.Out) {
	switch {
	case out.Notice == nil && c.conn != nil:
		c.conn.pull()
		return
	case out.Notice == nil:
		c.beatIfDue()
		c.gate.Wake()
		return
	case c.conn != nil && out.Notice.Kind == broker.SessionClose:
		c.conn.atOnce(func() { c.tell(*out.Notice) })
		return
	}
	if out.Notice.Kind == broker.SessionOpen && c.beats != nil && !c.e.opts.Rebalance.zero() {
		c.beatFromNow()
	}
	c.e.clk.Post(c.owner, func() { c.tell(*out.Notice) })
}

func (c *consumer) tell(n broker.Notice) {
	if notify := c.spec.Notify; notify != nil {
		notify(n)
	}
}

func (c *consumer) armBeat() { c.beatIn(c.e.machine.HeartbeatInterval(c.spec)) }

// beatFromNow: a session of a group begins with a heartbeat, which waits for nothing, and the next
// ones count from it. Then it asks for its positions, which is half of what the rebalance took,
// and only then it is told to have begun. Where a rebalance takes no time it begins with the join.
func (c *consumer) beatFromNow() {
	c.beats.Stop()
	c.e.clk.At(c.owner, c.e.clk.Now(), func() { c.byItself(c.e.machine.Heartbeat, func() {}) })
	c.beatIn(max(0, c.e.machine.HeartbeatInterval(c.spec)-c.e.opts.Rebalance.middle()/2))
}

func (c *consumer) beatIn(d time.Duration) {
	c.beats = c.e.clk.At(c.owner, c.e.clk.Now()+d, func() {
		c.byItself(c.beat, c.armBeat)
	})
}

// beat shows life, and the client hears of it as soon as the answer is there. It waits on its way
// to the broker, where it is answered at once.
func (c *consumer) beat(now time.Duration, session inmem.Session) {
	if c.pulse == nil {
		c.e.machine.Heartbeat(now, session)
		return
	}
	c.e.clk.At(c.owner, now+c.e.opts.Beat.draw(c.pulse), func() {
		c.byItself(c.beaten, func() {})
	})
}

// beaten is a heartbeat at the broker, unless the client keeps it back.
func (c *consumer) beaten(now time.Duration, session inmem.Session) {
	if c.beatDue = c.e.machine.KeepsBeat(now, session); !c.beatDue {
		c.e.machine.Heartbeat(now, session)
	}
}

// beatIfDue sends the heartbeat that was kept back.
func (c *consumer) beatIfDue() {
	now := c.e.clk.Now()
	if c.beatDue && !c.e.machine.KeepsBeat(now, c.session) {
		c.beatDue = false
		c.beat(now, c.session)
	}
}

func (c *consumer) armCommit() {
	c.commits = c.e.clk.At(c.owner, c.e.clk.Now()+c.spec.AutoCommit, func() {
		c.byItself(c.e.machine.AutoCommit, c.armCommit)
	})
}

// byItself is what the client does on its own timer.
func (c *consumer) byItself(what func(time.Duration, inmem.Session), again func()) {
	c.e.mu.Lock()
	defer c.e.leave()
	if c.closed {
		return
	}
	if c.e.breakOf(c.spec.Name, upStalls) == nil {
		what(c.e.clk.Now(), c.session)
	}
	again()
}

// Receive implements broker.Consumer.
func (c *consumer) Receive(ctx context.Context, into []broker.Delivery, wait time.Duration) (int, error) {
	start := c.e.clk.Now()
	if err := c.travel(ctx, c.receives, c.e.opts.Receive, fetch); err != nil {
		return 0, err
	}
	n, err := c.await(ctx, into, wait)
	if n == 0 || err != nil || c.e.profile.Model != contract.LeaseQueue {
		return n, err
	}
	arrives, err := c.e.through(ctx, c.spec.Name, downHeld, downDrops)
	if err == nil {
		err = c.travel(ctx, c.receives, c.e.opts.Receive, down)
	}
	if err != nil || !arrives {
		return 0, err
	}
	took := c.e.clk.Now() - start
	for i := range into[:n] {
		into[i].Requested = took
	}
	return n, nil
}

// await polls until there is something or the wait is over.
func (c *consumer) await(ctx context.Context, into []broker.Delivery, wait time.Duration) (int, error) {
	end := c.e.clk.Now() + wait
	for {
		ticket := c.gate.Ticket()
		n, left, err := c.poll(ctx, into, end)
		if n > 0 || err != nil || left <= 0 {
			return n, err
		}
		if err := c.gate.WaitFor(ctx, ticket, left); err != nil {
			return 0, c.giveUp(ctx, err)
		}
	}
}

// poll asks once. left is how long a wait may still take; 0 is not at all.
func (c *consumer) poll(ctx context.Context, into []broker.Delivery, end time.Duration) (n int, left time.Duration, err error) {
	if err := c.e.enter(ctx); err != nil {
		return 0, 0, err
	}
	defer c.e.leave()
	if c.closed {
		return 0, 0, broker.ErrClosed
	}
	now := c.e.clk.Now()
	if left = max(0, end-now); c.stalled() {
		return 0, left, nil
	}
	if c.conn != nil {
		n, err = c.conn.take(now, into)
		return n, left, err
	}
	n, err = c.e.machine.Receive(now, c.session, left, into)
	if n == 0 && left == 0 {
		c.e.machine.Unwait(now, c.session, false)
	}
	return n, left, err
}

// giveUp ends a wait: it ran out, or the caller's context ended it.
func (c *consumer) giveUp(ctx context.Context, why error) error {
	if err := c.e.enter(ctx); err != nil {
		return err
	}
	defer c.e.leave()
	ranOut := errors.Is(why, clock.ErrTimeout)
	if c.conn == nil {
		c.e.machine.Unwait(c.e.clk.Now(), c.session, !ranOut)
	}
	switch {
	case c.closed:
		return broker.ErrClosed
	case ranOut:
		return nil
	default:
		return why
	}
}

// travel takes the time of one way over the network. Nothing travels to read what the
// client has buffered.
func (c *consumer) travel(ctx context.Context, from *rand.Rand, l Latency, how trip) error {
	if c.conn != nil || from == nil && !c.e.anyBroken() {
		return nil
	}
	d, err := c.draw(ctx, from, l, how)
	if err != nil || d == 0 {
		return err
	}
	return c.e.clk.Sleep(ctx, d)
}

// draw is under the lock because settles may come from several tasks.
func (c *consumer) draw(ctx context.Context, from *rand.Rand, l Latency, how trip) (d time.Duration, err error) {
	if err := c.e.enter(ctx); err != nil {
		return 0, err
	}
	defer c.e.leave()
	if how == fetch && c.e.machine.Buffered(c.e.clk.Now(), c.session) {
		return 0, nil
	}
	if from != nil {
		d = l.draw(from)
	}
	d += c.e.late(c.spec.Name, how != down)
	if how == fetch && c.e.profile.Model != contract.LeaseQueue {
		d += c.e.late(c.spec.Name, false) // what is pushed travels this way only
	}
	return d, nil
}

// trip is which way a client waits for.
type trip uint8

const (
	up trip = iota
	down
	// fetch is a request for messages, unless some are buffered.
	fetch
)

// anyBroken tells whether some link is.
func (e *Engine) anyBroken() bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	return len(e.breaks) > 0
}

// Settle implements broker.Consumer.
func (c *consumer) Settle(ctx context.Context, all []broker.Settlement, results []error) {
	if c.e.profile.Settle != contract.OK && c.written(all) {
		return
	}
	if c.conn != nil && c.conn.write(all, results) {
		return
	}
	arrives, err := c.e.through(ctx, c.spec.Name, upHeld, upDrops)
	if err == nil && c.pulse == nil {
		err = c.travel(ctx, c.settles, c.e.opts.Settle, up)
	}
	if err == nil && arrives {
		err = c.settle(ctx, all, results)
	}
	if err == nil && c.pulse != nil {
		// Nothing overtakes on one connection: it is ahead of a join that is sent after it. So it
		// counts at once, and its answer takes the time of both ways.
		err = errors.Join(c.behindJoin(ctx), c.travel(ctx, c.settles, c.e.opts.Settle, up))
	}
	if err == nil && c.e.profile.Settle == contract.OK {
		err = c.settleAnswer(ctx, arrives)
	}
	if err != nil {
		for i := range all {
			results[i] = err
		}
	}
}

// behindJoin waits as long as the coordinator keeps a join of the client.
func (c *consumer) behindJoin(ctx context.Context) error {
	for {
		ticket := c.gate.Ticket()
		if err := c.e.enter(ctx); err != nil {
			return err
		}
		joining := c.e.machine.Joining(c.e.clk.Now(), c.session)
		c.e.leave()
		if !joining {
			return nil
		}
		if err := c.gate.Wait(ctx, ticket); err != nil {
			return err
		}
	}
}

// settleAnswer waits for the answer of a settlement.
func (c *consumer) settleAnswer(ctx context.Context, arrived bool) error {
	arrives, late := false, error(nil)
	if arrived {
		arrives, late = c.e.through(ctx, c.spec.Name, downHeld, downDrops)
	}
	if late == nil && arrives {
		late = c.travel(ctx, c.settles, c.e.opts.Settle, down)
	} else if late == nil {
		late = errors.Join(c.e.clk.Sleep(ctx, defaultTimeout), context.DeadlineExceeded)
	}
	if late == nil {
		return nil
	}
	return &broker.Error{Op: "settle", Answer: contract.Timeout, Class: contract.Unknown, Err: late}
}

// written tells whether settlements that nobody answers were only written: what the link
// loses is lost, what it holds arrives when it heals.
func (c *consumer) written(all []broker.Settlement) bool {
	c.e.mu.Lock()
	defer c.e.mu.Unlock()
	if c.e.breakOf(c.spec.Name, upDrops) != nil {
		return true
	}
	held := c.e.breakOf(c.spec.Name, upHeld)
	if held == nil {
		return false
	}
	kept := slices.Clone(all)
	held.waiting = append(held.waiting, func() {
		if !c.closed {
			c.e.machine.Settle(c.e.clk.Now(), c.session, kept, make([]error, len(kept)))
		}
	})
	return true
}

func (c *consumer) settle(ctx context.Context, all []broker.Settlement, results []error) error {
	if err := c.e.enter(ctx); err != nil {
		return &broker.Error{Op: "settle", Answer: contract.Closed, Class: contract.Rejected, Err: err}
	}
	defer c.e.leave()
	c.e.machine.Settle(c.e.clk.Now(), c.session, all, results)
	return nil
}

var errSettleClosed = &broker.Error{Op: "settle", Answer: contract.Closed, Class: contract.Rejected, Err: broker.ErrClosed}

// Seek implements broker.Consumer.
func (c *consumer) Seek(ctx context.Context, partition int32, offset int64) error {
	return c.steer(ctx, func(now time.Duration) error { return c.e.machine.Seek(now, c.session, partition, offset) })
}

// Pause implements broker.Consumer.
func (c *consumer) Pause(ctx context.Context) error {
	return c.steer(ctx, func(now time.Duration) error { return c.e.machine.Pause(now, c.session, true) })
}

// Resume implements broker.Consumer.
func (c *consumer) Resume(ctx context.Context) error {
	return c.steer(ctx, func(now time.Duration) error { return c.e.machine.Pause(now, c.session, false) })
}

func (c *consumer) steer(ctx context.Context, do func(time.Duration) error) error {
	if err := c.e.enter(ctx); err != nil {
		return err
	}
	defer c.e.leave()
	return do(c.e.clk.Now())
}

// Close implements broker.Consumer.
func (c *consumer) Close(ctx context.Context) error {
	if c.conn != nil {
		if err := c.conn.flush(ctx); err != nil {
			return err
		}
	}
	if err := c.giveBack(ctx); err != nil {
		return err
	}
	if err := c.e.enter(ctx); err != nil {
		return err
	}
	defer c.e.leave()
	if !c.closed {
		c.e.machine.Leave(c.e.clk.Now(), c.session)
		c.end()
	}
	return nil
}

// giveBack ends the session of a group's member before it leaves, and takes the time of that.
func (c *consumer) giveBack(ctx context.Context) error {
	takes := c.e.opts.Release
	if takes.zero() || c.e.profile.Model != contract.Log || c.spec.Group == "" {
		return nil
	}
	if err := c.e.enter(ctx); err != nil {
		return err
	}
	if !c.closed {
		c.e.machine.GiveBack(c.e.clk.Now(), c.session)
	}
	c.e.leave()
	return c.e.clk.Sleep(ctx, takes.draw(c.e.stream(c.spec.Name, "leave", takes)))
}

// Abandon implements broker.Consumer. A wake that was promised to it goes to another.
func (c *consumer) Abandon() {
	c.e.mu.Lock()
	defer c.e.leave()
	if c.closed {
		return
	}
	if c.conn == nil || !c.conn.vanish() {
		c.e.machine.Vanish(c.e.clk.Now(), c.session)
	}
	c.end()
}

// end stops what the client does by itself and lets go of whoever waits in it.
func (c *consumer) end() {
	c.closed = true
	c.e.consumers[c.session] = nil
	for _, t := range []clock.Timer{c.beats, c.commits} {
		if t != nil {
			t.Stop()
		}
	}
	c.gate.Wake()
}
