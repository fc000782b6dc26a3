// SPDX-License-Identifier: Apache-2.0

package runner

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/seed-720a3c77/harness/clock"
	"github.com/seed-720a3c77/harness/faults"
	"github.com/seed-720a3c77/harness/history"
	"github.com/seed-720a3c77/harness/runner/record"
)

// timeline makes the faults of a workload happen. A chain of steps is one task. The nil
// pointer is a timeline without steps.
type timeline struct {
	run    *run
	record *record.Task
	// context is the parent of all tasks: what one began outlives it.
	context context.Context
	began   time.Duration
	// armed counts the points that are waited for; reach looks at nothing else while it is 0.
	armed atomic.Int32

	mu     sync.Mutex // guards what follows; never held across a wait
	rand   *rand.Rand
	tasks  []clock.Task
	points []*point
	// busy counts what will happen by itself.
	busy int
	// active faults, in the order of their becoming so.
	active []*healing
	// cancels end what the tasks wait for; over: no step happens any more.
	cancels []context.CancelCauseFunc
	over    bool
}

// healing is a fault that is active.
type healing struct {
	step step
	// target is the worker that was really hit.
	target string
	owed   *faults.Owed
}

func (h *healing) text() string { return strings.TrimSpace(h.step.kind.Name + " " + h.target) }

// makeTimeline comes before any worker that could reach a point.
func (r *run) makeTimeline() error {
	if len(r.plan.Chains) == 0 {
		return nil
	}
	task, err := r.recorder.Task("timeline")
	if err != nil {
		return err
	}
	r.timeline = &timeline{run: r, record: task, rand: r.clock.Rand("timeline")}
	return nil
}

// start begins every chain; the times of steps count from now.
func (t *timeline) start(ctx context.Context) {
	if t == nil {
		return
	}
	t.context, t.began = ctx, t.run.clock.Now()
	for _, c := range t.run.plan.Chains {
		t.follow(c)
	}
}

