// SPDX-License-Identifier: Apache-2.0

package runner_test

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/seed-720a3c77/harness/broker"
	"github.com/seed-720a3c77/harness/clock"
	"github.com/seed-720a3c77/harness/contract"
	"github.com/seed-720a3c77/harness/contract/profiles"
	"github.com/seed-720a3c77/harness/effects"
	"github.com/seed-720a3c77/harness/faults"
	"github.com/seed-720a3c77/harness/history"
	"github.com/seed-720a3c77/harness/inmem/drive"
	"github.com/seed-720a3c77/harness/internal/catalog"
	"github.com/seed-720a3c77/harness/runner"
	"github.com/seed-720a3c77/harness/workloads"
)

const processes = `name: processes
about: Workers as processes.
topology: {orders: {partitions: 1}}
produce: [{to: orders, count: 100, rate: max, start: 100ms, acks: all}]
consume: [{from: orders, group: billing, workers: 2, batch: 10, run-in: process, settle: {when: after-handler}}]
timeline:
  - {at: {worker: billing, point: after-effect}, do: DO, target: billing}
claims: at-least-once
`

// processPlan is for a worker to whom something is done at its first message, or for a
// step.
func processPlan(t *testing.T, do string, where runner.Where, words ...string) (*runner.Plan, contract.Profile, error) {
	t.Helper()
	source := strings.NewReplacer(words...).Replace(strings.Replace(processes, "DO", do, 1))
	if strings.HasPrefix(do, "{") {
		source = strings.Replace(source, fmt.Sprintf("{at: {worker: billing, point: after-effect}, do: %s, target: billing}", do), do, 1)
	}
	doc, err := workloads.Parse("processes.yaml", []byte(source))
	if err != nil {
		t.Fatal(err)
	}
	spec, err := doc.Spec("")
	if err != nil {
		t.Fatal(err)
	}
	profile, err := profiles.Named("rabbitmq")
	if err != nil {
		t.Fatal(err)
	}
	where.Faults = catalog.Faults()
	plan, err := runner.NewPlan(spec, profile, where)
	return plan, profile, err
}

// TestProcessesNeedUnix: elsewhere they are not applicable on a real broker. On virtual
// time a task can be frozen as well as a process.
func TestProcessesNeedUnix(t *testing.T) {
	for _, c := range []struct {
		where runner.Where
		want  string
	}{
		{runner.Where{Virtual: true}, ""},
		{runner.Where{}, "on Linux and macOS only"},
		{runner.Where{Processes: true}, ""},
	} {
		_, _, err := processPlan(t, "freeze", c.where)
		var not *runner.NotApplicable
		switch {
		case c.want == "" && err != nil:
			t.Error(err)
		case c.want != "" && (!errors.As(err, &not) || !strings.Contains(err.Error(), c.want)):
			t.Errorf("%+v: %v, want %q", c.where, err, c.want)
		}
	}
}

// spawner plays processes by tasks that share nothing with the run but engine and clock.
type spawner struct {
	plan   *runner.Plan
	engine broker.Engine
	dir    string
	// how a life ends that comes to its end; nil is without an error.
	how error
	// refuses to start.
	refuses error
	// words of the workload to replace, old and new.
	words []string
	// store of the effects; nil is in memory.
	store func(clock.Clock) effects.Store

	mu      sync.Mutex
	started []string
}

