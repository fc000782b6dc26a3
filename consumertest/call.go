// SPDX-License-Identifier: Apache-2.0

package consumertest

import (
	"context"
	"math/rand/v2"
	"sync"
	"time"

	"github.com/seed-720a3c77/harness/broker"
)

type callKey struct{}

// arrival is one message in the hands of a worker.
type arrival struct {
	event int
	// attempt counts the handler's calls with this event, over all workers and copies.
	attempt  int
	holder   string // a worker that works on it already
	delivery broker.Delivery
	message  Message
}

// call is one run of the handler, on a goroutine of its own. Its worker follows it by steps.
type call struct {
	process *process
	number  int // in the scenario, from 1
	batch   []*arrival
	ctx     context.Context
	cancel  context.CancelFunc
	steps   chan step
	jitter  *rand.Rand

	mu     sync.Mutex
	points int
}

// step is what a worker has to know of a call.
type step struct {
	kind stepKind
	wait time.Duration
	errs []error
	// Of a panic.
	value    any
	site     string // where, in the handler
	injected bool
}

type stepKind uint8

const (
	_ stepKind = iota
	stepReturned
	stepPanicked
	// stepExited: the handler ended its goroutine, as t.FailNow does.
	stepExited
	stepCrashed
	stepCut
	stepFrozen
	stepStopped
)

// injectedPanic is the value of a panic that the schedule asked for.
type injectedPanic struct{}

func (injectedPanic) String() string { return "consumertest: injected panic" }

func newCall(p *process, number int, batch []*arrival) *call {
	c := &call{process: p, number: number, batch: batch}
	// Room for all that can be said: nobody listens to a call whose process has died.
	c.steps = make(chan step, 2+len(p.scene.plan.acts))
	c.jitter = rand.New(rand.NewPCG(p.scene.plan.seed, uint64(number)))
	c.ctx, c.cancel = context.WithCancel(context.WithValue(context.Background(), callKey{}, c))
	return c
}

// run calls the handler. It is the first function of its goroutine.
func (c *call) run() {
	last := step{kind: stepExited}
	defer func() {
		if value := recover(); value != nil {
			last = panicStep(value)
		}
		c.process.end(c)
		c.cancel()
		c.steps <- last
	}()
	messages := make([]Message, len(c.batch))
	for i, a := range c.batch {
		messages[i] = a.message
	}
	last = step{kind: stepReturned, errs: c.process.handle(c.ctx, messages)}
}

func panicStep(value any) step {
	_, injected := value.(injectedPanic)
	return step{kind: stepPanicked, value: value, site: panicSite(), injected: injected}
}

// side of an operation.
type side uint8

const (
	before side = iota
	after
)

// visit is a yield point: the schedule may hold, fail or end the handler here. Who stops
// waiting before an operation has not made it, and after it does not get the answer. A nil
// call is code that belongs to no call: it passes.
func (c *call) visit(ctx context.Context, op *operation, s side) error {
	if c == nil {
		return nil
	}
	point, rest := c.nextPoint()
	c.process.rest(ctx, op.until(), rest)
	if s == before && ctx.Err() != nil {
		return ctx.Err()
	}
	return c.act(ctx, op, point, s)
}

// nextPoint numbers a yield point, and says how long to rest there: no two goroutines wake
// at one instant, because their order would be anybody's. A handler may have several.
func (c *call) nextPoint() (point int, rest time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.points++
	return c.points, time.Duration(1 + c.jitter.Int64N(int64(time.Millisecond)))
}

func (c *call) visited() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.points
}

// act does what the plan has for a point of this call.
func (c *call) act(ctx context.Context, op *operation, point int, s side) error {
	for _, a := range c.batch {
		if s == before && point == 1 && c.process.scene.plan.has(a.event, poison) != nil {
			c.process.scene.came(poison)
			c.fault(a, "fails as always with %s: %s", a.message.ID, op.text)
			return ErrInjected
		}
		todo := c.process.scene.plan.at(a.event, a.attempt, point,
			failAtPoint, loseAnswer, crashAtPoint, panicAtPoint, stopAtPoint, pauseAtPoint, overlap, overlapCrash, slowAtPoint, freezeAtPoint)
		if todo == nil {
			continue
		}
		c.process.scene.came(todo.do)
		if err := c.perform(ctx, op, a, todo, s); err != nil {
			return err
		}
	}
	return nil
}

