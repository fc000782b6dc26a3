// SPDX-License-Identifier: Apache-2.0

package faults

import (
	"cmp"
	"context"
	"sync"
	"time"

	"github.com/seed-720a3c77/harness/broker"
	"github.com/seed-720a3c77/harness/clock"
	"github.com/seed-720a3c77/harness/contract"
	"github.com/seed-720a3c77/harness/msg"
)

// producer is a producer whose publishes can be hit.
type producer struct {
	broker.Producer
	requests *Requests
	owner    context.Context
	spec     broker.ProducerSpec
	answered clock.Gate

	mu sync.Mutex // guards what follows; never held across a wait
	// withheld counts answers that are still to come from here.
	withheld int
	gone     bool
}

// Producer implements broker.Engine.
func (r *Requests) Producer(ctx context.Context, spec broker.ProducerSpec) (broker.Producer, error) {
	inner, err := r.Engine.Producer(ctx, spec)
	if err != nil {
		return nil, err
	}
	return &producer{Producer: inner, requests: r, owner: ctx, spec: spec, answered: r.clock.NewGate("withheld answers of " + spec.Name)}, nil
}

// Publish implements broker.Producer.
func (p *producer) Publish(ctx context.Context, m *msg.Message, done func(broker.Receipt, error)) error {
	if p.requests.watched.Load() == 0 {
		return p.Producer.Publish(ctx, m, done)
	}
	call := Call{Operation: Publish, By: p.spec.Name, To: m.To, ID: m.ID, Key: m.Key}
	p.requests.tell(ctx, &call)
	hit := p.requests.hit(&call, false)
	if hit == nil {
		return p.Producer.Publish(ctx, m, done)
	}
	return p.struck(ctx, hit, m, done)
}

func (p *producer) struck(ctx context.Context, hit *Armed, m *msg.Message, done func(broker.Receipt, error)) error {
	if err := hit.before(ctx); err != nil {
		return &broker.Error{Op: Publish, Answer: contract.Timeout, Class: contract.Rejected, Err: err}
	}
	act := &hit.Action
	switch {
	case act.Lost && act.Told != nil:
		p.withhold(done).after(0, none, act.Told)
		return nil //nolint:nilerr // the client hears of it through done
	case act.Lost:
		p.withhold(done).after(p.patience(act), none, unanswered(Publish))
		return nil
	case act.Silent:
		return p.unheard(ctx, act, m, done)
	}
	return p.late(ctx, hit, m, done)
}

// none is the receipt where there is no answer.
var none = broker.Receipt{Partition: msg.AnyPartition, Offset: -1}

func (p *producer) patience(act *Action) time.Duration {
	return cmp.Or(act.Timeout, p.spec.Timeout, answerTimeout)
}

// unheard publishes, and drops the answer.
func (p *producer) unheard(ctx context.Context, act *Action, m *msg.Message, done func(broker.Receipt, error)) error {
	deadline := p.requests.clock.Now() + p.patience(act)
	if err := p.Producer.Publish(ctx, m, func(broker.Receipt, error) {}); err != nil {
		return err
	}
	p.withhold(done).after(deadline-p.requests.clock.Now(), none, unanswered(Publish))
	return nil
}

// late publishes, and passes the answer on when it is due. A producer with a timeout of its
// own hears by then that it is unknown.
func (p *producer) late(ctx context.Context, hit *Armed, m *msg.Message, done func(broker.Receipt, error)) error {
	act := &hit.Action
	if act.Answer <= 0 && !act.HoldAnswer {
		return p.Producer.Publish(ctx, m, done)
	}
	a := p.withhold(done)
	if p.spec.Timeout > 0 {
		a.after(p.spec.Timeout, none, unanswered(Publish))
	}
	err := p.Producer.Publish(ctx, m, func(receipt broker.Receipt, err error) {
		letGo := func() { a.after(act.Answer, receipt, err) }
		if act.HoldAnswer {
			hit.hold(letGo)
			return
		}
		letGo()
	})
	if err != nil {
		a.over()
	}
	return err
}

// withheld is a publish whose answer comes from here, once.
type withheld struct {
	*producer
	done func(broker.Receipt, error)
	told bool
}

func (p *producer) withhold(done func(broker.Receipt, error)) *withheld {
	p.mu.Lock()
	p.withheld++
	p.mu.Unlock()
	return &withheld{producer: p, done: done}
}

// after answers after a while, unless it is answered by then, as an event of the producer's
// owner.
func (w *withheld) after(late time.Duration, receipt broker.Receipt, err error) {
	clk := w.requests.clock
	clk.At(w.owner, clk.Now()+late, func() {
		w.mu.Lock()
		heard := !w.told && !w.gone && w.done != nil
		w.mu.Unlock()
		if heard {
			w.done(receipt, err)
		}
		w.over()
	})
}

// over ends it, answered or not.
func (w *withheld) over() {
	w.mu.Lock()
	if !w.told {
		w.told = true
		w.producer.withheld--
	}
	w.mu.Unlock()
	w.answered.Wake()
}

// Flush waits for the withheld answers too.
func (p *producer) Flush(ctx context.Context) error {
	if err := p.Producer.Flush(ctx); err != nil {
		return err
	}
	for {
		ticket := p.answered.Ticket()
		p.mu.Lock()
		open := p.withheld > 0 && !p.gone
		p.mu.Unlock()
		if !open {
			return nil
		}
		if err := p.answered.Wait(ctx, ticket); err != nil {
			return err
		}
	}
}

// Close flushes and leaves politely.
func (p *producer) Close(ctx context.Context) error {
	err := p.Flush(ctx)
	if closed := p.Producer.Close(ctx); err == nil {
		err = closed
	}
	return err
}

// Abandon lets no answer come any more.
func (p *producer) Abandon() {
	p.mu.Lock()
	p.gone = true
	p.mu.Unlock()
	p.Producer.Abandon()
	p.answered.Wake()
}
