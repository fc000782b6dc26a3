// SPDX-License-Identifier: Apache-2.0

package runner

import (
	"context"
	"errors"
	"fmt"

	"github.com/seed-720a3c77/harness/broker"
	"github.com/seed-720a3c77/harness/faults"
	"github.com/seed-720a3c77/harness/internal/suggest"
)

// Links finds the links of clients whose targets the plan named before the engine was
// opened; see Plan.LinkTargets.
type Links interface {
	Link(target string) (faults.Link, error)
}

// at finds what one step breaks. Its target was resolved to the worker that was hit.
type at struct {
	run    *run
	step   *step
	target string
	over   func(context.Context) error
	held   held
}

// held is who waits at the point that a step waited for; release lets it go on.
type held struct {
	worker  string
	release func()
}

var _ faults.Targets = (*at)(nil)

// Process finds the resolved worker whatever the fault was told.
func (a *at) Process(string) (faults.Process, error) {
	w, err := a.run.worker(a.target)
	if err != nil {
		return nil, err
	}
	if w.name != a.held.worker {
		return w, nil
	}
	return waiting{w, a.held.release}, nil
}

// waiting is a worker that is held at the point of the step that is for it.
type waiting struct {
	*worker
	release func()
}

// Stop asks it to leave, and then lets it go on, or it never would.
func (w waiting) Stop(ctx context.Context) error {
	if h := w.current(); h != nil {
		h.quit()
	}
	w.release()
	return w.worker.Stop(ctx)
}

// Node implements faults.Targets.
func (a *at) Node(name string) (faults.Node, error) {
	n, err := NodeNumber(name)
	if err != nil {
		return nil, err
	}
	if nodes := a.run.Nodes; n <= len(nodes) {
		return foreignNode{nodes[n-1], a.run.clock}, nil
	}
	return nil, fmt.Errorf("%w: node %d of a broker with %d", faults.ErrNoTarget, n, len(a.run.Nodes))
}

// Link implements faults.Targets.
func (a *at) Link(name string) (faults.Link, error) {
	if a.run.Links == nil {
		return nil, fmt.Errorf("%w: link of %s", faults.ErrNoTarget, name)
	}
	link, err := a.run.Links.Link(name)
	if err != nil {
		return nil, err
	}
	if a.run.plan.Where.Virtual {
		return link, nil
	}
	return foreignLink{link, a.run.clock}, nil
}

// Requests implements faults.Targets.
func (a *at) Requests() (*faults.Requests, error) {
	if a.run.requests == nil {
		return nil, fmt.Errorf("%w: the port", faults.ErrNoTarget)
	}
	return a.run.requests, nil
}

// Destination implements faults.Targets.
func (a *at) Destination(name string) (broker.Destination, error) {
	return a.run.plan.made(name)
}

// Engine implements faults.Targets.
func (a *at) Engine() broker.Engine { return a.run.Engine }

// Until implements faults.Targets.
func (a *at) Until(over func(context.Context) error) { a.over = over }

// Mend implements faults.Targets.
func (a *at) Mend(ctx context.Context, kind, target string) error {
	t := a.run.timeline
	for _, h := range t.healings(func(h *healing) bool {
		return h.step.kind.Name == kind && (target == "" || h.target == target)
	}) {
		t.heal(ctx, h)
	}
	return nil
}

// start is the heal of a worker that was stopped or killed for a time.
func (a *at) start(ctx context.Context) error {
	if a.step.kind.Aim != faults.AtWorker || faults.Crashed(ctx) {
		return nil
	}
	w, err := a.run.Process(a.target)
	if err != nil {
		return err
	}
	return w.Start(ctx)
}

func errorUnknown(what, word string, known []string) error {
	return errors.New(suggest.Unknown(what, word, known))
}
