// SPDX-License-Identifier: Apache-2.0

package runner

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/seed-720a3c77/harness/broker"
	"github.com/seed-720a3c77/harness/clock"
	"github.com/seed-720a3c77/harness/effects"
	"github.com/seed-720a3c77/harness/faults"
	"github.com/seed-720a3c77/harness/runner/record"
)

// run is one run under way.
type run struct {
	Config
	plan     *Plan
	clock    clock.Clock
	progress *Progress
	recorder *record.Recorder
	// task records what belongs to no worker: phases, faults, samples, the audit.
	task   *record.Task
	groups []*group
	// timeline has its own task record; nil where there are no steps.
	timeline *timeline
	// requests is the engine, where the timeline must see the calls of the port.
	requests *faults.Requests
	heals    *faults.Heals
	failing  sync.Mutex // guards failed
	// failed is the first error that makes the run worthless.
	failed error
}

// Run declares the topology, runs the workload through its phases and removes what it
// declared. It is called inside the clock's Run. The error says that the harness or the
// broker failed; a violated guarantee is no error. What was recorded until then stands.
func Run(ctx context.Context, c Config) error {
	r := newRun(c)
	r.watchCalls()
	task, err := r.recorder.Task("run")
	if err != nil {
		return err
	}
	r.task = task
	if err := c.Engine.Declare(ctx, c.Plan.Topology); err != nil {
		return r.remove(ctx, fmt.Errorf("%w: declare: %w", ErrBroker, err))
	}
	err = r.phases(ctx)
	return r.remove(ctx, errors.Join(err, r.heals.Run(ctx), c.Recording.Err()))
}

// watchCalls puts the timeline between the recorder and the engine, where it needs to be.
func (r *run) watchCalls() {
	if !r.plan.callers() {
		return
	}
	r.requests = faults.NewRequests(r.Engine, r.clock)
	if r.plan.callTriggers() {
		r.requests.Watch(
			func(ctx context.Context, c *faults.Call) { r.timeline.called(ctx, c) },
			func(by string, n *broker.Notice) { r.timeline.noticed(by, n) })
	}
	r.Engine = r.requests
}

func newRun(c Config) *run {
	if c.Progress == nil {
		c.Progress = new(Progress)
	}
	if c.Heals == nil {
		c.Heals = new(faults.Heals)
	}
	plain := map[string]string{}
	for name, unique := range c.Plan.Names {
		plain[unique] = name
	}
	return &run{
		Config: c, plan: c.Plan, clock: c.Clock, progress: c.Progress,
		recorder: record.New(c.Recording, c.Clock, c.Plan.Profile, plain), heals: c.Heals,
	}
}

// remove deletes what was declared, on every way out; the first error stays.
func (r *run) remove(ctx context.Context, err error) error {
	var names []string
	for _, d := range r.plan.Topology.Destinations {
		names = append(names, d.Name)
	}
	if gone := r.Engine.Remove(ctx, names...); gone != nil && err == nil {
		return fmt.Errorf("%w: remove %d destinations: %w", ErrBroker, len(names), gone)
	}
	return err
}

func (r *run) phases(ctx context.Context) error {
	work, cancel := r.clock.WithCancel(ctx)
	defer cancel(nil)
	defer r.endProcesses(ctx)
	defer r.stopTimeline(ctx)
	if err := errors.Join(r.makeTimeline(), r.startGroups(work)); err != nil {
		return err
	}
	r.sample(work)
	r.phase("join")
	r.awaitReady(work)
	r.timeline.start(work)
	r.phase("load")
	if err := r.load(work); err != nil {
		return err
	}
	if r.stopped() {
		r.task.Interrupted()
	}
	r.phase("drain")
	r.task.Drained(r.drain(work))
	r.stopTimeline(ctx)
	r.stopGroups(ctx)
	cancel(nil)
	r.phase("audit")
	r.audit(ctx)
	r.phase("end")
	return r.failure()
}

func (r *run) phase(name string) {
	r.task.Phase(name)
	r.progress.phase.Store(&name)
}

func (r *run) stopped() bool { return r.Stop != nil && r.Stop.Load() }

func (r *run) store(g *GroupPlan) (effects.Store, error) {
	if r.Store != nil {
		return r.Config.Store(g)
	}
	return effects.NewMemory(r.clock, g.EffectMode(), 2*g.Takes+time.Second)
}

func (r *run) failure() error {
	r.failing.Lock()
	defer r.failing.Unlock()
	return r.failed
}

// fail remembers the first error that makes the run worthless; the phases go on to a
// truthful end.
func (r *run) fail(err error) {
	r.failing.Lock()
	defer r.failing.Unlock()
	if r.failed == nil {
		r.failed = err
	}
}

// samplesAtLeast is into how many parts samples of the depth divide a run: their default
// interval grows with it, from sampleFirst on.
const (
	samplesAtLeast = 128
	sampleFirst    = 250 * time.Millisecond
)

// sampleAfter is how long to wait for the next sample, some time into the run.
func (r *run) sampleAfter(now time.Duration) time.Duration {
	if every := r.plan.Spec.Sample.Std(); every > 0 {
		return every
	}
	return max(sampleFirst, now/samplesAtLeast)
}

// sample measures every subscription's destination until the context ends.
func (r *run) sample(ctx context.Context) {
	r.clock.Go(ctx, "sample", func(ctx context.Context) {
		for r.clock.Sleep(ctx, r.sampleAfter(r.clock.Now())) == nil {
			for _, g := range r.groups {
				if depth, err := r.depth(ctx, g); err == nil {
					r.task.Depth(g.plan.From, g.plan.Group, depth)
				}
			}
		}
	})
}

func (r *run) depth(ctx context.Context, g *group) (broker.Depth, error) {
	return r.Engine.Depth(ctx, g.plan.From, g.plan.Spec.Group)
}
