// SPDX-License-Identifier: Apache-2.0

package blackbox

import (
	"context"
	"encoding/json"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/seed-720a3c77/harness/broker"
	"github.com/seed-720a3c77/harness/contract"
	"github.com/seed-720a3c77/harness/runner/pace"
	"github.com/seed-720a3c77/harness/runner/record"
)

// producer is the name of the one producer.
const producer = "p0"

// publisher publishes the run's messages, some of them twice.
type publisher struct {
	run  *run
	task *record.Task
	out  broker.Producer
	// next is the number of the next message.
	next atomic.Int64
	// finished: it has left.
	finished bool
}

func (r *run) newProducer(ctx context.Context) (*publisher, error) {
	task, err := r.recorder.Task(producer)
	if err != nil {
		return nil, err
	}
	spec := broker.ProducerSpec{Name: "h-" + r.plan.Run + "-" + producer, Run: r.plan.Nonce}
	out, err := task.Producer(ctx, r.Engine, spec, r.plan.Destination)
	if err != nil {
		return nil, fmt.Errorf("%w: producer: %w", ErrBroker, err)
	}
	r.publisher = &publisher{run: r, task: task, out: out}
	return r.publisher, nil
}

func (r *run) published() int {
	if r.publisher == nil {
		return 0
	}
	return int(r.publisher.next.Load())
}

// load publishes the rest on an open-loop schedule while faults strike, and returns when
// both are over. why says what ended it early.
func (r *run) load(ctx context.Context, out *publisher) (why string, err error) {
	if r.storm, err = r.startStorm(ctx); err != nil {
		return "", err
	}
	schedule, begin, first := pace.Constant(r.plan.Rate), r.Clock.Now(), r.published()
	for r.published() < r.plan.Messages && !r.stopped() && r.broken() == nil {
		intended := begin + schedule.At(r.published()-first)
		if r.Clock.Sleep(ctx, max(intended-r.Clock.Now(), 0)) != nil {
			return "the run was cancelled", nil //nolint:nilerr // why says it
		}
		if err := out.publish(ctx, intended); err != nil {
			return "", err
		}
	}
	return "", nil
}

// publish sends the next message, and those whose turn for a copy it is.
func (p *publisher) publish(ctx context.Context, intended time.Duration) error {
	n := int(p.next.Add(1) - 1)
	if err := p.send(ctx, n, 1, intended); err != nil {
		return err
	}
	for _, n := range p.run.plan.again[n] {
		if err := p.send(ctx, n, 2, intended); err != nil {
			return err
		}
	}
	return nil
}

func (p *publisher) send(ctx context.Context, n int, attempt uint16, intended time.Duration) error {
	r := p.run
	m, err := r.plan.message(n, attempt, intended)
	if err != nil {
		return err
	}
	if r.Bodies != nil && attempt == 1 {
		if err := json.NewEncoder(r.Bodies).Encode(map[string]string{"id": m.ID.String(), "body": string(m.Body)}); err != nil {
			return fmt.Errorf("keep-bodies: %w", err)
		}
	}
	// The recorder hands every error to the completion, so that there is one way to hear of it.
	return p.out.Publish(ctx, m, func(receipt broker.Receipt, err error) {
		if _, class := broker.Classify(err, r.plan.Profile.Publish); class != contract.OK && class != contract.AcceptedOnly {
			p.task.Decision(m, "give-up")
			return
		}
		r.shelf.add(stored{seq: m.ID.Seq, copied: attempt > 1, partition: receipt.Partition, offset: receipt.Offset, at: r.Clock.Now()})
		if attempt == 1 {
			r.acked.Add(1)
			r.acks.Wake()
		}
	})
}

// finish waits for every answer and leaves; what stays unanswered is unknown.
func (p *publisher) finish(ctx context.Context) {
	if p.finished {
		return
	}
	p.finished = true
	_ = p.out.Flush(ctx) // what is missing is recorded as such
	_ = p.out.Close(ctx) // recorded with the session
}
