// SPDX-License-Identifier: Apache-2.0

package runner

import (
	"context"
	"fmt"
	"strconv"
	"sync"
	"time"

	"github.com/seed-720a3c77/harness/broker"
	"github.com/seed-720a3c77/harness/clock"
	"github.com/seed-720a3c77/harness/contract"
	"github.com/seed-720a3c77/harness/msg"
	"github.com/seed-720a3c77/harness/runner/pace"
	"github.com/seed-720a3c77/harness/runner/record"
)

// load runs every producer to the end of its schedule and waits for them.
func (r *run) load(ctx context.Context) error {
	var tasks []clock.Task
	producers := make([]*producer, len(r.plan.Producers))
	for i := range r.plan.Producers {
		p, err := r.newProducer(ctx, i)
		if err != nil {
			return err
		}
		producers[i] = p
		r.progress.Planned.Add(int64(p.plan.Count))
		tasks = append(tasks, r.clock.Go(ctx, p.plan.Name, p.produce))
	}
	for _, task := range tasks {
		if err := task.Join(ctx); err != nil {
			return fmt.Errorf("producer %s: %w", task.Name(), err)
		}
	}
	return nil
}

// producer publishes on an open-loop schedule.
type producer struct {
	run   *run
	plan  *ProducerPlan
	index uint32
	task  *record.Task
	out   broker.Producer
	keys  []string
	body  []byte
	begin time.Duration

	mu sync.Mutex // guards again: on the wall clock answers come from the client's goroutines
	// again holds the messages to resend.
	again []*msg.Message
	// rested is from when on it sends again, of the owner alone.
	rested time.Duration
}

func (r *run) newProducer(ctx context.Context, index int) (*producer, error) {
	plan := &r.plan.Producers[index]
	task, err := r.recorder.Task(plan.Name)
	if err != nil {
		return nil, err
	}
	out, err := task.Producer(ctx, r.Engine, plan.Spec, plan.To)
	if err != nil {
		return nil, fmt.Errorf("%w: producer %s: %w", ErrBroker, plan.Name, err)
	}
	p := &producer{run: r, plan: plan, index: uint32(index), task: task, out: out, begin: r.clock.Now() + plan.Start.Std()}
	for i := range max(plan.Keys, 1) {
		p.keys = append(p.keys, "k"+strconv.Itoa(i))
	}
	p.body = body(int(plan.Size))
	return p, nil
}

// defaultSize of a body in bytes.
const defaultSize = 200

// body is the same for all messages of a producer: ids ride beside the body, so that
// byte-identical bodies are told apart, and nothing is generated in the send loop.
func body(size int) []byte {
	if size == 0 {
		size = defaultSize
	}
	b := make([]byte, size)
	for i := range b {
		b[i] = "abcdefghijklmnopqrstuvwxyz012345"[i%32]
	}
	return b
}

// produce sends the whole schedule, then what has to be sent again, and leaves politely.
func (p *producer) produce(ctx context.Context) {
	p.task.Worker(p.plan.Name, false, false)
	schedule := p.plan.schedule()
	for seq := range p.plan.Count {
		intended := p.begin + schedule.At(seq)
		if !p.due(ctx, intended) || p.run.stopped() {
			break
		}
		p.resend(ctx)
		p.send(ctx, p.message(seq, intended))
	}
	p.finish(ctx)
	p.task.Worker(p.plan.Name, true, false)
}

func (p *ProducerPlan) schedule() pace.Schedule {
	if p.Sent != nil {
		return pace.Measured(p.Sent)
	}
	return pace.Constant(float64(p.Rate))
}

// due waits until the intended instant. As fast as possible is intended at once.
func (p *producer) due(ctx context.Context, intended time.Duration) bool {
	if wait := intended - p.run.clock.Now(); wait > 0 {
		return p.run.clock.Sleep(ctx, wait) == nil
	}
	return ctx.Err() == nil
}

func (p *producer) message(seq int, intended time.Duration) *msg.Message {
	if p.plan.Rate == 0 {
		intended = p.run.clock.Now()
	}
	return &msg.Message{
		To: p.plan.To, ID: msg.ID{Producer: p.index, Seq: uint64(seq)}, Attempt: 1, Intended: intended,
		Key: p.keys[seq%len(p.keys)], Partition: msg.AnyPartition, Body: p.body,
	}
}

// finish flushes, sends again what was answered badly, and closes. What stays unanswered
// is unknown.
func (p *producer) finish(ctx context.Context) {
	for range p.plan.Resends + defaultResends + 1 {
		if err := p.out.Flush(ctx); err != nil {
			break
		}
		_ = p.run.clock.Sleep(ctx, max(0, p.rested-p.run.clock.Now()))
		if !p.resend(ctx) {
			break
		}
	}
	_ = p.out.Close(ctx) // recorded with the session
}

func (p *producer) send(ctx context.Context, m *msg.Message) {
	p.run.progress.Published.Add(1)
	// The recorder hands every error to the completion, so that there is one way to hear of it.
	_ = p.out.Publish(ctx, m, func(_ broker.Receipt, err error) { p.answered(m, err) })
}

func (p *producer) answered(m *msg.Message, err error) {
	success := p.run.plan.Profile.Publish
	_, class := broker.Classify(err, success)
	counters := p.run.progress
	switch class {
	case contract.OK, contract.AcceptedOnly:
		counters.Acked.Add(1)
		return
	case contract.Rejected:
		counters.Rejected.Add(1)
	default:
		counters.Unknown.Add(1)
	}
	p.decide(m)
}

// defaultResends bounds on-error: resend.
const defaultResends = 3

// decide applies the workload's rule for a bad answer.
func (p *producer) decide(m *msg.Message) {
	rule, most := p.plan.OnError, p.plan.Resends
	if rule == "" {
		rule = "give-up"
	}
	if most == 0 {
		most = defaultResends
	}
	if rule == "resend" && int(m.Attempt) > most {
		rule = "give-up"
	}
	p.task.Decision(m, rule)
	if rule != "resend" {
		return
	}
	again := *m
	again.Attempt++
	p.mu.Lock()
	p.again = append(p.again, &again)
	p.mu.Unlock()
}

func (p *producer) takeAgain() []*msg.Message {
	p.mu.Lock()
	defer p.mu.Unlock()
	taken := p.again
	p.again = nil
	return taken
}

// resendRest is between two rounds of sending again: who is refused at once does not use
// all of its attempts up while the broker is away.
const resendRest = 100 * time.Millisecond

// resend sends again what is there, unless it has just done so; it tells whether it did.
func (p *producer) resend(ctx context.Context) bool {
	if p.run.clock.Now() < p.rested {
		return false
	}
	again := p.takeAgain()
	if len(again) > 0 {
		p.rested = p.run.clock.Now() + resendRest
	}
	for _, m := range again {
		p.send(ctx, m)
	}
	return len(again) > 0
}
