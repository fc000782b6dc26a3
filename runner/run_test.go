// SPDX-License-Identifier: Apache-2.0

package runner_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/seed-720a3c77/harness/clock"
	"github.com/seed-720a3c77/harness/contract/profiles"
	"github.com/seed-720a3c77/harness/faults"
	"github.com/seed-720a3c77/harness/history"
	"github.com/seed-720a3c77/harness/inmem/drive"
	"github.com/seed-720a3c77/harness/runner"
	"github.com/seed-720a3c77/harness/workloads"
)

func allFaults() []faults.Kind {
	return []faults.Kind{faults.Kill(), faults.Freeze(), faults.Thaw(), faults.Stop(), faults.Start()}
}

// play runs a core workload on an in-memory profile and returns its history.
func play(t *testing.T, name, variant, profile string, seed uint64) (*runner.Plan, *history.Run) {
	t.Helper()
	doc, err := workloads.Find(name)
	if err != nil {
		t.Fatal(err)
	}
	return playDocument(t, doc, variant, profile, seed)
}

// playSource runs a workload written in the test.
func playSource(t *testing.T, source, profile string, seed uint64) (*runner.Plan, *history.Run) {
	t.Helper()
	doc, err := workloads.Parse("test.yaml", []byte(source))
	if err != nil {
		t.Fatal(err)
	}
	return playDocument(t, doc, "", profile, seed)
}

func playDocument(t *testing.T, doc *workloads.Document, variant, profile string, seed uint64) (*runner.Plan, *history.Run) {
	t.Helper()
	spec, err := doc.Spec(variant)
	if err != nil {
		t.Fatal(err)
	}
	p, err := profiles.Named(profile)
	if err != nil {
		t.Fatal(err)
	}
	plan, err := runner.NewPlan(spec, p, runner.Where{Virtual: true, Nonce: 1, Faults: allFaults()})
	if err != nil {
		t.Fatal(err)
	}
	clk := clock.NewVirtual(seed)
	defer clk.Close()
	recording := history.NewMemory(history.Header{Profile: p})
	engine := drive.New(clk, p, drive.Options{Publish: drive.Latency{Base: time.Millisecond, Jitter: time.Millisecond}})
	var ran error
	err = clk.Run(doc.Name, func(ctx context.Context) {
		ran = runner.Run(ctx, runner.Config{Plan: plan, Engine: engine, Clock: clk, Recording: recording})
	})
	if err != nil || ran != nil {
		t.Fatalf("clock: %v, run: %v", err, ran)
	}
	if err := recording.Close(); err != nil {
		t.Fatal(err)
	}
	return plan, recording.Run()
}

func counts(t *testing.T, run *history.Run) map[history.Kind]int {
	t.Helper()
	n := map[history.Kind]int{}
	if err := run.Each(history.AllKinds, func(e *history.Event) { n[e.Kind]++ }); err != nil {
		t.Fatal(err)
	}
	return n
}

func TestSteadyHandlesEverythingOnce(t *testing.T) {
	for _, profile := range []string{"kafka", "sqs", "rabbitmq"} {
		_, run := play(t, "steady", "", profile, 1)
		n := counts(t, run)
		for _, kind := range []history.Kind{history.PublishStart, history.PublishAnswer, history.Delivery, history.HandlerStart, history.EffectResult} {
			if n[kind] != 1000 {
				t.Errorf("%s: %d %s events, want 1000", profile, n[kind], kind)
			}
		}
	}
}

// TestARetryInPlaceLetsTimePass: a handler that fails at once, for ever, ends with the drain.
func TestARetryInPlaceLetsTimePass(t *testing.T) {
	_, run := playSource(t, `
name: no-time
about: A poison message whose handler takes no time.
topology: {orders: {partitions: 1}}
produce: [{to: orders, count: 3, rate: 100/s}]
consume: [{from: orders, group: billing, settle: {when: after-handler}, handler: {script: [{id: p0/1, do: fail}]}}]
drain: {limit: 1s}
claims: drained
`, "kafka", 1)
	if n := counts(t, run)[history.HandlerEnd]; n < 10 || n > 2000 {
		t.Errorf("%d tries in a drain of a second", n)
	}
}

// TestARedrivePolicyNamesAQueue: SQS cannot limit deliveries without a dead-letter queue.
func TestARedrivePolicyNamesAQueue(t *testing.T) {
	doc, err := workloads.Parse("limited.yaml", []byte(`
name: limited
about: A limit without a dead-letter queue.
topology: {orders: {max-deliveries: 3}}
produce: [{to: orders, count: 1, rate: 1/s}]
consume: [{from: orders, group: billing, settle: {when: after-handler}}]
claims: drained
`))
	if err != nil {
		t.Fatal(err)
	}
	spec, err := doc.Spec("")
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range profiles.All() {
		_, err := runner.NewPlan(spec, p, runner.Where{Virtual: true})
		var not *runner.NotApplicable
		if lacks := p.Product == "sqs"; errors.As(err, &not) != lacks || !lacks && err != nil || lacks && !strings.Contains(not.Reason, "redrive policy") {
			t.Errorf("%s: %v", p.Name, err)
		}
	}
}

// TestADrainOutlastsAScriptedDelay: what a worker is at, longer than any lease, is not left
// behind as undrained.
func TestADrainOutlastsAScriptedDelay(t *testing.T) {
	_, run := playSource(t, `
name: slow-first
about: The first of a group is slow, and the rest waits for it.
topology: {orders: {fifo: true, lease: 10s}}
produce: [{to: orders, count: 3, rate: 100/s, keys: 1}]
consume: [{from: orders, group: billing, workers: 2, batch: 3, settle: {when: after-batch, renew: 5s}, handler: {script: [{id: p0/0, do: delay, for: 40s}]}}]
claims: drained
`, "sqs-fifo", 1)
	if n := counts(t, run)[history.HandlerEnd]; n != 3 {
		t.Errorf("%d of 3 were handled before the drain ended", n)
	}
}
