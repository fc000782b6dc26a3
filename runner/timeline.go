// SPDX-License-Identifier: Apache-2.0

package runner

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/seed-720a3c77/harness/clock"
	"github.com/seed-720a3c77/harness/faults"
	"github.com/seed-720a3c77/harness/history"
	"github.com/seed-720a3c77/harness/msg"
	"github.com/seed-720a3c77/harness/runner/record"
)

// timeline makes the faults of a workload happen. A chain of steps is one task. The zero
// pointer is a timeline without steps.
type timeline struct {
	run    *run
	record *record.Task
	cancel context.CancelCauseFunc
	tasks  []clock.Task
	// began is the instant from which times of steps count: that of the load.
	began time.Duration
	// armed counts the points that are waited for; reach looks at nothing else while it is 0.
	armed atomic.Int32

	mu     sync.Mutex // guards what follows; never held across a wait
	points []*point
	// busy counts chains that have something to do without waiting for a point.
	busy  int
	heals []healing
}

// point is a trigger that waits for a worker.
type point struct {
	trigger trigger
	fired   clock.Gate // the worker came
	over    clock.Gate // the step is done: the worker may go on, if it lives
	worker  string
}

// healing is a fault that is active.
type healing struct {
	step step
	// target is the worker that was really hit.
	target string
	heal   faults.Heal
}

// makeTimeline comes before any worker that could reach a point.
func (r *run) makeTimeline() error {
	if len(r.plan.Chains) == 0 {
		return nil
	}
	task, err := r.recorder.Task("timeline")
	if err != nil {
		return err
	}
	r.timeline = &timeline{run: r, record: task, busy: len(r.plan.Chains)}
	return nil
}

// start begins every chain; the times of steps count from now.
func (t *timeline) start(ctx context.Context) {
	if t == nil {
		return
	}
	t.began = t.run.clock.Now()
	ctx, t.cancel = t.run.clock.WithCancel(ctx)
	for _, c := range t.run.plan.Chains {
		t.tasks = append(t.tasks, t.run.clock.Go(ctx, "timeline", func(ctx context.Context) { t.follow(ctx, c) }))
	}
}

// stopTimeline ends steps that never came due and heals what is still broken.
func (r *run) stopTimeline(ctx context.Context) {
	t := r.timeline
	if t == nil || t.cancel == nil {
		return
	}
	t.cancel(nil)
	for _, task := range t.tasks {
		_ = task.Join(ctx)
	}
	for _, h := range t.takeHeals(nil) {
		t.heal(ctx, h)
	}
}

// idle tells that nothing more happens by itself.
func (t *timeline) idle() bool {
	if t == nil {
		return true
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.busy == 0
}

func (t *timeline) follow(ctx context.Context, c chain) {
	defer t.wait(-1)
	hit := ""
	for _, s := range c {
		worker, release, err := t.await(ctx, s.trigger)
		if err != nil {
			return
		}
		if hit == "" {
			hit = worker
		}
		t.step(ctx, s, resolve(s.target, hit))
		release()
	}
}

func (t *timeline) wait(by int) {
	t.mu.Lock()
	t.busy += by
	t.mu.Unlock()
}

// resolve turns a group into the worker that reached the point.
func resolve(target, hit string) string {
	if strings.Contains(target, "/") || hit == "" {
		return target
	}
	return hit
}

// await returns when the trigger is due, with the worker that reached it and what lets
// that worker go on.
func (t *timeline) await(ctx context.Context, when trigger) (string, func(), error) {
	if when.point != "" {
		return t.awaitPoint(ctx, when)
	}
	wait := when.after
	if when.at > 0 {
		wait = t.began + when.at - t.run.clock.Now()
	}
	return "", func() {}, t.run.clock.Sleep(ctx, max(wait, 0))
}

func (t *timeline) awaitPoint(ctx context.Context, when trigger) (string, func(), error) {
	p := &point{trigger: when, fired: t.run.clock.NewGate("point " + when.point), over: t.run.clock.NewGate("step at " + when.point)}
	ticket := p.fired.Ticket()
	t.mu.Lock()
	t.points = append(t.points, p)
	t.busy--
	t.mu.Unlock()
	t.armed.Add(1)
	err := p.fired.Wait(ctx, ticket)
	t.wait(+1)
	if err != nil {
		t.take(p)
		return "", nil, err
	}
	return p.worker, p.over.Wake, nil
}

// reach tells the timeline that a worker is at a point. If a step waits for it, the
// worker is held here until the step is done.
func (t *timeline) reach(ctx context.Context, worker, name string, n int, id msg.ID) {
	if t == nil || t.armed.Load() == 0 {
		return
	}
	p := t.match(worker, name, n, id)
	if p == nil {
		return
	}
	p.worker = worker
	ticket := p.over.Ticket()
	p.fired.Wake()
	_ = p.over.Wait(ctx, ticket)
}

// match takes the point off the list, so that it fires once.
func (t *timeline) match(worker, name string, n int, id msg.ID) *point {
	t.mu.Lock()
	defer t.mu.Unlock()
	for i, p := range t.points {
		if p.trigger.reached(worker, name, n, id) {
			t.points = append(t.points[:i], t.points[i+1:]...)
			t.armed.Add(-1)
			return p
		}
	}
	return nil
}

// take forgets a point that will not be waited for any more.
func (t *timeline) take(p *point) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for i, other := range t.points {
		if other == p {
			t.points = append(t.points[:i], t.points[i+1:]...)
			t.armed.Add(-1)
			return
		}
	}
}

