// SPDX-License-Identifier: Apache-2.0

package runner

import (
	"context"
	"fmt"
	"time"

	"github.com/seed-720a3c77/harness/broker"
	"github.com/seed-720a3c77/harness/contract"
)

// look is how often the drain looks, at first, and lookLast when nothing has moved for long.
const (
	look     = 100 * time.Millisecond
	lookLast = time.Second
)

// ease stretches an interval while nothing happens, to an eighth of the silence at most:
// a long wait costs little and is noticed hardly later.
func ease(first, last, silence time.Duration) time.Duration {
	return min(max(silence/8, first), last)
}

// confirmations is how many looks in a row must find nothing left: what a dying session
// gives back may be between two places at one look.
const confirmations = 3

// drain waits, with the ordinary workers going on, until nothing is ready or in flight.
// It returns "" then, or why it ended otherwise: nothing moved for longer than anything
// can be held, or the limit. What is left is undrained, never lost.
func (r *run) drain(ctx context.Context) string {
	began := r.clock.Now()
	moved, since := r.progress.moved(), began
	for quiet := 0; ; {
		left, err := r.left(ctx)
		now := r.clock.Now()
		wait := look
		switch {
		case err == nil && left.none() && r.timeline.idle():
			if quiet++; quiet >= confirmations {
				return ""
			}
		default:
			quiet, wait = 0, ease(look, lookLast, now-since)
		}
		if m := r.progress.moved(); m != moved || !r.timeline.idle() {
			moved, since = m, now
		}
		switch {
		case r.failure() != nil:
			return "the run has failed: " + r.failure().Error()
		case now-began > r.plan.Limit:
			return fmt.Sprintf("the drain's limit of %s passed: %s", r.plan.Limit, reason(left, err))
		case quiet == 0 && now-since > r.plan.Patience+left.age:
			return fmt.Sprintf("nothing moved for %s: %s", r.plan.Patience.Round(time.Millisecond), reason(left, err))
		}
		if r.clock.Sleep(ctx, wait) != nil {
			return "the run was cancelled"
		}
	}
}

func reason(left leftover, err error) string {
	if err != nil {
		return "depth: " + err.Error()
	}
	return left.String()
}

// leftover is the first thing found that is not finished.
type leftover struct {
	worker, destination string
	messages            int64
	// age is how old that figure may be.
	age time.Duration
}

func (l leftover) none() bool { return l == leftover{} }

func (l leftover) String() string {
	switch {
	case l.worker != "":
		return l.worker + " is still at work"
	case l.messages > 0:
		return fmt.Sprintf("%s has %d messages", l.destination, l.messages)
	}
	return ""
}

// left says what some subscription still has.
func (r *run) left(ctx context.Context) (leftover, error) {
	if name := r.holder(); name != "" {
		return leftover{worker: name}, nil
	}
	for _, g := range r.groups {
		depth, err := r.depth(ctx, g)
		if err != nil {
			return leftover{}, err
		}
		if n := remaining(r.plan.Profile.Model, depth); n > 0 && g.plan.Settle.When != "never" {
			return leftover{destination: g.plan.Consume.From, messages: n, age: depth.Took}, nil
		}
	}
	return leftover{}, nil
}

// holder names a living worker that is at work; the dead hold nothing.
func (r *run) holder() string {
	for _, g := range r.groups {
		for _, w := range g.all() {
			if h := w.current(); h != nil && h.alive() && h.busy() {
				return w.name
			}
		}
	}
	return ""
}

// remaining counts what a subscription has not finished.
func remaining(model contract.Model, d broker.Depth) int64 {
	if model == contract.Log {
		return max(d.End-max(d.Committed, d.Start), 0)
	}
	return max(d.Ready, 0) + max(d.InFlight, 0) + max(d.Delayed, 0)
}
