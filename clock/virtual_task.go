// SPDX-License-Identifier: Apache-2.0

package clock

import (
	"context"
	"runtime"
	"time"
)

// virtualTask is a Task of Virtual.
type virtualTask struct {
	v    *Virtual
	name string
	fn   func(context.Context)
	ctx  virtualContext
	mail mailbox
	co   *coroutine // from the first entry to the end
	wake event      // its start, and the end of its wait

	parent *virtualTask
	sons   list[virtualTask]
	kin    link[virtualTask]

	killed   bool
	returned bool
	frozen   bool
	over     virtualGate // woken when it has ended

	// The wait it is in.
	parked bool
	doing  string // "sleeps", "waits on gate", ...
	on     *virtualGate
	under  *virtualContext
	queued link[virtualTask] // on the gate
	bound  link[virtualTask] // under the context
	result error
}

func (v *Virtual) newTask(name string, fn func(context.Context)) *virtualTask {
	t := &virtualTask{v: v, name: name, fn: fn, doing: "has not started"}
	t.wake.act = t
	t.over = virtualGate{v: v, name: name}
	t.kin.of, t.queued.of, t.bound.of = t, t, t
	t.mail.init(v, t)
	return t
}

// Go implements Clock.
func (v *Virtual) Go(ctx context.Context, name string, fn func(context.Context)) Task {
	up := v.enter(ctx)
	v.Check(up)
	t := v.newTask(name, fn)
	t.parent = up.task
	t.parent.sons.add(&t.kin)
	t.ctx.init(v, t)
	t.ctx.derive(ctx, up)
	v.schedule(v.now, &t.wake)
	return t
}

func (t *virtualTask) Name() string { return t.name }
func (t *virtualTask) Alive() bool  { return !t.ended() && !t.isDead() }

func (t *virtualTask) ended() bool { return t.killed || t.returned }

// label is the name, for people; nil is the engine.
func (t *virtualTask) label() string {
	if t == nil {
		return engineName
	}
	return t.name
}

func (t *virtualTask) owned() *virtualTask { return t }

// due resumes the task, or starts it.
func (t *virtualTask) due() {
	v := t.v
	t.settle()
	if v.holds.wants(t) {
		v.holds.keep(t)
		return
	}
	if t.co == nil {
		t.co = v.coroutine()
		t.co.task = t
	}
	v.current = t
	t.co.next()
	v.current = nil
	if t.returned {
		v.idle = append(v.idle, t.co)
		t.co = nil
	}
}

func (v *Virtual) coroutine() *coroutine {
	if last := len(v.idle) - 1; last >= 0 {
		c := v.idle[last]
		v.idle = v.idle[:last]
		return c
	}
	return newCoroutine()
}

// main runs inside the coroutine. A panic must be caught here: outside, its stack is lost.
func (t *virtualTask) main() {
	defer func() {
		if p := recover(); p != nil {
			if !t.killed {
				t.v.fail(t, p)
			}
			t.end()
		}
	}()
	t.fn(&t.ctx)
	t.end()
}

// end marks a task that has returned.
func (t *virtualTask) end() {
	if t.killed {
		return
	}
	t.returned = true
	t.ctx.cancel(context.Canceled, nil)
	t.over.Wake()
	t.forget()
}

// forget takes ended tasks without living descendants out of the tree.
func (t *virtualTask) forget() {
	for t != nil && t.ended() && t.sons.empty() && t.parent != nil {
		t.parent.sons.remove(&t.kin)
		t = t.parent
	}
}

// wait parks the running task until woken through t.rouse. at is when the wait runs out,
// never if negative.
func (t *virtualTask) wait(c *virtualContext, on *virtualGate, doing string, at time.Duration) error {
	v := t.v
	if at >= 0 {
		tie := v.ties.draw()
		if v.skip(at, tie) {
			return timedOut(on)
		}
		v.agenda.add(at, tie, &t.wake)
	}
	t.doing, t.on, t.under, t.result, t.parked = doing, on, c, timedOut(on), true
	if on != nil {
		on.waiting.add(&t.queued)
	}
	if c != nil {
		c.waiting.add(&t.bound)
	}
	t.park()
	return t.result
}

// timedOut is the result of a wait that ran out: nil for a sleep.
func timedOut(on *virtualGate) error {
	if on == nil {
		return nil
	}
	return ErrTimeout
}

// skip is the fast path: if nothing comes before (at, tie), time moves there without
// leaving the task. It draws, counts and beats as the long way does, so that the history
// is the same with and without it.
func (v *Virtual) skip(at time.Duration, tie uint64) bool {
	if v.noSkip || v.bubble != nil || len(v.agenda) > 0 && v.agenda[0].before(&entry{at: at, tie: tie}) {
		return false
	}
	return v.advance(at)
}

// park leaves the coroutine until the scheduler enters it again.
func (t *virtualTask) park() {
	if !t.co.yield(struct{}{}) {
		runtime.Goexit()
	}
}

// rouse ends the wait with a result, as an event of this instant.
func (t *virtualTask) rouse(result error) { t.rouseAt(t.v.now, result) }

func (t *virtualTask) rouseAt(at time.Duration, result error) {
	if !t.parked {
		return
	}
	t.settle()
	t.result = result
	t.v.agenda.remove(&t.wake)
	t.v.schedule(at, &t.wake)
}

// settle takes the task out of what could end its wait.
func (t *virtualTask) settle() {
	if !t.parked {
		return
	}
	t.parked = false
	if t.on != nil {
		t.on.waiting.remove(&t.queued)
	}
	if t.under != nil {
		t.under.waiting.remove(&t.bound)
	}
}

// Join implements Task.
func (t *virtualTask) Join(ctx context.Context) error {
	c, self := t.v.mayWait(ctx, "Join")
	if c.err != nil {
		return c.err
	}
	if t.ended() || t.isDead() {
		return nil
	}
	return self.wait(c, &t.over, "joins task", -1)
}
