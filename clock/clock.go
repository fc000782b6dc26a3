// SPDX-License-Identifier: Apache-2.0

package clock

import (
	"context"
	"math/rand/v2"
	"time"
)

// A Clock is time and tasks. Instants are offsets from the start of the run.
//
// Every context handed to a clock must come from it: from Run, Go, WithCancel or
// WithTimeout, possibly under context.WithValue. A context derived by package context's
// WithCancel, WithTimeout and so on cannot wake a wait on virtual time; Virtual panics
// with that advice. One task's context may be used by its own code and callbacks only.
//
// On Virtual all methods are for the code of its tasks and callbacks, which run one at a
// time, and for the goroutine that calls Run, before and after. On Wall all methods are
// safe for concurrent use.
type Clock interface {
	// Now is the time since the start of the run.
	Now() time.Duration

	// Go starts fn as a child of ctx's task: it is killed and frozen with that task, and
	// its context is cancelled with ctx. When fn returns its context is cancelled, so that
	// what it started is asked to stop too. A panic in fn fails the run. The name is for
	// people: it appears in errors and need not be unique.
	Go(ctx context.Context, name string, fn func(context.Context)) Task

	// Sleep waits for d and lets others run, even if d is zero or less. It returns
	// ctx.Err() as soon as ctx is done.
	Sleep(ctx context.Context, d time.Duration) error

	// NewGate returns a gate nobody has woken yet. The name appears in ErrDeadlock.
	NewGate(name string) Gate

	// At calls fn at the instant at, or as soon as possible if that has passed. The
	// owner is ctx's task; nil, or a context without a task, means the engine, which is
	// never killed or frozen. See the package documentation for owners of callbacks.
	At(ctx context.Context, at time.Duration, fn func()) Timer

	// Post calls fn as an event of its own at the present instant, never inside the
	// caller. Calls for one owner keep their order. Owners are those of At.
	Post(ctx context.Context, fn func())

	// WithCancel derives a context. Cancelling takes effect before cancel returns; a nil
	// cause is context.Canceled.
	WithCancel(ctx context.Context) (context.Context, context.CancelCauseFunc)

	// WithTimeout derives a context that ends with context.DeadlineExceeded after d.
	WithTimeout(ctx context.Context, d time.Duration) (context.Context, context.CancelFunc)

	// Foreign calls code that does not know the clock, such as a user's handler, and
	// returns what it returns, or ctx.Err() without calling it if ctx is done. Other tasks
	// go on meanwhile, except on Virtual outside of a bubble. fn must not use the clock; to
	// end it early is up to fn and its context. When the task is killed fn goes on, with
	// that context cancelled, and its result is dropped.
	Foreign(ctx context.Context, fn func() error) error

	// Check is the first line of every operation that reaches outside (a broker, a
	// store): it does not return to a dead task, and holds a frozen one. A context
	// without a task passes. The calls of a clock check by themselves.
	Check(ctx context.Context)

	// Rand returns the random stream that belongs to the run's seed and this name,
	// from its start: the same on both clocks, unaffected by what other streams draw.
	// A stream is not safe for concurrent use and must not be shared by tasks.
	Rand(name string) *rand.Rand
}

// A Gate is an event count: it wakes all who wait and cannot lose a wake.
//
//	for ticket := gate.Ticket(); !ready(); ticket = gate.Ticket() {
//		if err := gate.Wait(ctx, ticket); err != nil {
//			return err
//		}
//	}
//
// The ticket is taken before the condition is tested, and the condition is made true
// before Wake.
type Gate interface {
	// Ticket is the number of wakes so far.
	Ticket() uint64
	// Wait returns nil as soon as the gate has been woken since ticket was taken, which
	// may be at once, or ctx.Err() when ctx is done.
	Wait(ctx context.Context, ticket uint64) error
	// WaitFor is Wait with an end: after d it returns ErrTimeout. If d is zero or less it
	// lets others of this instant run first. It allocates nothing, unlike WithTimeout.
	WaitFor(ctx context.Context, ticket uint64, d time.Duration) error
	// Wake wakes all who wait, and all who will with an older ticket. It never waits.
	Wake()
}

// A Task is a running function and, for Kill, Freeze and Thaw, everything it started.
type Task interface {
	// Name is the name given to Go or Run.
	Name() string

	// Kill ends the task and its descendants as a crash does: their callbacks are
	// dropped and their contexts cancelled with the cause ErrKilled. On Virtual no code
	// of theirs runs any more, deferred calls neither until Close, and a task that kills
	// itself does not come back from Kill. On Wall each ends at its next clock call, by
	// runtime.Goexit, whose deferred calls run with every clock call refused. To kill a
	// dead task is a no-op; to kill one that has returned ends what it started.
	Kill()

	// Freeze holds the task and its descendants, as SIGSTOP does: time goes on, waits
	// run out, but no code of theirs runs until Thaw. On Wall each is held at its next
	// clock call. Freezes do not count up, but a task under a frozen ancestor stays held
	// until both are thawed.
	Freeze()
	// Thaw undoes Freeze. Callbacks that came due meanwhile are called in their order.
	Thaw()

	// Join waits until no code of the task itself runs any more: it has returned or, on
	// Virtual, was killed. Its error is ctx.Err(). Descendants may live on.
	Join(ctx context.Context) error
	// Alive reports whether the task has neither returned nor been killed.
	Alive() bool
}

// A Timer is a pending call of At.
type Timer interface {
	// Stop reports whether it prevented the call: false after the call began, or was
	// stopped or dropped before.
	Stop() bool
}
