// SPDX-License-Identifier: Apache-2.0

package runner

import (
	"context"

	"github.com/seed-720a3c77/harness/broker"
	"github.com/seed-720a3c77/harness/contract"
	"github.com/seed-720a3c77/harness/effects"
)

// handle works off one batch and settles as the workload says.
func (l *life) handle(ctx context.Context, batch []broker.Delivery) {
	run := l.group.run
	run.progress.Delivered.Add(int64(len(batch)))
	l.supervisor.Holding(true)
	defer l.supervisor.Holding(false)
	l.reach(ctx, "received", 1, &batch[0])
	when := l.group.plan.Settle.When
	if when == "before-handler" {
		l.settle(ctx, batch)
	}
	done := l.done[:0]
	for i := range batch {
		d := &batch[i]
		if !l.one(ctx, d, i+1, len(batch)) {
			continue
		}
		if when == "after-handler" || when == "auto" {
			l.settle(ctx, batch[i:i+1])
			l.reach(ctx, "after-settle", i+1, d)
			continue
		}
		done = append(done, *d)
	}
	if when == "after-batch" {
		l.settle(ctx, done)
	}
}

// one handles a delivery until it is done or given away; false means that there is
// nothing left to settle.
func (l *life) one(ctx context.Context, d *broker.Delivery, position, of int) bool {
	run := l.group.run
	for try := 1; ; try++ {
		l.reach(ctx, "before-handler", position, d)
		failure := l.work(ctx, d, try)
		if failure == "" {
			l.reach(ctx, "after-effect", position, d)
			if position < of {
				l.reach(ctx, "mid-batch", position, d)
			}
			return true
		}
		run.progress.Failed.Add(1)
		if next := l.failed(ctx, d); next != again {
			return next == settleIt
		}
		if ctx.Err() != nil || l.leaving.Load() {
			return false
		}
	}
}

// work runs the handler once: look up, work, effect. It returns why it failed, or "".
func (l *life) work(ctx context.Context, d *broker.Delivery, try int) string {
	start := l.record.Now()
	l.record.HandlerStart(d, try)
	failure := l.attempt(ctx, d)
	l.record.HandlerEnd(d, start, failure)
	if failure == "" {
		l.group.run.progress.Handled.Add(1)
	}
	return failure
}

func (l *life) attempt(ctx context.Context, d *broker.Delivery) string {
	g := l.group
	key := effects.Key{Subscription: g.plan.Group, ID: d.ID}
	begin, err := g.store.Begin(ctx, key, l.name)
	switch {
	case err != nil:
		return "store: " + err.Error()
	case begin == effects.Busy:
		return "claimed by another worker"
	case begin == effects.Done:
		l.record.EffectResult(d, effects.Result{Skipped: true, Count: 1}, nil)
		return ""
	}
	stop := l.renew(ctx, d)
	defer stop()
	if failure := l.scripted(ctx, d); failure != "" {
		return failure
	}
	if g.plan.Takes > 0 && g.run.clock.Sleep(ctx, g.plan.Takes) != nil {
		return "stopped"
	}
	return l.effect(ctx, key, d)
}

func (l *life) effect(ctx context.Context, key effects.Key, d *broker.Delivery) string {
	if l.group.plan.EffectMode() == effects.None {
		return ""
	}
	l.record.EffectIntent(d)
	result, err := l.group.store.Apply(ctx, key, l.name)
	l.record.EffectResult(d, result, err)
	switch {
	case err != nil:
		return "store: " + err.Error()
	case result.Refused:
		return "the store refused the effect"
	}
	return ""
}

// scripted does what the workload's script says of this message.
func (l *life) scripted(ctx context.Context, d *broker.Delivery) string {
	g := l.group
	if !g.hasScript(d.ID) {
		return ""
	}
	s := g.scripted(d.ID, l.supervisor.Failures(ctx, d.ID, 0))
	if s == nil {
		return ""
	}
	switch s.do {
	case "delay":
		_ = g.run.clock.Sleep(ctx, s.wait)
		return ""
	case "hang":
		_ = g.run.clock.Sleep(ctx, g.run.plan.Limit)
		return "hung"
	}
	return "scripted: " + s.do
}

// renew extends the lease of what is being handled until the returned stop is called.
func (l *life) renew(ctx context.Context, d *broker.Delivery) func() {
	g := l.group
	if g.plan.Renew == 0 || !g.run.plan.Profile.Can.Has(contract.Extend) {
		return func() {}
	}
	renewing, cancel := g.run.clock.WithCancel(ctx)
	consumer, token := l.consumer, d.Token
	g.run.clock.Go(renewing, l.name+" renews", func(ctx context.Context) {
		settlements := []broker.Settlement{{Verb: broker.Extend, Token: token, Delay: g.plan.Lease}}
		results := make([]error, 1)
		for g.run.clock.Sleep(ctx, g.plan.Renew) == nil {
			consumer.Settle(ctx, settlements, results)
		}
	})
	return func() { cancel(nil) }
}