// stopTimeline ends steps that never came due and heals what is still broken. It may be
// called again.
func (r *run) stopTimeline(ctx context.Context) {
	t := r.timeline
	if t == nil {
		return
	}
	t.mu.Lock()
	tasks, cancels := t.tasks, t.cancels
	t.over, t.tasks, t.cancels = true, nil, nil
	t.mu.Unlock()
	for _, cancel := range cancels {
		cancel(nil)
	}
	for _, task := range tasks {
		_ = task.Join(ctx)
	}
	for _, h := range t.healings(nil) {
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

func (t *timeline) wait(by int) {
	t.mu.Lock()
	t.busy += by
	t.mu.Unlock()
}

// spawn runs a task of the timeline. Its waits end with the timeline; what it has begun
// to break or heal by then is brought to its end.
func (t *timeline) spawn(do func(ctx, waits context.Context)) {
	t.wait(+1)
	task := t.run.clock.Go(t.context, "timeline", func(ctx context.Context) {
		defer t.wait(-1)
		waits, cancel := t.run.clock.WithCancel(ctx)
		defer cancel(nil)
		if t.onStop(cancel) {
			do(ctx, waits)
		}
	})
	t.mu.Lock()
	t.tasks = append(t.tasks, task)
	t.mu.Unlock()
}

// onStop has a cancel called when the timeline stops; false: it has stopped.
func (t *timeline) onStop(cancel context.CancelCauseFunc) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.cancels = append(t.cancels, cancel)
	return !t.over
}

func (t *timeline) follow(c chain) {
	armed := t.armEarly(c[0].trigger)
	t.spawn(func(ctx, waits context.Context) {
		hit := ""
		for _, s := range c {
			worker, release, err := t.await(waits, s.trigger, armed)
			if err != nil {
				return
			}
			armed = nil
			if hit == "" {
				hit = worker
			}
			t.step(ctx, waits, s, resolve(&s, hit), held{worker, release})
			release()
		}
	})
}

// resolve turns a group into the worker that reached the point.
func resolve(s *step, hit string) string {
	if s.kind.Aim != faults.AtWorker || strings.Contains(s.target, "/") || hit == "" {
		return s.target
	}
	return hit
}

// step makes one step happen and records what was seen of it.
func (t *timeline) step(ctx, waits context.Context, s step, target string, who held) {
	h := &healing{step: s, target: target}
	if s.number > 0 {
		t.record.Fault(history.FaultRequested, s.number, h.text())
	}
	due := t.run.clock.Now()
	on := &at{run: t.run, step: &s, target: target, held: who}
	heal, err := t.inject(waits, s, on)
	if err != nil {
		t.failed(ctx, h, heal, err, waits.Err() != nil)
		return
	}
	if s.number == 0 {
		t.repaired(s, target)
		return
	}
	if heal == nil && s.lasts > 0 {
		heal = on.start
	}
	h.owed = t.run.heals.Owe(h.text(), s.kind.ByHand, heal)
	t.became(h, history.FaultActive)
	if heal == nil && !t.run.plan.repairedLater(s) {
		t.became(h, history.FaultHealed)
		return
	}
	t.mu.Lock()
	t.active = append(t.active, h)
	t.mu.Unlock()
	t.lasting(h, due, on.over)
}

// inject waits no longer for traffic to hit than the fault lasts.
func (t *timeline) inject(waits context.Context, s step, on *at) (faults.Heal, error) {
	if !s.kind.Patient {
		return s.fault.Inject(waits, on)
	}
	inject := s.fault.Inject
	if worker := t.run.plan.remote(&s); worker != "" {
		inject = func(ctx context.Context, _ faults.Targets) (faults.Heal, error) { return on.injectIn(ctx, worker) }
	}
	if s.lasts > 0 {
		limited, cancel := t.run.clock.WithTimeout(waits, s.lasts)
		defer cancel()
		return inject(limited, on)
	}
	t.wait(-1)
	defer t.wait(+1)
	return inject(waits, on)
}

// lasting heals a fault after its time, or as soon as it is over by itself.
func (t *timeline) lasting(h *healing, due time.Duration, over func(context.Context) error) {
	if lasts := h.step.lasts; lasts > 0 {
		t.spawn(func(ctx, waits context.Context) {
			if t.run.clock.Sleep(waits, max(0, due+lasts-t.run.clock.Now())) == nil {
				t.heal(ctx, h)
			}
		})
	}
	if over == nil {
		return
	}
	t.spawn(func(ctx, waits context.Context) {
		t.wait(-1)
		err := over(waits)
		t.wait(+1)
		if err == nil {
			t.heal(ctx, h)
		}
	})
}

// failed repairs what a fault broke before it failed. A fault that could not be active, or
// that the end of the timeline cut short, is no harness that failed: the checkers see that
// it never was.
func (t *timeline) failed(ctx context.Context, h *healing, heal faults.Heal, err error, cut bool) {
	owed := t.run.heals.Owe(h.text(), h.step.kind.ByHand, heal)
	t.run.fail(owed.Heal(ctx))
	if cut || errors.Is(err, faults.ErrNotActive) || errors.Is(err, faults.ErrNoTarget) {
		return
	}
	t.run.fail(fmt.Errorf("%s: %w", h.step.text, err))
}

// became records a change of a fault and lets go of who waits for it.
func (t *timeline) became(h *healing, kind history.Kind) {
	t.record.Fault(kind, h.step.number, h.text())
	shown, state := h.text(), stateActive
	if kind == history.FaultHealed {
		shown, state = "", stateHealed
	}
	t.run.progress.fault.Store(&shown)
	t.changed(h, state)
}

// repaired closes the faults of a target that the step repaired.
func (t *timeline) repaired(s step, target string) {
	for _, h := range t.healings(func(h *healing) bool { return h.target == target && repairs(s.kind, h.step.kind) }) {
		t.forget(h)
		t.became(h, history.FaultHealed)
	}
}

// healings are the active faults that want says, or all, the latest first.
func (t *timeline) healings(want func(*healing) bool) (all []*healing) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, h := range slices.Backward(t.active) {
		if want == nil || want(h) {
			all = append(all, h)
		}
	}
	return all
}

// forget takes a fault off the list of active ones; false: it was not on it.
func (t *timeline) forget(h *healing) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	i := slices.Index(t.active, h)
	if i >= 0 {
		t.active = slices.Delete(t.active, i, i+1)
	}
	return i >= 0
}

// heal repairs a fault, once.
func (t *timeline) heal(ctx context.Context, h *healing) {
	if !t.forget(h) {
		return
	}
	if err := h.owed.Heal(ctx); err != nil {
		t.run.fail(err)
		return
	}
	t.became(h, history.FaultHealed)
}
