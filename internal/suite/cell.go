// SPDX-License-Identifier: Apache-2.0

package suite

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"hash/fnv"
	"path/filepath"
	"runtime"
	"strings"
	"time"

	"github.com/seed-720a3c77/harness/broker"
	"github.com/seed-720a3c77/harness/checkers"
	"github.com/seed-720a3c77/harness/clock"
	"github.com/seed-720a3c77/harness/contract/profiles"
	"github.com/seed-720a3c77/harness/faults"
	"github.com/seed-720a3c77/harness/history"
	"github.com/seed-720a3c77/harness/inmem/drive"
	"github.com/seed-720a3c77/harness/internal/catalog"
	"github.com/seed-720a3c77/harness/provision"
	"github.com/seed-720a3c77/harness/runner"
	"github.com/seed-720a3c77/harness/runner/process"
	"github.com/seed-720a3c77/harness/runner/spawn"
	"github.com/seed-720a3c77/harness/workloads"
)

// runClock is a clock that a run can be given to.
type runClock interface {
	clock.Clock
	Run(name string, fn func(context.Context)) error
	Close()
}

// attempt is one cell with everything that it runs on.
type attempt struct {
	cell    Cell
	plan    *runner.Plan
	engine  broker.Engine
	clock   runClock
	started time.Time
	at      provision.Endpoint
	spawner runner.Spawner
	links   runner.Links
}

// latencies of the in-memory engine: small, and jittered so that seeds explore.
func latencies() drive.Options {
	way := func(base time.Duration) drive.Latency { return drive.Latency{Base: base, Jitter: base} }
	return drive.Options{Publish: way(500 * time.Microsecond), Receive: way(300 * time.Microsecond), Settle: way(300 * time.Microsecond)}
}

// virtual runs a cell on the in-memory engine and virtual time.
func (s *suite) virtual(c Cell, spec *workloads.Spec) (*checkers.Result, error) {
	profile, err := profiles.Named(c.Engine.Profile)
	if err != nil {
		return nil, err
	}
	plan, err := runner.NewPlan(spec, profile, runner.Where{Virtual: true, Nonce: s.nonce(c), Faults: catalog.Faults(), Rig: modelRig()})
	if err != nil {
		return nil, err
	}
	clk := clock.NewVirtual(s.seed(spec))
	defer clk.Close()
	engine := drive.New(clk, profile, latencies())
	return s.run(attempt{cell: c, plan: plan, engine: engine, links: catalog.ModelLinks{Engine: engine, Clients: clients(plan)}, clock: clk})
}

// real runs a cell on a real broker and the wall clock.
func (s *suite) real(ctx context.Context, c Cell, spec *workloads.Spec) (*checkers.Result, error) {
	likely, err := profiles.Named(c.Engine.Profile)
	if err != nil {
		return nil, err
	}
	where := runner.Where{Processes: spawn.Supported && len(s.Worker) > 0, Nonce: s.nonce(c), Faults: catalog.Faults()}
	if _, err := runner.NewPlan(spec, likely, where); errors.As(err, new(*runner.NotApplicable)) && s.open[c.Engine.Name].Engine == nil && !couldDiffer(spec) {
		return nil, err
	}
	conn, err := s.connection(ctx, c.Engine)
	if err != nil {
		return nil, err
	}
	where.Rig = rigOf(conn.At)
	plan, err := runner.NewPlan(spec, conn.Engine.Profile(), where)
	if err != nil {
		return nil, err
	}
	clk := clock.NewWall(s.seed(spec))
	defer clk.Close()
	links, err := s.links(ctx, c, conn, plan)
	if err != nil {
		return nil, err
	}
	defer func() { _ = closeEngine(context.WithoutCancel(ctx), links) }() // a broker that a fault took away answers no farewell
	removed, err := s.undo(c, conn.At, plan)
	if err != nil {
		return nil, err
	}
	defer removed()
	spawner := s.spawner(c, spec, clk, conn.At, links)
	return s.run(attempt{cell: c, plan: plan, engine: links, links: links, clock: clk, at: conn.At, spawner: spawner})
}

// undo sees to it that what a plan declares does not outlive this process.
func (s *suite) undo(c Cell, at provision.Endpoint, plan *runner.Plan) (done func(), err error) {
	if s.Undo == nil {
		return func() {}, nil
	}
	var names []string
	for _, d := range plan.Topology.Destinations {
		names = append(names, d.Name)
	}
	return s.Undo(c.Engine.Name, at.Address, names)
}

