// SPDX-License-Identifier: Apache-2.0

package runner

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/seed-720a3c77/harness/effects"
	"github.com/seed-720a3c77/harness/faults"
	"github.com/seed-720a3c77/harness/msg"
)

// group is a subscription's workers and what they share.
type group struct {
	run     *run
	plan    *GroupPlan
	store   effects.Store
	scripts []script

	mu sync.Mutex // guards what follows; never held across a wait
	// workers by number; a dead one stays until it is started again.
	workers map[int]*worker
	// ordered holds them by number; it is made anew when one is added.
	ordered []*worker
	// failures counts failed attempts of ids whose handler failed; on queues any worker
	// may get the next attempt.
	failures map[msg.ID]int
	members  membership
	context  context.Context
}

func (r *run) startGroups(ctx context.Context) error {
	for i := range r.plan.Groups {
		plan := &r.plan.Groups[i]
		store, err := r.store(plan)
		if err != nil {
			return fmt.Errorf("effects of %s: %w", plan.Group, err)
		}
		g := &group{run: r, plan: plan, store: store, scripts: scripts(plan), workers: map[int]*worker{}, failures: map[msg.ID]int{}, context: ctx}
		r.groups = append(r.groups, g)
		for n := range plan.Workers {
			if err := g.worker(n).Start(ctx); err != nil {
				return err
			}
		}
	}
	return nil
}

// worker is the n-th worker, made if it was never started.
func (g *group) worker(n int) *worker {
	g.mu.Lock()
	defer g.mu.Unlock()
	w := g.workers[n]
	if w == nil {
		w = &worker{group: g, name: g.plan.Group + "/" + strconv.Itoa(n), number: n}
		g.workers[n] = w
		g.ordered = slices.SortedFunc(maps.Values(g.workers), func(a, b *worker) int { return cmp.Compare(a.number, b.number) })
	}
	return w
}

// all returns the workers in order. The slice must not be changed.
func (g *group) all() []*worker {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.ordered
}

// stopGroups asks every worker to leave, after the drain.
func (r *run) stopGroups(ctx context.Context) {
	for _, g := range r.groups {
		for _, w := range g.all() {
			if h := w.current(); h != nil {
				h.quit()
			}
		}
	}
	for _, g := range r.groups {
		for _, w := range g.all() {
			if err := w.leave(ctx); err != nil {
				r.fail(fmt.Errorf("worker %s: %w", w.name, err))
			}
		}
		g.auditEffects(ctx)
		if err := g.store.Close(); err != nil {
			r.fail(fmt.Errorf("effects of %s: %w", g.plan.Group, err))
		}
	}
}

// Process finds a worker by name: GROUP/N.
func (r *run) Process(name string) (faults.Process, error) {
	w, err := r.worker(name)
	if err != nil {
		return nil, err
	}
	return w, nil
}

func (r *run) worker(name string) (*worker, error) {
	word, number, found := strings.Cut(name, "/")
	n, err := strconv.Atoi(number)
	for _, g := range r.groups {
		if g.plan.Group == word && found && err == nil && n >= 0 && n < maxWorkers {
			return g.worker(n), nil
		}
	}
	return nil, fmt.Errorf("%w: worker %q", faults.ErrNoTarget, name)
}

// maxWorkers bounds what a timeline may start.
const maxWorkers = 1000
