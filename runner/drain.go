// SPDX-License-Identifier: Apache-2.0

package runner

import (
	"context"
	"fmt"
	"time"

	"github.com/seed-720a3c77/harness/broker"
	"github.com/seed-720a3c77/harness/contract"
)

// look is how often the drain looks.
const look = 100 * time.Millisecond

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
		switch {
		case err == nil && left == "" && r.timeline.idle():
			if quiet++; quiet >= confirmations {
				return ""
			}
		default:
			quiet = 0
		}
		if m := r.progress.moved(); m != moved || !r.timeline.idle() {
			moved, since = m, now
		}
		switch {
		case now-began > r.plan.Limit:
			return fmt.Sprintf("the drain's limit of %s passed: %s", r.plan.Limit, reason(left, err))
		case now-since > r.plan.Patience:
			return fmt.Sprintf("nothing moved for %s: %s", r.plan.Patience.Round(time.Millisecond), reason(left, err))
		}
		if r.clock.Sleep(ctx, look) != nil {
			return "the run was cancelled"
		}
	}
}

func reason(left string, err error) string {
	if err != nil {
		return "depth: " + err.Error()
	}
	return left
}

// left says what some subscription still has, or "".
func (r *run) left(ctx context.Context) (string, error) {
	if name := r.holder(); name != "" {
		return name + " is still at work", nil
	}
	for _, g := range r.groups {
		depth, err := r.depth(ctx, g)
		if err != nil {
			return "", err
		}
		if n := remaining(r.plan.Profile.Model, depth); n > 0 && g.plan.Settle.When != "never" {
			return fmt.Sprintf("%s has %d messages", g.plan.Consume.From, n), nil
		}
	}
	return "", nil
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
