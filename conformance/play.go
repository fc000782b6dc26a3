// SPDX-License-Identifier: Apache-2.0

package conformance

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/seed-720a3c77/harness/clock"
	"github.com/seed-720a3c77/harness/contract/profiles"
	"github.com/seed-720a3c77/harness/faults"
	"github.com/seed-720a3c77/harness/history"
	"github.com/seed-720a3c77/harness/inmem/drive"
	"github.com/seed-720a3c77/harness/runner"
	"github.com/seed-720a3c77/harness/workloads"
)

// play runs a workload on the reference engine and virtual time, always in the same way:
// one seed, latencies without jitter.
func play(source, profile string, opts drive.Options) (*history.Run, error) {
	doc, err := workloads.Parse("planted.yaml", []byte(source))
	if err != nil {
		return nil, err
	}
	spec, err := doc.Spec("")
	if err != nil {
		return nil, err
	}
	p, err := profiles.Named(profile)
	if err != nil {
		return nil, err
	}
	catalogue := []faults.Kind{faults.Kill(), faults.Start(), faults.Stop(), faults.Freeze(), faults.Thaw()}
	plan, err := runner.NewPlan(spec, p, runner.Where{Virtual: true, Nonce: 1, Faults: catalogue})
	if err != nil {
		return nil, fmt.Errorf("%s on %s: %w", spec.Name, profile, err)
	}
	clk := clock.NewVirtual(1)
	defer clk.Close()
	opts.Publish = drive.Latency{Base: 500 * time.Microsecond}
	opts.Receive, opts.Settle = drive.Latency{Base: 300 * time.Microsecond}, drive.Latency{Base: 300 * time.Microsecond}
	engine := drive.New(clk, p, opts)
	h := plan.Header()
	h.Run, h.Seed = spec.Name, 1
	recording := history.NewMemory(h)
	var ran error
	crashed := clk.Run(spec.Name, func(ctx context.Context) {
		ran = runner.Run(ctx, runner.Config{Plan: plan, Engine: engine, Clock: clk, Recording: recording})
	})
	if err := errors.Join(crashed, ran, recording.Close()); err != nil {
		return nil, fmt.Errorf("%s on %s: %w", spec.Name, profile, err)
	}
	return recording.Run(), nil
}