// spawner starts the cell's workers where they are processes of their own.
func (s *suite) spawner(c Cell, spec *workloads.Spec, clk *clock.Wall, at provision.Endpoint, links *catalog.Links) runner.Spawner {
	if len(s.Worker) == 0 {
		return nil
	}
	connect := func(seat runner.Seat) (json.RawMessage, error) {
		return catalog.Pass(c.Engine.Name, links.Endpoint(seat.Worker(), at))
	}
	return &process.Spawner{
		Program: s.Worker[0], Args: s.Worker[1:], Clock: clk, Seed: s.seed(spec), Dir: s.dir(c),
		File: c.Document.File, Source: c.Document.Source(), Variant: c.Variant, Connect: connect, Guard: s.Guard,
	}
}

// dir is where a cell's history goes.
func (s *suite) dir(c Cell) string { return filepath.Join(s.Out, c.Name()) }

// seed is the one asked for, else the workload's own, else 1.
func (s *suite) seed(spec *workloads.Spec) uint64 { return cmp.Or(s.Seed, spec.Seed, 1) }

// nonce names the destinations of a cell. On virtual time it follows from seed and cell,
// so that the same seed writes the same bytes; on a real broker it is new every time.
func (s *suite) nonce(c Cell) uint32 {
	h := fnv.New32a()
	fmt.Fprintf(h, "%d %s", s.Seed, c.Name())
	if c.Engine.Open != nil {
		fmt.Fprintf(h, " %d", time.Now().UnixNano())
	}
	return h.Sum32()
}

// run runs the attempt, closes its history and judges the file.
func (s *suite) run(a attempt) (*checkers.Result, error) {
	a.started = time.Now()
	dir := s.dir(a.cell)
	recording, err := history.Create(dir, s.head(a))
	if err != nil {
		return nil, err
	}
	progress := new(runner.Progress)
	if s.Watch != nil {
		s.Watch.Begin(a.cell, progress)
	}
	var ran error
	heals := new(faults.Heals)
	crashed := a.clock.Run(a.cell.Name(), func(ctx context.Context) {
		ran = runner.Run(ctx, runner.Config{Plan: a.plan, Engine: a.engine, Clock: a.clock, Recording: recording, Spawner: a.spawner, Progress: progress, Stop: s.Stop,
			Nodes: nodes(a.at), Links: a.links, Heals: heals, Store: stores(ctx, a.clock, dir, a.plan.Where.Nonce, s.Guard)})
	})
	// The settings of clients and destinations are known once they exist.
	amended := recording.Amend(func(h *history.Header) { h.Settings = a.engine.Settings() })
	failed := errors.Join(crashed, ran, heal(heals), amended, recording.Close())
	result, err := Judge(dir)
	if err != nil {
		return nil, errors.Join(failed, err)
	}
	result.Dir = a.cell.Name()
	return result, failed
}

// Judge opens a run's directory and checks it. With an ErrPrediction the result is whole
// but for the prediction.
func Judge(dir string) (*checkers.Result, error) {
	run, err := history.Open(dir)
	if err != nil {
		return nil, err
	}
	result, err := checkers.Check(run)
	if err != nil {
		return nil, err
	}
	return &result, attach(dir, &result)
}

func (s *suite) head(a attempt) history.Header {
	h := a.plan.Header()
	h.Run, h.Tool, h.Engine, h.Provider = a.cell.Name(), s.Tool, a.cell.Engine.Name, a.at.Provider
	h.Versions, h.Seed, h.Settings = versions(a), s.seed(a.plan.Spec), a.engine.Settings()
	h.Host = fmt.Sprintf("%s/%s, %d cores, %s", runtime.GOOS, runtime.GOARCH, runtime.NumCPU(), runtime.Version())
	h.Started, h.Command = a.started.UTC(), s.repeat(a.cell)
	return h
}

// versions of the broker as its provider tells it; the profile has the client's name.
func versions(a attempt) map[string]string {
	if a.at.Version == "" {
		return nil
	}
	return map[string]string{a.at.Engine: a.at.Version}
}

// repeat is the command that runs this cell again.
func (s *suite) repeat(c Cell) string {
	words := []string{"harness run", c.Document.File, "--on", c.Engine.Name}
	if s.Seed != 0 {
		words = append(words, fmt.Sprintf("--seed %d", s.Seed))
	}
	if listed, err := workloads.Find(c.Document.Name); err == nil && listed.Source() == c.Document.Source() {
		words[1] = c.Document.Name
	}
	if c.Variant != "" {
		words = append(words, "--variant "+c.Variant)
	}
	return strings.Join(words, " ")
}

// couldDiffer: the profile of the broker that answers may allow what the likely one does
// not, when only figures were too coarse.
func couldDiffer(spec *workloads.Spec) bool {
	for _, d := range spec.Topology {
		if d.Lease > 0 {
			return true
		}
	}
	return false
}
