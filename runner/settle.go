// SPDX-License-Identifier: Apache-2.0

package runner

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/seed-720a3c77/harness/broker"
	"github.com/seed-720a3c77/harness/clock"
	"github.com/seed-720a3c77/harness/contract"
	"github.com/seed-720a3c77/harness/msg"
	"github.com/seed-720a3c77/harness/runner/record"
)

// settle settles what is done, in one call.
func (l *life) settle(ctx context.Context, done []broker.Delivery) {
	l.settles = l.settles[:0]
	verb := l.verb()
	for i := range done {
		if verb != broker.Ack && coveredLater(done, i) {
			continue
		}
		l.settles = append(l.settles, broker.Settlement{Verb: verb, Token: done[i].Token})
	}
	l.send(ctx)
}

// verb is how this group says "done".
func (l *life) verb() broker.Verb {
	switch {
	case l.group.plan.Settle.When == "auto":
		return broker.Mark
	case l.group.run.plan.Profile.Model == contract.Log:
		return broker.Commit
	}
	return broker.Ack
}

// coveredLater: on a log a later position of the same partition covers the earlier ones.
func coveredLater(done []broker.Delivery, i int) bool {
	for _, later := range done[i+1:] {
		if later.Token.Partition == done[i].Token.Partition && later.Token.Offset > done[i].Token.Offset {
			return true
		}
	}
	return false
}

func (l *life) send(ctx context.Context) {
	if len(l.settles) == 0 {
		return
	}
	if l.group.plan.Settle.How == "async" {
		l.sendLater(ctx)
		return
	}
	results := l.results[:len(l.settles)]
	clear(results)
	l.consumer.Settle(ctx, l.settles, results)
	l.settled(results)
}

func (l *life) settled(results []error) {
	for _, err := range results {
		if err == nil {
			l.group.run.progress.Settled.Add(1)
		}
	}
}

// sendLater settles in a task of its own, so that the work goes on before the answer.
func (l *life) sendLater(ctx context.Context) {
	consumer, settles := l.consumer, slices.Clone(l.settles)
	l.later = slices.DeleteFunc(l.later, func(t clock.Task) bool { return !t.Alive() })
	l.later = append(l.later, l.group.run.clock.Go(ctx, l.name+" settles", func(ctx context.Context) {
		results := make([]error, len(settles))
		consumer.Settle(ctx, settles, results)
		l.settled(results)
	}))
}

// awaitLater waits for settlements under way, so that a polite leave loses none.
func (l *life) awaitLater(ctx context.Context) {
	for _, t := range l.later {
		_ = t.Join(ctx)
	}
	l.later = l.later[:0]
}

// outcome of a failure policy.
type outcome uint8

const (
	// given away, or left to its lease: nothing to settle.
	given outcome = iota
	// again: run the handler again.
	again
	// settleIt: settle it as done, because it went elsewhere or is skipped.
	settleIt
)

// retryPause is between two tries in place of a handler that takes no time: without it time
// would never go on, and a record grow as fast as it can be written.
const retryPause = time.Millisecond

// failed applies the policy to a delivery whose handler failed.
func (l *life) failed(ctx context.Context, d *broker.Delivery) outcome {
	policy := &l.group.plan.Failure
	failures := l.supervisor.Failures(ctx, d.ID, 1)
	action := policy.before
	if policy.after > 0 && failures >= policy.after {
		action = policy.then
	}
	delay := policy.delay
	if action == "retry" && l.group.plan.Takes == 0 {
		delay = max(delay, retryPause)
	}
	if delay > 0 && !l.delaysAtBroker(action) && l.group.run.clock.Sleep(ctx, delay) != nil {
		return given
	}
	switch action {
	case "retry":
		return again
	case "skip":
		return settleIt
	case "republish", "dead-letter":
		return l.republish(ctx, d)
	case "requeue":
		l.giveBack(ctx, broker.Settlement{Verb: broker.Requeue, Token: d.Token, Delay: l.brokerDelay()})
	case "reject":
		l.giveBack(ctx, broker.Settlement{Verb: broker.Reject, Token: d.Token})
	}
	return given
}

func (l *life) giveBack(ctx context.Context, s broker.Settlement) {
	if l.group.plan.Settle.When == "before-handler" {
		return // it was settled before the work: there is nothing to give back
	}
	l.settles = append(l.settles[:0], s)
	l.send(ctx)
}

// delaysAtBroker: the broker hides the message, so that the worker need not wait.
func (l *life) delaysAtBroker(action string) bool {
	return action == "requeue" && l.group.run.plan.Profile.Can.Has(contract.RequeueDelay)
}

func (l *life) brokerDelay() time.Duration {
	profile := &l.group.run.plan.Profile
	if delay := l.group.plan.Failure.delay; delay > 0 && profile.Can.Has(contract.RequeueDelay) {
		return profile.Lease.Fit(delay)
	}
	return 0
}

// republish sends a copy to a retry topic or dead-letter destination and settles the
// original only when the copy was answered well: an unanswered copy is tried again.
func (l *life) republish(ctx context.Context, d *broker.Delivery) outcome {
	run := l.group.run
	out, err := l.outlet(ctx)
	if err != nil {
		return again
	}
	copied := &msg.Message{
		To: l.group.plan.Failure.to, ID: d.ID, Attempt: d.Attempt + 1, Intended: run.clock.Now(),
		Key: d.Key, Partition: msg.AnyPartition, Body: d.Body,
	}
	gate := run.clock.NewGate("republish")
	answered, failure := false, error(nil)
	ticket := gate.Ticket()
	_ = out.Publish(ctx, copied, func(_ broker.Receipt, err error) {
		answered, failure = true, err
		gate.Wake()
	})
	if gate.Wait(ctx, ticket) != nil || !answered || failure != nil {
		return again
	}
	return settleIt
}

// outlet is the worker's own producer, opened when it is first needed.
func (l *life) outlet(ctx context.Context) (*record.Producer, error) {
	if l.producer != nil {
		return l.producer, nil
	}
	run := l.group.run
	spec := broker.ProducerSpec{Name: fmt.Sprintf("%s-%d-out", l.name, l.number), Run: run.plan.Where.Nonce, Acks: "all"}
	out, err := l.record.Producer(ctx, run.Engine, spec, l.group.plan.Failure.to)
	if err != nil {
		return nil, err
	}
	l.mu.Lock()
	l.producer = out
	l.mu.Unlock()
	return out, nil
}
