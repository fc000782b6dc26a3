// SPDX-License-Identifier: Apache-2.0

package consumertest

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/seed-720a3c77/harness/broker"
	"github.com/seed-720a3c77/harness/clock"
	"github.com/seed-720a3c77/harness/contract"
	"github.com/seed-720a3c77/harness/inmem/drive"
)

const (
	queue = "orders"
	group = "consumer"
)

// scene is one run of a plan: the broker's model, the workers, and the world of the
// handler that outlives them.
type scene struct {
	config *config
	plan   *plan
	rules  *rules
	clock  clock.Clock
	engine broker.Engine
	trace  *trace
	world  *world
	// over is closed when all is judged: what still stands may go.
	over chan struct{}
	// changed is woken when something was settled. Only tasks of the clock use it.
	changed clock.Gate

	mu     sync.Mutex    // never held across a wait
	down   time.Duration // no worker starts before this instant
	calls  int
	alive  []*process
	coming int // copies that are not stored yet
	facts  facts
	// copies are deliveries that the broker makes by itself, for another worker.
	copies []injected
}

// facts are what the run itself showed, apart from effects.
type facts struct {
	attempts []int // calls of the handler by event
	points   int   // yield points of the call that had most
	stray    int   // operations that belong to no call
	refused  int   // settles that came too late
	// gaveUp is the last error by event where the attempts were used up.
	gaveUp   map[int]error
	problems []problem
	done     map[deed]int // acts that came
	took     time.Duration
}

// problem is a finding that needs no effects.
type problem struct {
	kind  symptom
	event int
	text  string
}

// newScene is called inside of the bubble.
func newScene(c *config, r *rules, p *plan, clk clock.Clock) *scene {
	s := &scene{
		config: c, plan: p, rules: r, clock: clk, trace: newTrace(), world: newWorld(c),
		engine: drive.New(clk, r.Profile, drive.Options{}), over: make(chan struct{}),
		changed: clk.NewGate("changed"),
	}
	s.facts = facts{
		attempts: make([]int, p.events), gaveUp: map[int]error{}, done: map[deed]int{},
	}
	return s
}

// main is the main task: it publishes, lets workers run and returns when all is settled.
func (s *scene) main(ctx context.Context) error {
	spec := broker.Topology{Destinations: []broker.Destination{{Name: queue, MaxDeliveries: s.unlimited()}}}
	if s.rules.Can.Has(contract.Partitions) {
		spec.Destinations[0].Partitions = 2
	}
	if err := s.engine.Declare(ctx, spec); err != nil {
		return fmt.Errorf("declare: %w", err)
	}
	if err := s.setUp(ctx); err != nil {
		s.problem(problem{kind: unready, event: -1, text: err.Error()})
		return nil //nolint:nilerr // it is told as a problem of the test
	}
	s.coming = s.plan.events
	for _, a := range s.plan.acts {
		if a.do == copyOnce {
			s.coming++
		}
	}
	for n := range s.plan.workers {
		s.employ(ctx, fmt.Sprintf("worker-%d", n+1))
	}
	s.clock.Go(ctx, "producer", s.produce)
	return s.drain(ctx)
}

// employ starts a worker. It begins when its task is known to it.
func (s *scene) employ(ctx context.Context, name string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	w := &worker{scene: s, name: name}
	w.task = s.clock.Go(ctx, name, w.run)
}

// goDown lets no worker start for a while.
func (s *scene) goDown(d time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.down = s.clock.Now() + d
}

// downFor is how much of that is left.
func (s *scene) downFor() time.Duration {
	s.mu.Lock()
	defer s.mu.Unlock()
	return max(0, s.down-s.clock.Now())
}

// setUp runs the test's own preparations.
func (s *scene) setUp(ctx context.Context) error {
	if s.config.setup == nil {
		return nil
	}
	env := s.newProcess("setup", 0).env()
	return s.clock.Foreign(ctx, func() error { return guarded("setup", func() error { return s.config.setup(env) }) })
}

// guarded makes an error of a panic in user code that is not the handler.
func guarded(what string, fn func() error) (err error) {
	defer func() {
		if value := recover(); value != nil {
			err = fmt.Errorf("%s panics: %v%s", what, value, panicSite())
		}
	}()
	if err = fn(); err != nil {
		err = fmt.Errorf("%s: %w", what, err)
	}
	return err
}

