// SPDX-License-Identifier: Apache-2.0

package drive

import (
	"context"
	"slices"

	"github.com/seed-720a3c77/harness/broker"
	"github.com/seed-720a3c77/harness/clock"
	"github.com/seed-720a3c77/harness/contract"
	"github.com/seed-720a3c77/harness/inmem"
	"github.com/seed-720a3c77/harness/msg"
)

// defaultInFlight bounds unanswered publishes where a spec does not.
const defaultInFlight = 256

// producer is a producer of the machine on the clock. The engine's lock guards it.
type producer struct {
	e       *Engine
	owner   context.Context
	spec    broker.ProducerSpec
	session inmem.Session
	next    uint64 // number of the next message
	open    int    // publishes whose completion has not been called
	room    clock.Gate
	closed  bool
	gone    bool  // abandoned: no completion is called any more
	spoilt  error // why the transaction cannot be committed, or nil

	// answers wait for their event; spare is the other half of a double buffer.
	answers, spare []answer
	posted         bool
	deliver        func()

	link *link // nil: requests take no time
}

// answer is a completion that is due.
type answer struct {
	done    func(broker.Receipt, error)
	receipt broker.Receipt
	err     error
}

// Producer implements broker.Engine. The task of ctx owns it.
func (e *Engine) Producer(ctx context.Context, spec broker.ProducerSpec) (broker.Producer, error) {
	if err := e.enter(ctx); err != nil {
		return nil, err
	}
	defer e.leave()
	if err := e.unreachable(spec.Name); err != nil {
		return nil, err
	}
	session, err := e.machine.OpenProducer(e.clk.Now(), spec)
	if err != nil {
		return nil, err
	}
	p := &producer{e: e, owner: ctx, spec: spec, session: session, room: e.clk.NewGate("producer " + spec.Name)}
	if p.spec.InFlight <= 0 {
		p.spec.InFlight = defaultInFlight
	}
	p.deliver = p.complete
	if !e.opts.Publish.zero() || e.opts.Wire != nil || spec.Linger > 0 {
		p.link = newLink(p)
	}
	e.producers = append(e.producers, p)
	return p, nil
}

// Publish implements broker.Producer. It waits while too many are unanswered.
func (p *producer) Publish(ctx context.Context, m *msg.Message, done func(broker.Receipt, error)) error {
	for {
		ticket := p.room.Ticket()
		accepted, err := p.tryPublish(ctx, m, done)
		if accepted || err != nil {
			return err
		}
		if err := p.room.Wait(ctx, ticket); err != nil {
			return &broker.Error{Op: "publish", Answer: contract.Timeout, Class: contract.Rejected, Err: err}
		}
	}
}

func (p *producer) tryPublish(ctx context.Context, m *msg.Message, done func(broker.Receipt, error)) (bool, error) {
	if err := p.e.enter(ctx); err != nil {
		return false, closedHere(err)
	}
	defer p.e.leave()
	if p.closed {
		return false, closedHere(broker.ErrClosed)
	}
	if err := p.e.unreachable(p.spec.Name); err != nil {
		return false, closedHere(err)
	}
	if p.open >= p.spec.InFlight {
		return false, nil
	}
	if p.link == nil && len(p.e.breaks) > 0 {
		p.link = newLink(p)
	}
	number := p.next
	p.next++
	p.open++
	if p.link != nil {
		p.link.accept(number, m, done)
		return true, nil
	}
	receipt, err := p.e.machine.Publish(p.e.clk.Now(), p.session, number, m)
	p.answer(answer{done, receipt, err})
	return true, nil
}

func closedHere(err error) error {
	return &broker.Error{Op: "publish", Answer: contract.Closed, Class: contract.Rejected, Err: err}
}

// answer makes a completion an event of the owner.
func (p *producer) answer(a answer) {
	if p.gone {
		return
	}
	if a.err != nil {
		p.spoilt = a.err
	}
	p.answers = append(p.answers, a)
	if !p.posted {
		p.posted = true
		p.e.clk.Post(p.owner, p.deliver)
	}
}

// complete calls the completions that are due, without the lock.
func (p *producer) complete() {
	due := p.takeAnswers()
	for i := range due {
		if a := &due[i]; a.done != nil {
			a.done(a.receipt, a.err)
		}
	}
	p.answered(due)
}

func (p *producer) takeAnswers() []answer {
	p.e.mu.Lock()
	defer p.e.mu.Unlock()
	due := p.answers
	p.answers, p.posted = p.spare[:0], false
	p.spare = nil
	if p.gone {
		return due[:0]
	}
	return due
}

func (p *producer) answered(due []answer) {
	p.e.mu.Lock()
	defer p.e.mu.Unlock()
	p.open -= len(due)
	clear(due)
	p.spare = due
	p.room.Wake()
}

// Flush implements broker.Producer.
func (p *producer) Flush(ctx context.Context) error {
	for {
		ticket := p.room.Ticket()
		open, err := p.push(ctx)
		if err != nil || open == 0 {
			return err
		}
		if err := p.room.Wait(ctx, ticket); err != nil {
			return err
		}
	}
}

// push sends what lingers and returns how many are unanswered.
func (p *producer) push(ctx context.Context) (int, error) {
	if err := p.e.enter(ctx); err != nil {
		return 0, err
	}
	defer p.e.leave()
	if p.gone {
		return 0, broker.ErrClosed
	}
	if p.link != nil {
		p.link.flush()
	}
	return p.open, nil
}

// Close implements broker.Producer.
func (p *producer) Close(ctx context.Context) error {
	err := p.Flush(ctx)
	p.end(false)
	return err
}

// Abandon implements broker.Producer. What is on its way still arrives.
func (p *producer) Abandon() { p.end(true) }

func (p *producer) end(abandoned bool) {
	p.e.mu.Lock()
	defer p.e.leave()
	p.gone = p.gone || abandoned
	if p.closed {
		return
	}
	p.closed = true
	p.e.producers = slices.DeleteFunc(p.e.producers, func(other *producer) bool { return other == p })
	if p.link != nil && abandoned {
		p.link.cut()
	}
	if p.link == nil || !p.link.busy() {
		p.e.machine.CloseProducer(p.e.clk.Now(), p.session)
	}
	p.room.Wake()
}
