// SPDX-License-Identifier: Apache-2.0

package blackbox

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/seed-720a3c77/harness/broker"
	"github.com/seed-720a3c77/harness/clock"
	"github.com/seed-720a3c77/harness/history"
	"github.com/seed-720a3c77/harness/runner/record"
	"github.com/seed-720a3c77/harness/runner/spawn"
)

// ErrBroker wraps what a broker failed at.
var ErrBroker = errors.New("broker failed")

// Config is what a run needs.
type Config struct {
	Plan      *Plan
	Engine    broker.Engine
	Clock     *clock.Wall
	Recording *history.Recording
	// Access tells each worker how it reaches the broker, and Links the link that it is sent
	// through; it may be nil where no fault breaks one.
	Access func(worker int) Access
	Links  func(worker int) (Link, error)
	Source Source
	// Dir is a folder of the run's own, for what the program keeps.
	Dir string
	// Bodies gets the bodies as JSON lines with --keep-bodies; nil keeps none.
	Bodies io.Writer
	// Guard ends the workers if the harness cannot; nil is nobody.
	Guard spawn.Guard
	// Say hears what goes on; it must not wait. nil hears nothing.
	Say func(line string)
	// Stop, once true, ends the load; the run drains, audits and returns. nil is never.
	Stop *atomic.Bool
}

// Link is the way between one worker and the broker.
type Link interface {
	// Open is how many connections there are.
	Open() int
	// Drop loses every byte of a way (down is to the worker) until the repair, which ends
	// the connections.
	Drop(ctx context.Context, way string) (repair func(context.Context) error, err error)
}

// run is one run under way.
type run struct {
	Config
	plan     *Plan
	recorder *record.Recorder
	// task records what belongs to no worker.
	task      *record.Task
	tally     *tally
	shelf     shelf
	around    surroundings
	workers   []*worker
	storm     *storm
	publisher *publisher
	// work ends with the load and the drain; nothing starts a worker then.
	work context.Context
	// restarts counts workers that ended by themselves.
	restarts atomic.Int64
	// acked counts messages that the broker has for certain, acks wakes at each.
	acked atomic.Int64
	acks  clock.Gate
	// latest is the latest sample of the depth.
	latest atomic.Pointer[broker.Depth]

	mu sync.Mutex // guards what follows; never held across a wait
	// failed is the first error that makes the run worthless.
	failed error
	// looking: a look at the effects is under way; two would overtake each other.
	looking bool
	// looked is what the latest look at the effects failed with.
	looked error
}

// Run declares the queue, runs the program through warm-up, load and drain, and removes
// what it declared. It is called inside the clock's Run. The error says that the program,
// its store, the broker or the harness failed; a violated guarantee is no error. No
// process is left when it returns.
func Run(ctx context.Context, c Config) error {
	r, err := newRun(c)
	if err != nil {
		return err
	}
	if err := r.Source.Look(ctx, r.tally); errors.Is(err, ErrUsed) || errors.Is(err, ErrGarbage) {
		return err
	}
	if err := c.Engine.Declare(ctx, c.Plan.Topology); err != nil {
		return r.remove(ctx, fmt.Errorf("%w: declare: %w", ErrBroker, err))
	}
	err = r.phases(ctx)
	return r.remove(ctx, errors.Join(err, c.Recording.Err()))
}

func newRun(c Config) (*run, error) {
	r := &run{Config: c, plan: c.Plan, acks: c.Clock.NewGate("acks")}
	if r.Say == nil {
		r.Say = func(string) {}
	}
	r.recorder = record.New(c.Recording, c.Clock, c.Plan.Profile, c.Plan.plain())
	var err error
	if r.task, err = r.recorder.Task("run"); err != nil {
		return nil, err
	}
	r.tally = newTally(r.plan, c.Clock, r.task)
	r.tally.of(everybody, r.task.Program("store", r.plan.Group, r.plan.Destination))
	r.around = surroundings{plan: r.plan, access: c.Access, dir: c.Dir}
	if hook, ok := c.Source.(*Hook); ok {
		r.around.hook = hook.URL()
	}
	for n := range r.plan.Workers {
		task, err := r.recorder.Task(WorkerName(n))
		if err != nil {
			return nil, err
		}
		r.workers = append(r.workers, &worker{run: r, number: n, task: task})
	}
	return r, nil
}