func (s *scene) unlimited() int {
	if s.rules.Can.Has(contract.DeadLetter) {
		return -1
	}
	return 0
}

// drain waits until everything is stored and settled and no handler runs.
func (s *scene) drain(ctx context.Context) error {
	limit := s.rules.pace.patience
	limit += s.plan.later
	for _, a := range s.plan.acts {
		limit += 2 * a.wait
	}
	for s.clock.Now() < limit {
		ticket := s.changed.Ticket()
		drained, err := s.drained(ctx)
		if err != nil {
			return err
		}
		if drained {
			return s.clock.Sleep(ctx, s.rules.pace.afterwards)
		}
		if err := s.changed.WaitFor(ctx, ticket, max(s.rules.pace.poll, s.downFor())); err != nil && !errors.Is(err, clock.ErrTimeout) {
			return err
		}
	}
	s.problem(s.whoHangs())
	return nil
}

func (s *scene) drained(ctx context.Context) (bool, error) {
	s.mu.Lock()
	open := s.coming + len(s.copies)
	s.mu.Unlock()
	if s.spoilt() {
		return true, nil
	}
	if open > 0 || s.downFor() > 0 || s.running() > 0 {
		return false, nil
	}
	d, err := s.engine.Depth(ctx, queue, group)
	if err != nil {
		return false, fmt.Errorf("depth: %w", err)
	}
	if s.rules.Model == contract.Log {
		return d.Committed >= d.End, nil
	}
	return d.Ready == 0 && d.InFlight == 0, nil
}

// poll is how long a receive waits: short where the broker is about to give a copy by itself.
func (s *scene) poll() time.Duration {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.copies) > 0 || slices.ContainsFunc(s.plan.acts, s.yetToCopy) {
		return s.rules.pace.quickPoll
	}
	return s.rules.pace.poll
}

// yetToCopy tells whether an act may still make a copy. The caller holds mu.
func (s *scene) yetToCopy(a act) bool {
	switch a.do {
	case spontaneousCopy:
		return s.facts.attempts[a.event] == a.attempt && s.facts.done[a.do] == 0
	case overlap, overlapCrash:
		return s.givesCopies() && s.facts.attempts[a.event] <= a.attempt && s.facts.done[a.do] == 0
	}
	return false
}

// putOff lets nothing run for a while before an event is handled again after all that goes
// wrong with it, if a probe asks for it.
func (s *scene) putOff(arrivals []*arrival) bool {
	for _, a := range arrivals {
		if s.plan.later > 0 && a.attempt == s.plan.lastHit(a.event)+1 {
			s.goDown(s.plan.later)
			return true
		}
	}
	return false
}

// attempts is how often the handler may fail with an event: together they outlast all that
// the plan holds, one after another.
func (s *scene) attempts() int {
	n := s.rules.pace.attempts
	for _, a := range s.plan.acts {
		if a.do.pointed() {
			n += int(a.wait / s.rules.pace.mostRetry)
		}
	}
	return n
}

// forgets tells whether a probe wants a new handler for these.
func (s *scene) forgets(arrivals []*arrival) bool {
	return s.plan.forgetful && slices.ContainsFunc(arrivals, func(a *arrival) bool { return a.attempt > s.plan.lastHit(a.event) })
}

// id is the id of an event by number.
func (s *scene) id(n int) string { return s.config.made[n].ID }

// fault writes an act into the story and counts that it came.
func (s *scene) fault(who string, event, call int, format string, args ...any) {
	s.trace.add(entry{who: who, event: event, call: call, fault: true}, format, args...)
}

func (s *scene) came(d deed) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.facts.done[d]++
}

// manyRefused settles are no accident.
const manyRefused = 30

func (s *scene) refused() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.facts.refused++; s.facts.refused == manyRefused {
		s.facts.problems = append(s.facts.problems, problem{
			kind: late, event: -1, text: "messages come again and again: every settle is refused, because it comes too late",
		})
	}
}

func (s *scene) strayed() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.facts.stray++
}

func (s *scene) problem(p problem) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.facts.problems = append(s.facts.problems, p)
}

// spoilt tells whether there is a finding already that makes the rest pointless.
func (s *scene) spoilt() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.facts.problems) > 0
}

// fail is a fault of this package, not of the handler.
func (s *scene) fail(what string, err error) {
	s.problem(problem{kind: broken, event: -1, text: fmt.Sprintf("%s: %v", what, err)})
}
