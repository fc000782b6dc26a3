// SPDX-License-Identifier: Apache-2.0

package faults

import (
	"context"
	"errors"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/seed-720a3c77/harness/broker"
	"github.com/seed-720a3c77/harness/clock"
	"github.com/seed-720a3c77/harness/contract"
)

// Requests is the port with request faults between the recorder and the engine: the
// history shows what the client was told, the engine knows what is true. A call that no
// rule is armed for costs one atomic load.
type Requests struct {
	broker.Engine
	clock clock.Clock
	model contract.Model
	// quiet: a settlement is never answered (basic.ack), so that there is no answer to drop.
	quiet bool
	// watched counts what must see every call: rules, copies to give, and onCall.
	watched atomic.Int32
	onCall  func(ctx context.Context, c *Call)
	// onNotice hears of assignments and revocations.
	onNotice func(by string, n *broker.Notice)

	mu     sync.Mutex // guards what follows and the rules; never held across a wait
	rules  []*Armed
	copies []given
}

// NewRequests wraps an engine.
func NewRequests(e broker.Engine, clk clock.Clock) *Requests {
	p := e.Profile()
	return &Requests{Engine: e, clock: clk, model: p.Model, quiet: p.Settle == contract.AcceptedOnly}
}

// Watch hands every call to onCall before it is made (a receive when it is answered),
// and every notice of a consumer to onNotice. The call goes on when onCall returns.
// It must be called before the engine is used.
func (r *Requests) Watch(onCall func(context.Context, *Call), onNotice func(by string, n *broker.Notice)) {
	r.onCall, r.onNotice = onCall, onNotice
	r.watched.Add(1)
}

func (r *Requests) tell(ctx context.Context, c *Call) {
	if r.onCall != nil {
		r.onCall(ctx, c)
	}
}

// Action is what happens to a call. The zero value does nothing.
type Action struct {
	// Lost: the request never reaches the engine.
	Lost bool
	// Silent: no answer comes; the caller hears of it after Timeout, or of a lost
	// connection where the engine has no other way to lose an answer.
	Silent  bool
	Timeout time.Duration
	// Told is answered at once to a request that is Lost.
	Told *broker.Error
	// Request and Answer are how long either is late.
	Request, Answer time.Duration
	// HoldRequest and HoldAnswer keep either until the fault heals.
	HoldRequest, HoldAnswer bool
	// Most is how many deliveries, or answered settlements, an answer has; 0 is all.
	Most int
	// Twice sends a settlement a second time, right behind the first.
	Twice bool
	// Again gives a delivery once more.
	Again *Again
}

// late: what it does to a receive is done to the answer.
func (a *Action) late() bool {
	return !a.Lost && (a.Silent || a.Answer > 0 || a.HoldAnswer || a.Again != nil)
}

// Rule is an action and the calls that it is for.
type Rule struct {
	Match
	// Nth is the first matching call that is hit, from 1; Every hits each n-th from there
	// on; Count bounds the hits, 0 is no bound.
	Nth, Every, Count int
	Action            Action
}

// Armed is a rule in force.
type Armed struct {
	Rule
	requests   *Requests
	seen, hits int
	given      int // of the hits, deliveries that were given again
	healed     bool
	spent      bool
	change     clock.Gate // the first hit, the last one, the heal
	held       []func()
}

// Arm puts a rule into force.
func (r *Requests) Arm(rule Rule) *Armed {
	a := &Armed{Rule: rule, requests: r, change: r.clock.NewGate("request fault")}
	r.mu.Lock()
	r.rules = append(r.rules, a)
	r.mu.Unlock()
	r.watched.Add(1)
	return a
}

// hit counts a call and returns the rule that it is hit by, or nil.
func (r *Requests) hit(c *Call, answered bool) *Armed {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, a := range r.rules {
		if c.Operation == Receive && a.Action.late() != answered {
			continue
		}
		if !a.spent && a.Matches(c) && a.take() {
			return a
		}
	}
	return nil
}

// take counts a matching call and tells whether it is one to hit.
func (a *Armed) take() bool {
	a.seen++
	since := a.seen - max(a.Nth, 1)
	if since < 0 || since%max(a.Every, 1) != 0 {
		return false
	}
	a.hits++
	a.spent = a.Count > 0 && a.hits >= a.Count
	if a.hits == 1 || a.spent {
		a.change.Wake()
	}
	return true
}

// done is how many calls felt it: one that is ordered again has to be given first.
func (a *Armed) done() int {
	if a.Action.Again != nil {
		return a.given
	}
	return a.hits
}

// Struck waits until a call has felt the rule. ErrNotActive: it was healed before.
func (a *Armed) Struck(ctx context.Context) error {
	var struck bool
	err := a.until(ctx, func() bool { struck = a.done() > 0; return struck || a.healed })
	if err == nil && !struck {
		err = ErrNotActive
	}
	return err
}

// Spent waits until all that are to feel the rule have felt it.
func (a *Armed) Spent(ctx context.Context) error {
	return a.until(ctx, func() bool { return a.spent && a.done() == a.hits || a.healed })
}

func (a *Armed) until(ctx context.Context, reached func() bool) error {
	for {
		ticket := a.change.Ticket()
		a.requests.mu.Lock()
		done := reached()
		a.requests.mu.Unlock()
		if done {
			return nil
		}
		if err := a.change.Wait(ctx, ticket); err != nil {
			return err
		}
	}
}

// Heal takes the rule out of force, lets go of what it holds and forgets what it ordered. It may be called twice.
func (a *Armed) Heal(context.Context) error {
	held, first := a.end()
	if !first {
		return nil
	}
	a.requests.watched.Add(-1)
	for _, letGo := range held {
		letGo()
	}
	a.change.Wake()
	return nil
}

func (a *Armed) end() (held []func(), first bool) {
	r := a.requests
	r.mu.Lock()
	defer r.mu.Unlock()
	first = !a.healed
	a.healed, a.spent = true, true
	held, a.held = a.held, nil
	r.forget(a)
	r.rules = slices.DeleteFunc(r.rules, func(other *Armed) bool { return other == a })
	return held, first
}

// hold keeps what letGo does until the heal; after it nothing is kept.
func (a *Armed) hold(letGo func()) {
	a.requests.mu.Lock()
	if !a.healed {
		a.held = append(a.held, letGo)
		a.requests.mu.Unlock()
		return
	}
	a.requests.mu.Unlock()
	letGo()
}

// before makes a request late.
func (a *Armed) before(ctx context.Context) error {
	return a.wait(ctx, a.Action.Request, a.Action.HoldRequest)
}

// after makes an answer late.
func (a *Armed) after(ctx context.Context) error {
	return a.wait(ctx, a.Action.Answer, a.Action.HoldAnswer)
}

func (a *Armed) wait(ctx context.Context, d time.Duration, held bool) error {
	if held {
		if err := a.until(ctx, func() bool { return a.healed }); err != nil {
			return err
		}
	}
	if d <= 0 {
		return nil
	}
	return a.requests.clock.Sleep(ctx, d)
}

// answerTimeout is how long a caller waits for an answer where neither fault nor spec says.
const answerTimeout = time.Second

// unanswered is what a caller is told when no answer came.
func unanswered(op string) error {
	return &broker.Error{Op: op, Answer: contract.Timeout, Class: contract.Unknown, Err: context.DeadlineExceeded}
}

var errCut = errors.New("the connection was cut before the answer came")

// cutOff is what a caller is told when the connection was lost with the answer.
func cutOff(op string) error {
	return &broker.Error{Op: op, Answer: contract.Closed, Class: contract.Unknown, Err: errCut}
}
