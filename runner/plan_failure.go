// SPDX-License-Identifier: Apache-2.0

package runner

import (
	"time"

	"github.com/seed-720a3c77/harness/contract"
	"github.com/seed-720a3c77/harness/workloads"
)

// failurePlan is what a worker does with a message whose handler failed: before is done
// until the message has failed after times, then is done once.
type failurePlan struct {
	before, then string
	after        int // 0: never comes to then
	to           string
	delay        time.Duration
}

// failure maps the workload's policy, or a limit of deliveries with a dead letter that
// the broker cannot apply by itself, to what a client does.
func (p *Plan) failure(c *workloads.Consume, d workloads.Destination) failurePlan {
	f := failurePlan{before: p.giveBack(), then: c.OnFailure.Then, after: max(c.OnFailure.After, 1), delay: p.scaled(c.OnFailure.Delay)}
	switch f.then {
	case "":
		return p.limited(f, d)
	case "requeue", "retry", "expire":
		f.before, f.after = p.possible(f.then), 0
	case "republish", "dead-letter":
		f.to = p.name(c.OnFailure.To)
	}
	return f
}

// limited: the broker counts, or the client has to.
func (p *Plan) limited(f failurePlan, d workloads.Destination) failurePlan {
	f.after = 0
	if d.MaxDeliveries <= 0 || d.DeadLetter == "" || p.Profile.Can.Has(contract.DeadLetter) {
		return f
	}
	f.after = d.MaxDeliveries
	if p.Profile.Can.Has(contract.Reject) {
		f.then = "reject"
		p.note("%s has no limit of deliveries: the worker rejects after %d", p.Profile.Name, f.after)
		return f
	}
	f.then, f.to = "dead-letter", p.name(d.DeadLetter)
	p.note("%s has no dead letters: the worker publishes to %s after %d attempts and commits", p.Profile.Name, d.DeadLetter, f.after)
	return f
}

// giveBack is how the model gives a failed message another try by itself.
func (p *Plan) giveBack() string {
	if p.Profile.Can.Has(contract.Requeue) {
		return "requeue"
	}
	return "retry"
}

// possible replaces requeue on a log, which takes nothing back.
func (p *Plan) possible(then string) string {
	if then == "requeue" {
		return p.giveBack()
	}
	return then
}
