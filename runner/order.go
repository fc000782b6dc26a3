// SPDX-License-Identifier: Apache-2.0

package runner

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/seed-720a3c77/harness/faults"
)

// Order is what the run asks of a fault that strikes in a worker's own process.
type Order string

const (
	// Strike puts it into force; done when it has hit a call.
	Strike Order = "strike"
	// Outlast waits until it has hit all that it is to hit.
	Outlast Order = "outlast"
	// HealIt takes it out of force.
	HealIt Order = "heal"
)

// ErrGone: the worker's process has ended.
var ErrGone = errors.New("the worker is gone")

// remote is the worker in whose process a step strikes, or "".
func (p *Plan) remote(s *step) string {
	if s.kind.Aim != faults.AtCalls || p.Where.Virtual {
		return ""
	}
	for _, name := range s.kind.Mentions(s.fault).Clients {
		if p.inProcess(name) {
			return p.only(name)
		}
	}
	return ""
}

// only is the one worker that a name means, or "" where it means several.
func (p *Plan) only(name string) string {
	if strings.Contains(name, "/") {
		return name
	}
	for _, g := range p.Groups {
		if g.Group == name && g.Workers == 1 {
			return name + "/0"
		}
	}
	return ""
}

// injectIn has a fault of calls strike in the process of a worker. One that dies takes the
// fault with it.
func (a *at) injectIn(ctx context.Context, worker string) (faults.Heal, error) {
	h, err := a.run.processOf(worker)
	if err != nil {
		return nil, err
	}
	order := func(ctx context.Context, o Order) error {
		err := h.process.Order(ctx, o, a.step.number)
		if errors.Is(err, ErrGone) && o != Strike {
			return nil
		}
		return err
	}
	heal := func(ctx context.Context) error { return order(ctx, HealIt) }
	if err := order(ctx, Strike); err != nil {
		_ = heal(context.WithoutCancel(ctx))
		return nil, fmt.Errorf("%w: %w", faults.ErrNotActive, err)
	}
	a.Until(func(ctx context.Context) error { return order(ctx, Outlast) })
	return heal, nil
}

// processOf is the process that a worker lives in.
func (r *run) processOf(name string) (*processHost, error) {
	found, err := r.Process(name)
	if err != nil {
		return nil, err
	}
	living, err := found.(*worker).living()
	if err != nil {
		return nil, err
	}
	h, ok := living.(*processHost)
	if !ok {
		return nil, fmt.Errorf("%w: %s is no process", faults.ErrNoTarget, name)
	}
	return h, nil
}
