// SPDX-License-Identifier: Apache-2.0

package runner

import (
	"context"
	"time"

	"github.com/seed-720a3c77/harness/broker"
	"github.com/seed-720a3c77/harness/clock"
	"github.com/seed-720a3c77/harness/faults"
	"github.com/seed-720a3c77/harness/msg"
)

// point is a trigger that waits for somebody.
type point struct {
	trigger trigger
	fired   clock.Gate // somebody came
	// over: the step is done, and who came may go on, if it lives.
	over clock.Gate
	// ticket of over and due of fired are from before anybody can come.
	ticket, due uint64
	// worker is who came; the timeline's lock guards it and seen until it has fired.
	worker string
	// seen counts the calls or notices that matched.
	seen int
}

// await returns when the trigger is due, with the worker that reached it and what lets
// that worker go on. A point may have been armed before.
func (t *timeline) await(ctx context.Context, when trigger, armed *point) (string, func(), error) {
	if when.waits() {
		return t.awaitWorker(ctx, when, armed)
	}
	wait := when.after
	if when.at > 0 {
		wait = t.began + when.at + t.later(when.jitter) - t.run.clock.Now()
	}
	return "", func() {}, t.run.clock.Sleep(ctx, max(wait, 0))
}

// awaitWorker waits for a worker at a point, not before the trigger's time. With a jitter
// the step is later, and the worker goes on meanwhile.
func (t *timeline) awaitWorker(ctx context.Context, when trigger, armed *point) (string, func(), error) {
	if wait := t.began + when.at - t.run.clock.Now(); when.at > 0 && wait > 0 {
		if err := t.run.clock.Sleep(ctx, wait); err != nil {
			return "", nil, err
		}
	}
	worker, release, err := t.awaitPoint(ctx, when, armed)
	if err != nil || when.jitter <= 0 {
		return worker, release, err
	}
	release()
	return worker, func() {}, t.run.clock.Sleep(ctx, t.later(when.jitter))
}

// later draws how much later than its time a step is.
func (t *timeline) later(jitter time.Duration) time.Duration {
	if jitter <= 0 {
		return 0
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	return time.Duration(t.rand.Int64N(int64(jitter)))
}

// armEarly arms what a chain begins with before anybody can pass it.
func (t *timeline) armEarly(when trigger) *point {
	if !when.waits() || when.at > 0 {
		return nil
	}
	return t.arm(when)
}

func (t *timeline) arm(when trigger) *point {
	p := &point{trigger: when, fired: t.run.clock.NewGate("trigger of a step"), over: t.run.clock.NewGate("step at a trigger")}
	p.ticket, p.due = p.over.Ticket(), p.fired.Ticket()
	t.mu.Lock()
	t.points = append(t.points, p)
	t.mu.Unlock()
	t.armed.Add(1)
	return p
}

func (t *timeline) awaitPoint(ctx context.Context, when trigger, p *point) (string, func(), error) {
	if p == nil {
		p = t.arm(when)
	}
	t.wait(-1)
	err := p.fired.Wait(ctx, p.due)
	t.wait(+1)
	if err != nil {
		t.match(func(other *point) bool { return other == p })
		p.over.Wake()
		return "", nil, err
	}
	return p.worker, p.over.Wake, nil
}

// match takes the first point that wants says off the list, so that it fires once.
func (t *timeline) match(want func(*point) bool) *point {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.over {
		return nil
	}
	for i, p := range t.points {
		if want(p) {
			t.points = append(t.points[:i], t.points[i+1:]...)
			t.armed.Add(-1)
			return p
		}
	}
	return nil
}

// fire lets a step happen, and holds the caller until it has.
func (p *point) fire(ctx context.Context, worker string) {
	p.worker = worker
	p.fired.Wake()
	_ = p.over.Wait(ctx, p.ticket)
}

// reach tells the timeline that a worker is at a point. If a step waits for it, the
// worker is held here until the step is done.
func (t *timeline) reach(ctx context.Context, worker, name string, n int, id msg.ID) {
	if t == nil || t.armed.Load() == 0 {
		return
	}
	p := t.match(func(p *point) bool { return p.trigger.reached(worker, name, n, id) })
	if p != nil {
		p.fire(ctx, worker)
	}
}

// called tells the timeline of a call of the port, which is held until the step is done.
func (t *timeline) called(ctx context.Context, c *faults.Call) {
	if t == nil || t.armed.Load() == 0 {
		return
	}
	p := t.match(func(p *point) bool {
		call := p.trigger.call
		return call != nil && call.Matches(c) && p.count()
	})
	if p != nil {
		p.fire(ctx, faults.WorkerOf(c.By))
	}
}

// noticed tells the timeline what a client was told by its broker, who waits for nobody.
func (t *timeline) noticed(by string, n *broker.Notice) {
	name := noticeOf(n.Kind)
	if t == nil || name == "" || t.armed.Load() == 0 {
		return
	}
	worker := faults.WorkerOf(by)
	p := t.match(func(p *point) bool {
		return p.trigger.point == name && p.trigger.matches(worker) && p.count()
	})
	if p != nil {
		p.worker = worker
		p.fired.Wake()
	}
}

// changed lets go of the steps that wait for a change of a fault.
func (t *timeline) changed(h *healing, state string) {
	became := func(p *point) bool { return p.trigger.became(h.step.kind.Name, h.target, state) }
	for p := t.match(became); p != nil; p = t.match(became) {
		p.fired.Wake()
	}
}

// count counts what matched, and tells whether it is the n-th.
func (p *point) count() bool {
	p.seen++
	return p.seen == p.trigger.n
}