// step makes one step happen and records what was seen of it.
func (t *timeline) step(ctx context.Context, s step, target string) {
	text := s.kind.Name + " " + target
	if s.number > 0 {
		t.record.Fault(history.FaultRequested, s.number, text)
	}
	heal, err := s.fault.Inject(ctx, at{t.run, target})
	if err != nil {
		t.run.fail(fault(s, err))
		return
	}
	if s.number == 0 {
		t.repaired(s, target)
		return
	}
	t.record.Fault(history.FaultActive, s.number, text)
	t.run.progress.fault.Store(&text)
	h := healing{s, target, heal}
	if heal == nil && !t.run.plan.repairedLater(s) {
		t.healed(h)
		return
	}
	t.mu.Lock()
	t.heals = append(t.heals, h)
	t.mu.Unlock()
}

// fault keeps a fault that could not be active apart from a harness that failed: the
// checkers see that it never was.
func fault(s step, err error) error {
	if errors.Is(err, faults.ErrNotActive) || errors.Is(err, faults.ErrNoTarget) {
		return nil
	}
	return fmt.Errorf("%s: %w", s.text, err)
}

// repaired closes the faults of a target that the step repairs.
func (t *timeline) repaired(s step, target string) {
	for _, h := range t.takeHeals(func(h healing) bool { return h.target == target && repairs(s.kind, h.step.kind) }) {
		t.healed(h)
	}
}

func repairs(repair, broken faults.Kind) bool {
	for _, name := range repair.Repairs {
		if name == broken.Name {
			return true
		}
	}
	return false
}

// takeHeals removes and returns the active faults that want says, or all.
func (t *timeline) takeHeals(want func(healing) bool) []healing {
	t.mu.Lock()
	defer t.mu.Unlock()
	var taken, kept []healing
	for _, h := range t.heals {
		if want == nil || want(h) {
			taken = append(taken, h)
		} else {
			kept = append(kept, h)
		}
	}
	t.heals = kept
	return taken
}

func (t *timeline) heal(ctx context.Context, h healing) {
	if h.heal != nil {
		if err := h.heal(ctx); err != nil {
			t.run.fail(fmt.Errorf("heal %s %s: %w", h.step.kind.Name, h.target, err))
			return
		}
	}
	t.healed(h)
}

func (t *timeline) healed(h healing) {
	t.record.Fault(history.FaultHealed, h.step.number, h.step.kind.Name+" "+h.target)
	none := ""
	t.run.progress.fault.Store(&none)
}

// at finds targets for a fault whose target was resolved to the worker that was hit.
type at struct {
	run    *run
	target string
}

// Process finds the resolved worker whatever the fault was told.
func (a at) Process(string) (faults.Process, error) { return a.run.Process(a.target) }

// repairedLater tells whether the timeline itself repairs a fault.
func (p *Plan) repairedLater(broken step) bool {
	for _, c := range p.Chains {
		for _, s := range c {
			if repairs(s.kind, broken.kind) && s.target == broken.target {
				return true
			}
		}
	}
	return false
}
