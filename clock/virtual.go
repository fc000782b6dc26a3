// SPDX-License-Identifier: Apache-2.0

package clock

import (
	"context"
	"math"
	"math/rand/v2"
	"sync/atomic"
	"time"
)

// virtualEpoch is what instant zero is called where a date is needed, by
// context.Context.Deadline: the beginning of time in a testing/synctest bubble.
var virtualEpoch = time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC)

// livelockAfter is the number of events at one instant that is called a livelock: about
// a second of them. An honest burst without any latency stays far below.
const livelockAfter = 10_000_000

// Virtual is a Clock of discrete events. One task runs at a time; when it waits, time
// jumps to the next event. Events of one instant come in an order drawn from the seed,
// so the same seed gives the same run, byte for byte, and other seeds other orders.
//
// Nothing of it is safe for concurrent use, except what Foreign calls use: contexts.
type Virtual struct {
	seed   uint64
	epoch  time.Time
	now    time.Duration
	agenda agenda
	ties   ties

	main    *virtualTask // of the run in progress
	current *virtualTask // whose code runs; nil while the engine's or a callback does
	owner   *virtualTask // of the callback that runs
	engine  mailbox
	err     error // why the run has to end

	idle    []*coroutine // ready for another task
	corpses []*coroutine // of killed tasks, until Close
	kills   int          // Kill calls so far; zero spares looking
	frozen  int          // tasks frozen now; zero spares looking
	holds   holds
	closing bool // Close unwinds the dead
	closed  bool

	burst   int // events at this instant
	limit   int // burst that is a livelock
	steps   uint64
	beat    atomic.Uint64 // steps, for the watchdog
	watched bool
	busy    atomic.Bool // a run is in progress
	noSkip  bool        // tests only: always the long way
	bubble  *bubble
}

var _ Clock = (*Virtual)(nil)

// NewVirtual returns a clock at instant zero. Call Close when done with it.
func NewVirtual(seed uint64) *Virtual {
	v := &Virtual{seed: seed, epoch: virtualEpoch, limit: livelockAfter, ties: ties(scramble(seed))}
	v.engine.init(v, nil)
	v.holds.init(v)
	return v
}

// Now implements Clock.
func (v *Virtual) Now() time.Duration { return v.now }

// Rand implements Clock.
func (v *Virtual) Rand(name string) *rand.Rand { return rand.New(stream(v.seed, name)) }

// Run runs fn as the main task until it returns, then kills the tasks that are left. It
// may be called again afterwards; time goes on. It returns nil, or an error for which
// errors.Is says ErrDeadlock, ErrLivelock or ErrKilled, or a *PanicError.
//
// A runtime.Goexit in a task or callback that is not dead, such as testing's FailNow,
// ends the goroutine that called Run: call Run on the test's goroutine and defer Close.
func (v *Virtual) Run(name string, fn func(context.Context)) error {
	if v.main != nil {
		panic(nestedRun)
	}
	if v.closed {
		panic(closedRun)
	}
	v.err = nil
	v.busy.Store(true)
	v.main = v.newTask(name, fn)
	v.main.ctx.init(v, v.main)
	defer v.finish()
	v.schedule(v.now, &v.main.wake)
	for v.err == nil && !v.main.ended() {
		v.step()
	}
	if v.err == nil && v.main.killed {
		v.err = mainKilled(name)
	}
	return v.err
}

// finish ends the run, also when a Goexit passes through.
func (v *Virtual) finish() {
	v.current, v.owner = nil, nil
	v.main.kill()
	v.main = nil
	v.busy.Store(false)
}

// Close unwinds what was killed: deferred calls of those tasks run now, with every
// clock call refused. Write a history's last byte before. No goroutine is left behind,
// unless a deferred call blocks for ever, as Close then does.
func (v *Virtual) Close() {
	v.closed, v.closing = true, true
	for _, c := range v.corpses {
		c.reap()
	}
	for _, c := range v.idle {
		c.stop()
	}
	v.corpses, v.idle = nil, nil
	v.closing = false
}

// step lets the next event happen.
func (v *Virtual) step() {
	if v.bubble != nil {
		v.bubble.sync(v)
	}
	if len(v.agenda) == 0 {
		v.err = v.stuck(ErrDeadlock)
		return
	}
	next := v.agenda[0]
	v.agenda.remove(next.ev)
	if !v.advance(next.at) {
		v.err = v.stuck(ErrLivelock)
		return
	}
	next.ev.act.due()
}

// advance moves time for one event and counts it; false means livelock. Every way to
// let an event happen goes through here.
func (v *Virtual) advance(to time.Duration) bool {
	if to > v.now {
		v.now = to
		v.burst = 0
	}
	v.burst++
	v.steps++
	if v.watched {
		v.beat.Store(v.steps)
	}
	return v.burst <= v.limit
}

// after is the instant d from now; the end of time if that is nearer.
func (v *Virtual) after(d time.Duration) time.Duration {
	if at := v.now + max(d, 0); at >= v.now {
		return at
	}
	return math.MaxInt64
}

// schedule puts ev at the instant, with a tie from the seed.
func (v *Virtual) schedule(at time.Duration, ev *event) {
	v.agenda.add(max(at, v.now), v.ties.draw(), ev)
}

// call runs a callback. Its panic fails the run; the one that ends the callback of an
// owner that died meanwhile does not.
func (v *Virtual) call(owner *virtualTask, fn func()) {
	v.owner = owner
	defer func() {
		v.owner = nil
		if p := recover(); p != nil && p != (callbackDied{}) {
			v.fail(owner, p)
		}
	}()
	fn()
}

// fail ends the run because code of t panicked.
func (v *Virtual) fail(t *virtualTask, value any) {
	if v.err == nil {
		v.err = newPanicError(t.label(), value)
	}
}
