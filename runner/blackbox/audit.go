// SPDX-License-Identifier: Apache-2.0

package blackbox

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/seed-720a3c77/harness/broker"
	"github.com/seed-720a3c77/harness/contract"
)

const (
	// auditPatience bounds one destination's audit while nothing comes.
	auditPatience = 10 * time.Second
	auditPoll     = 200 * time.Millisecond
	auditBatch    = 100
)

// audit looks at what is stored when every worker has left: a log is read from its start
// without a group, a queue is received from, which is why it comes last.
func (r *run) audit(ctx context.Context) {
	for _, d := range r.plan.Topology.Destinations {
		found, err := r.auditOne(ctx, d.Name)
		why := ""
		if err != nil {
			why = err.Error()
		}
		r.task.AuditEnd(d.Name, found, why)
	}
}

func (r *run) auditOne(ctx context.Context, destination string) (found int, err error) {
	depth, err := r.Engine.Depth(ctx, destination, "")
	if err != nil {
		return 0, err
	}
	want := int(max(depth.Ready, 0))
	if r.plan.Profile.Model == contract.Log {
		want = int(depth.End - depth.Start)
	}
	if want == 0 {
		return 0, nil
	}
	spec := broker.ConsumerSpec{
		Name: "audit-" + destination, Run: r.plan.Nonce, From: destination,
		Batch: cmp.Or(r.plan.Profile.BatchMax, auditBatch), Session: r.plan.Profile.Session.Fit(0),
	}
	consumer, err := r.Engine.Consumer(ctx, spec)
	if err != nil {
		return 0, err
	}
	found, err = r.read(ctx, consumer, make([]broker.Delivery, spec.Batch), want)
	return found, errors.Join(err, consumer.Close(ctx))
}

// read receives until it has seen what is stored. A queue's messages are held until the
// end, so that none is seen twice; a push queue's window would end it, and gets acks.
func (r *run) read(ctx context.Context, consumer broker.Consumer, batch []broker.Delivery, want int) (found int, err error) {
	last := r.Clock.Now()
	for found < want {
		n, err := consumer.Receive(ctx, batch, auditPoll)
		if err != nil {
			return found, err
		}
		for i := range batch[:n] {
			r.task.Audit(&batch[i])
		}
		if n > 0 {
			last = r.Clock.Now()
		}
		if found += n; r.Clock.Now()-last > auditPatience {
			return found, fmt.Errorf("found %d of %d messages and then nothing for %s", found, want, auditPatience)
		}
		if r.plan.Profile.Model == contract.PushQueue {
			acks := make([]broker.Settlement, n)
			for i := range acks {
				acks[i] = broker.Settlement{Verb: broker.Ack, Token: batch[i].Token}
			}
			consumer.Settle(ctx, acks, make([]error, n))
		}
	}
	return found, nil
}