// remove deletes what was declared, on every way out; the first error stays.
func (r *run) remove(ctx context.Context, err error) error {
	names := r.plan.Queues()
	if gone := r.Engine.Remove(ctx, names...); gone != nil && err == nil {
		return fmt.Errorf("%w: remove %s: %w", ErrBroker, strings.Join(names, ", "), gone)
	}
	return err
}

func (r *run) phases(ctx context.Context) error {
	work, cancel := r.Clock.WithCancel(ctx)
	r.work = work
	defer r.end()
	defer cancel(nil)
	out, err := r.newProducer(ctx)
	if err != nil {
		return err
	}
	r.phase("warm-up")
	for _, w := range r.workers {
		if err := w.start(work); err != nil {
			r.fail(err)
			break
		}
	}
	r.sample(work)
	r.look(work)
	why := r.awaitWork(work, out)
	if why == "" && r.broken() == nil {
		r.phase("load")
		if why, err = r.load(work, out); err != nil {
			return err
		}
	}
	out.finish(ctx)
	r.phase("drain")
	if why == "" {
		why = r.drain(ctx)
	}
	cancel(nil)
	r.finish(ctx, why)
	return r.broken()
}

// finish lets the workers go, and looks a last time at effects and broker. Nothing starts
// a worker any more.
func (r *run) finish(ctx context.Context, why string) {
	if r.stopped() {
		r.task.Interrupted()
	}
	r.storm.join(ctx)
	r.leave(ctx)
	r.lastLook(ctx)
	if err := r.broken(); err != nil {
		why = err.Error()
	}
	if why != "" {
		r.Say("not drained: " + why)
	}
	r.task.Drained(why)
	r.phase("audit")
	r.audit(ctx)
	r.phase("end")
}

// leave asks all workers at once to go.
func (r *run) leave(ctx context.Context) {
	var tasks []clock.Task
	for _, w := range r.workers {
		tasks = append(tasks, r.Clock.Go(ctx, "leave", func(ctx context.Context) {
			if !w.leave(ctx) {
				r.note("%s did not leave within %s of being asked and was killed", w.name(), r.plan.Grace)
			}
		}))
	}
	for _, t := range tasks {
		_ = t.Join(ctx)
	}
}

// end kills what is left, on every way out of a run.
func (r *run) end() {
	for _, w := range r.workers {
		if p := w.ask(); p != nil {
			p.End()
			p.Gone(context.Background(), spawn.Patience)
			w.ended(true, "the run ended")
		}
	}
	if n := spawn.EndEscaped(runVariable + "=" + r.plan.Run); n > 0 {
		r.note("%d processes of the program had left its process group, and were killed at the end of the run: a kill or a freeze did not reach them", n)
	}
}

// lines is who else reads a worker's standard output.
func (r *run) lines(worker int) io.Writer {
	if s, ok := r.Source.(*Stdout); ok {
		return s.lines(worker, r.tally)
	}
	return nil
}

func (r *run) phase(name string) {
	r.task.Phase(name)
	seen, _ := r.tally.seen()
	r.Say(fmt.Sprintf("%6s  %-8s %d of %d messages, %d effects", r.Clock.Now().Round(100*time.Millisecond), name,
		r.published(), r.plan.Messages, seen))
}

func (r *run) stopped() bool { return r.Stop != nil && r.Stop.Load() }

// fail remembers the first error that makes the run worthless; the phases go on to a
// truthful end.
func (r *run) fail(err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.failed == nil {
		r.failed = err
	}
}

func (r *run) broken() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.failed
}

// note adds a line to the manifest.
func (r *run) note(format string, args ...any) {
	text := fmt.Sprintf(format, args...)
	r.Say(text)
	if err := r.Recording.Amend(func(h *history.Header) { h.Notes = append(h.Notes, text) }); err != nil {
		r.fail(err)
	}
}

// sampleEvery is the interval between samples of the depth.
const sampleEvery = 250 * time.Millisecond

// sample measures the queue until the context ends.
func (r *run) sample(ctx context.Context) {
	r.Clock.Go(ctx, "sample", func(ctx context.Context) {
		for r.Clock.Sleep(ctx, sampleEvery) == nil {
			_, _ = r.depth(ctx) // the drain tells what fails
		}
	})
}

func (r *run) depth(ctx context.Context) (broker.Depth, error) {
	d, err := r.Engine.Depth(ctx, r.plan.Destination, r.plan.Group)
	if err != nil {
		return d, err
	}
	r.latest.Store(&d)
	r.task.Depth(r.plan.Destination, r.plan.Group, d)
	return d, nil
}
