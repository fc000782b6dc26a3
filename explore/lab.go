// SPDX-License-Identifier: Apache-2.0

package explore

import (
	"context"
	"errors"
	"fmt"

	"github.com/seed-720a3c77/harness/checkers"
	"github.com/seed-720a3c77/harness/clock"
	"github.com/seed-720a3c77/harness/history"
	"github.com/seed-720a3c77/harness/inmem/drive"
	"github.com/seed-720a3c77/harness/runner"
	"github.com/seed-720a3c77/harness/workloads"
)

// lab runs seeds of a space one after another, and keeps from one to the next what does
// not depend on the seed. One goroutine owns it.
type lab struct {
	space  *Space
	spec   *workloads.Spec // as written
	memory history.Memory
	brief  checkers.Brief
}

func (s *Space) lab() (*lab, error) {
	spec, err := s.source()
	return &lab{space: s, spec: spec}, err
}

func (l *lab) try(seed uint64) (Trial, error) {
	spec := l.space.vary(l.spec, seed)
	result, run, err := l.play(spec, seed)
	if err != nil {
		return Trial{}, fmt.Errorf("seed %d: %w", seed, err)
	}
	seen, err := cover(run, &l.space.Profile)
	if err != nil {
		return Trial{}, fmt.Errorf("seed %d: %w", seed, err)
	}
	t := outcome(seed, spec, result)
	t.Seen, t.Print = seen.names(), seen.print
	return t, nil
}

// play runs a workload on the space's profile and judges it. The run can be read until
// the next one.
func (l *lab) play(spec *workloads.Spec, seed uint64) (checkers.Result, *history.Run, error) {
	s := l.space
	plan, err := s.plan(spec)
	if err != nil {
		return checkers.Result{}, nil, err
	}
	clk := clock.NewVirtual(seed)
	defer clk.Close()
	on := s.clock(clk)
	h := plan.Header()
	h.Seed, h.Run = seed, spec.Name
	recording := l.memory.Record(h)
	options := s.options()
	options.Sweep = sweep(clk, s.Profile.Lease.Tick)
	engine := drive.New(clk, s.Profile, options)
	var ran error
	crashed := clk.Run(spec.Name, func(ctx context.Context) {
		ran = runner.Run(ctx, runner.Config{Plan: plan, Engine: engine, Clock: on, Recording: recording, Links: s.links(engine, plan)})
	})
	if err := errors.Join(crashed, ran, recording.Close()); err != nil {
		return checkers.Result{}, nil, err
	}
	run := recording.Run()
	result, err := l.brief.Check(run)
	return result, run, err
}
