// SPDX-License-Identifier: Apache-2.0

package runner

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"github.com/seed-720a3c77/harness/broker"
	"github.com/seed-720a3c77/harness/clock"
	"github.com/seed-720a3c77/harness/faults"
)

// errLasting: a fault that does not end by itself.
var errLasting = errors.New("it lasts until it is healed")

// Port is the port of a worker in a process of its own: request faults of the plan strike
// there when the run orders it. Its methods may be called concurrently.
type Port struct {
	plan     *Plan
	clock    clock.Clock
	requests *faults.Requests

	mu     sync.Mutex // guards what follows; never held across a wait
	struck map[int]*striking
}

// striking is a fault in force, or about to be; the port's mu guards heal and over.
type striking struct {
	*Port
	cancel context.CancelCauseFunc
	heal   faults.Heal
	over   func(context.Context) error
}

var _ faults.Targets = (*striking)(nil)

// NewPort is nil where no fault of the plan can strike the port of such a worker.
func NewPort(plan *Plan, engine broker.Engine, clk clock.Clock) *Port {
	if !plan.anyStep(func(s *step) bool { return plan.remote(s) != "" }) {
		return nil
	}
	return &Port{plan: plan, clock: clk, requests: faults.NewRequests(engine, clk), struck: map[int]*striking{}}
}

// Do follows an order; fault is its number in the plan.
func (p *Port) Do(ctx context.Context, order Order, fault int) error {
	if order == Strike {
		return p.strike(ctx, fault)
	}
	p.mu.Lock()
	s := p.struck[fault]
	if s == nil {
		p.mu.Unlock()
		return fmt.Errorf("fault %d is not in force", fault)
	}
	heal, over := s.heal, s.over
	p.mu.Unlock()
	switch {
	case order == HealIt && heal == nil:
		s.cancel(nil)
		return nil
	case order == HealIt:
		return heal(ctx)
	case over == nil:
		return errLasting
	}
	return over(ctx)
}

func (p *Port) strike(ctx context.Context, number int) error {
	fault := p.fault(number)
	if fault == nil {
		return fmt.Errorf("the plan has no fault %d", number)
	}
	waits, cancel := p.clock.WithCancel(ctx)
	s := &striking{Port: p, cancel: cancel}
	p.mu.Lock()
	p.struck[number] = s
	p.mu.Unlock()
	heal, err := fault.Inject(waits, s)
	p.mu.Lock()
	defer p.mu.Unlock()
	s.heal = heal
	return err
}

func (p *Port) fault(number int) (found faults.Fault) {
	p.plan.anyStep(func(s *step) bool {
		if s.number == number {
			found = s.fault
		}
		return found != nil
	})
	return found
}

// Requests implements faults.Targets.
func (s *striking) Requests() (*faults.Requests, error) { return s.requests, nil }

// Until implements faults.Targets.
func (s *striking) Until(over func(context.Context) error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.over = over
}

// Destination implements faults.Targets.
func (s *striking) Destination(name string) (broker.Destination, error) {
	return s.plan.made(name)
}

// Engine implements faults.Targets.
func (s *striking) Engine() broker.Engine { return s.requests }

var errNotHere = fmt.Errorf("%w: in a worker's process", faults.ErrNoTarget)

// Process implements faults.Targets.
func (s *striking) Process(string) (faults.Process, error) { return nil, errNotHere }

// Node implements faults.Targets.
func (s *striking) Node(string) (faults.Node, error) { return nil, errNotHere }

// Link implements faults.Targets.
func (s *striking) Link(string) (faults.Link, error) { return nil, errNotHere }

// Mend implements faults.Targets.
func (s *striking) Mend(context.Context, string, string) error { return errNotHere }