func (s *spawner) Spawn(_ context.Context, seat runner.Seat) (runner.Process, error) {
	if s.refuses != nil {
		return nil, s.refuses
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.started = append(s.started, seat.Name())
	recording, err := history.Attach(s.dir, seat.Name())
	return &played{spawner: s, seat: seat, recording: recording, task: make(chan clock.Task, 1), port: make(chan *runner.Port)}, err
}

type played struct {
	*spawner
	seat      runner.Seat
	recording *history.Recording
	leaving   atomic.Bool
	task      chan clock.Task
	port      chan *runner.Port
}

// Order plays the conversation: the port is the worker's own.
func (p *played) Order(ctx context.Context, o runner.Order, fault int) error {
	return (<-p.port).Do(ctx, o, fault)
}

func (p *played) Serve(ctx context.Context, clk clock.Clock, desk runner.Desk) error {
	port := runner.NewPort(p.plan, p.engine, clk)
	task := clk.Go(ctx, "process "+p.seat.Name(), func(ctx context.Context) {
		_ = runner.Work{
			Plan: p.plan, Seat: p.seat, Engine: p.engine, Clock: clk, Recording: p.recording, Desk: desk, Leaving: &p.leaving, Port: port,
		}.Run(ctx)
	})
	go p.handOut(ctx, port)
	p.task <- task
	if p.how != nil {
		return p.how
	}
	return errors.Join(task.Join(ctx), p.recording.Close())
}

func (p *played) handOut(ctx context.Context, port *runner.Port) {
	for {
		select {
		case p.port <- port:
		case <-ctx.Done():
			return
		}
	}
}

func (p *played) Leave() { p.leaving.Store(true) }

func (p *played) Kill(_ context.Context, still func()) error {
	still()
	(<-p.task).Kill()
	return nil
}

func (p *played) Freeze(context.Context) error { return errors.New("does not stop") }
func (p *played) Thaw(context.Context) error   { return nil }

// inPlayedProcesses runs the workload and returns what it recorded.
func inPlayedProcesses(t *testing.T, do string, s *spawner) (*history.Run, error) {
	t.Helper()
	plan, profile, err := processPlan(t, do, runner.Where{Processes: true, Nonce: 1}, s.words...)
	if err != nil {
		t.Fatal(err)
	}
	clk := clock.NewWall(1)
	defer clk.Close()
	dir := filepath.Join(t.TempDir(), "run")
	recording, err := history.Create(dir, plan.Header())
	if err != nil {
		t.Fatal(err)
	}
	s.plan, s.engine, s.dir = plan, drive.New(clk, profile, drive.Options{}), dir
	config := runner.Config{Plan: plan, Engine: s.engine, Clock: clk, Recording: recording, Spawner: s}
	if s.store != nil {
		store := s.store(clk)
		config.Store = func(*runner.GroupPlan) (effects.Store, error) { return store, nil }
	}
	var ran error
	crashed := clk.Run("run", func(ctx context.Context) { ran = runner.Run(ctx, config) })
	if err := errors.Join(crashed, recording.Close()); err != nil {
		t.Fatal(err)
	}
	run, err := history.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	return run, ran
}

// TestALifeInAProcessIsAskedToLeave: nothing happens to it before.
func TestALifeInAProcessIsAskedToLeave(t *testing.T) {
	s := new(spawner)
	run, err := inPlayedProcesses(t, "start", s)
	if err != nil {
		t.Fatal(err)
	}
	n := counts(t, run)
	if n[history.EffectResult] != 100 || n[history.WorkerEnd] != 3 || len(s.started) != 2 {
		t.Errorf("%d effects, %d ends, started %v", n[history.EffectResult], n[history.WorkerEnd], s.started)
	}
}

// deaths lists sessions and workers that crashed, as the harness recorded it.
func deaths(t *testing.T, run *history.Run) (sessions, workers []string) {
	t.Helper()
	err := run.Each(history.Only(history.SessionClose, history.WorkerEnd), func(e *history.Event) {
		switch {
		case !e.Has(history.Crashed) || run.Tasks()[e.Task] != "run":
		case e.Kind == history.SessionClose:
			name, _, _ := strings.Cut(run.Name(history.Sessions, e.Session), "|")
			sessions = append(sessions, name)
		default:
			workers = append(workers, run.Name(history.Texts, e.Text))
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	return sessions, workers
}

func TestTheHarnessRecordsTheDeathOfAProcess(t *testing.T) {
	run, err := inPlayedProcesses(t, "kill", new(spawner))
	if err != nil {
		t.Fatal(err)
	}
	sessions, workers := deaths(t, run)
	if len(sessions) != 1 || len(workers) != 1 || sessions[0] != workers[0]+"-1-1" {
		t.Errorf("died: sessions %v, workers %v", sessions, workers)
	}
	if n := counts(t, run); n[history.FaultActive] != 1 {
		t.Errorf("%d faults were active", n[history.FaultActive])
	}
}

// TestAProcessThatEndsByItselfFailsTheRun, with the reason, and is recorded as a crash.
func TestAProcessThatEndsByItselfFailsTheRun(t *testing.T) {
	how := errors.New("exit status 2: panic: of its own")
	run, err := inPlayedProcesses(t, "start", &spawner{how: how})
	if !errors.Is(err, how) || !strings.Contains(err.Error(), "worker billing/") {
		t.Errorf("%v, want %v", err, how)
	}
	if _, workers := deaths(t, run); len(workers) != 2 {
		t.Errorf("crashed: %v", workers)
	}
}

func TestAProcessThatDoesNotStartFailsTheRun(t *testing.T) {
	why := errors.New("fork: resource temporarily unavailable")
	if _, err := inPlayedProcesses(t, "start", &spawner{refuses: why}); !errors.Is(err, why) {
		t.Errorf("%v, want %v", err, why)
	}
}

// TestAFreezeThatWasNotSeenIsNotActive: the run goes on, and the checkers see that the
// fault never was.
func TestAFreezeThatWasNotSeenIsNotActive(t *testing.T) {
	run, err := inPlayedProcesses(t, "freeze", new(spawner))
	if err != nil && !errors.Is(err, faults.ErrNotActive) {
		t.Fatal(err)
	}
	if n := counts(t, run); n[history.FaultRequested] != 1 || n[history.FaultActive] != 0 {
		t.Errorf("requested %d, active %d", n[history.FaultRequested], n[history.FaultActive])
	}
}

// TestRequestFaultsStrikeInAProcess: they are counted at the port of the one worker that is
// named, and heal when they have hit all.
func TestRequestFaultsStrikeInAProcess(t *testing.T) {
	run, err := inPlayedProcesses(t, "{at: 0s, do: drop-answer, operation: settle, by: billing/0, nth: 2, every: 2, count: 3}", &spawner{words: []string{"workers: 2", "workers: 1"}})
	if err != nil {
		t.Fatal(err)
	}
	unknown, others := 0, 0
	err = run.Each(history.Only(history.SettleAnswer), func(e *history.Event) {
		switch {
		case e.Class != contract.Unknown:
		case strings.HasPrefix(run.Name(history.Sessions, e.Session), "billing/0-"):
			unknown++
		default:
			others++
		}
	})
	if n := counts(t, run); err != nil || unknown != 3 || others != 0 || n[history.FaultActive] != 1 || n[history.FaultHealed] != 1 {
		t.Errorf("%d settlements of billing/0 are unknown and %d of others, want 3 and 0; active %d, healed %d; %v",
			unknown, others, n[history.FaultActive], n[history.FaultHealed], err)
	}
}

// TestAFaultThatFindsNoCallInAProcess is not active, and not in force any more.
func TestAFaultThatFindsNoCallInAProcess(t *testing.T) {
	run, err := inPlayedProcesses(t, "{at: 0s, do: drop, operation: settle, by: billing/0, nth: 5000, for: 100ms}", new(spawner))
	if err != nil {
		t.Fatal(err)
	}
	if n := counts(t, run); n[history.FaultRequested] != 1 || n[history.FaultActive] != 0 {
		t.Errorf("requested %d, active %d", n[history.FaultRequested], n[history.FaultActive])
	}
}

// TestRequestFaultsOfSeveralProcesses: each would count for itself.
func TestRequestFaultsOfSeveralProcesses(t *testing.T) {
	_, _, err := processPlan(t, "{at: 0s, do: drop, operation: settle, by: billing}", runner.Where{Processes: true})
	if not := new(runner.NotApplicable); !errors.As(err, &not) || !strings.Contains(err.Error(), "name one of them") {
		t.Errorf("%v", err)
	}
}