func (c *call) perform(ctx context.Context, op *operation, a *arrival, todo *act, s side) error {
	p := c.process
	switch todo.do {
	case failAtPoint, loseAnswer:
		return c.fail(op, a, todo, s)
	case panicAtPoint:
		// A panic on a goroutine of the handler's own would end this process, and
		// database/sql keeps a lock when a driver panics under it.
		if op.yielding || !inHandler() {
			return c.crash(a, op)
		}
		c.fault(a, "the handler panics here")
		panic(injectedPanic{})
	case crashAtPoint:
		return c.crash(a, op)
	case stopAtPoint:
		c.fault(a, "is asked to stop: the handler's context ends")
		c.steps <- step{kind: stepStopped}
		c.cancel()
		return ctx.Err()
	case pauseAtPoint:
		c.fault(a, "this step takes %s, and other workers go on", brief(todo.wait))
		p.rest(ctx, op.until(), todo.wait)
		return ctx.Err()
	case overlap:
		c.overlap(ctx, op, a, todo)
		return ctx.Err()
	case overlapCrash:
		c.overlap(ctx, op, a, todo)
		return c.crash(a, op)
	case slowAtPoint:
		c.fault(a, "this step takes %s: %s", brief(todo.wait), p.scene.rules.lostWhen())
		p.rest(ctx, op.until(), todo.wait)
		return ctx.Err()
	case freezeAtPoint:
		c.freeze(ctx, op, a, todo)
	}
	return nil
}

// crash ends the process here.
func (c *call) crash(a *arrival, op *operation) error {
	c.fault(a, "crashes here")
	c.process.crash()
	c.steps <- step{kind: stepCrashed}
	return c.process.refuse(op)
}

// freeze holds the whole process. A context that ends meanwhile does not stop a request
// that was about to leave: it leaves when the process wakes.
func (c *call) freeze(ctx context.Context, op *operation, a *arrival, todo *act) {
	p := c.process
	c.fault(a, "is frozen for %s: %s", brief(todo.wait), p.scene.rules.lostWhen())
	c.steps <- step{kind: stepFrozen, wait: todo.wait}
	if !op.yielding {
		ctx = context.Background()
	}
	p.rest(ctx, op.until(), todo.wait+time.Millisecond)
	c.fault(a, "wakes and goes on")
}

// fail lets an operation fail before it is applied, or loses its answer afterwards.
func (c *call) fail(op *operation, a *arrival, todo *act, s side) error {
	switch {
	case todo.do == failAtPoint && s == before:
		c.fault(a, "fails and is not applied: %s", op.text)
	case todo.do == loseAnswer && s == after:
		c.fault(a, "the answer is lost: the handler sees an error")
	default:
		return nil
	}
	return ErrInjected
}

// overlap lets another worker have the message while this call goes on.
func (c *call) overlap(ctx context.Context, op *operation, a *arrival, todo *act) {
	p := c.process
	if p.scene.givesCopies() {
		c.fault(a, "the queue gives the message to another worker as well; this step takes %s", brief(todo.wait))
		p.scene.inject(a.delivery, p.name, p.scene.trace.now())
	} else {
		c.fault(a, "the connection breaks and the handler goes on; this step takes %s", brief(todo.wait))
		c.steps <- step{kind: stepCut}
	}
	p.rest(ctx, op.until(), todo.wait)
}

func (c *call) fault(a *arrival, format string, args ...any) {
	c.process.scene.fault(c.process.name, a.event, c.number, format, args...)
}

// with names a message of a batch.
func (c *call) with(a *arrival) string {
	if len(c.batch) == 1 {
		return ""
	}
	return " for " + a.message.ID
}
