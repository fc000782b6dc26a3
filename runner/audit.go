// SPDX-License-Identifier: Apache-2.0

package runner

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/seed-720a3c77/harness/broker"
	"github.com/seed-720a3c77/harness/contract"
)

// auditPatience bounds one destination's audit while nothing comes.
const auditPatience = 10 * time.Second

// audit looks at what is stored when everybody has left: a log is read from its start
// without a group, a queue is received from, which is why it comes last.
func (r *run) audit(ctx context.Context) {
	for _, d := range r.plan.Topology.Destinations {
		if d.Kind == broker.Exchange {
			continue
		}
		found, err := r.auditOne(ctx, d.Name)
		why := ""
		if err != nil {
			why = err.Error()
		}
		r.task.AuditEnd(d.Name, found, why)
	}
}

func (r *run) auditOne(ctx context.Context, destination string) (int, error) {
	depth, err := r.Engine.Depth(ctx, destination, "")
	if err != nil {
		return 0, err
	}
	spec := broker.ConsumerSpec{Name: "audit-" + destination, Run: r.plan.Where.Nonce, From: destination, Batch: 100, Session: r.plan.Profile.Session.Fit(0)}
	if most := r.plan.Profile.BatchMax; most > 0 {
		spec.Batch = most
	}
	consumer, err := r.Engine.Consumer(ctx, spec)
	if err != nil {
		return 0, err
	}
	found, err := r.auditAll(ctx, consumer, depth)
	return found, errors.Join(err, consumer.Close(ctx))
}

// stored is how many messages an audit can expect to see.
func (r *run) stored(d broker.Depth) int64 {
	if r.plan.Profile.Model == contract.Log {
		return d.End - d.Start
	}
	return max(d.Ready, 0)
}

// auditAll receives until it has seen what is stored. Messages on a queue are held until
// the end, so that none is seen twice.
func (r *run) auditAll(ctx context.Context, consumer broker.Consumer, depth broker.Depth) (int, error) {
	want, found := int(r.stored(depth)), 0
	size := min(100, want)
	if most := r.plan.Profile.BatchMax; most > 0 {
		size = min(size, most)
	}
	batch := make([]broker.Delivery, size)
	last := r.clock.Now()
	for found < want {
		n, err := consumer.Receive(ctx, batch, poll)
		if err != nil {
			return found, err
		}
		for i := range batch[:n] {
			r.task.Audit(&batch[i])
		}
		if n > 0 {
			last = r.clock.Now()
		}
		if found += n; r.clock.Now()-last > auditPatience {
			return found, fmt.Errorf("found %d of %d messages and then nothing for %s", found, want, auditPatience)
		}
		if r.plan.Profile.Model == contract.PushQueue {
			r.letGo(ctx, consumer, batch[:n])
		}
	}
	return found, nil
}

// letGo acks what a push queue handed out: its window would end the audit otherwise. The
// destination is removed after the run.
func (r *run) letGo(ctx context.Context, consumer broker.Consumer, batch []broker.Delivery) {
	settlements := make([]broker.Settlement, len(batch))
	for i := range batch {
		settlements[i] = broker.Settlement{Verb: broker.Ack, Token: batch[i].Token}
	}
	consumer.Settle(ctx, settlements, make([]error, len(batch)))
}
