// SPDX-License-Identifier: Apache-2.0

package suite

import (
	"context"
	"errors"
	"path/filepath"
	"strings"
	"testing"

	"github.com/seed-720a3c77/harness/checkers"
	"github.com/seed-720a3c77/harness/contract"
	"github.com/seed-720a3c77/harness/internal/catalog"
	"github.com/seed-720a3c77/harness/internal/testenv"
	"github.com/seed-720a3c77/harness/provision"
	"github.com/seed-720a3c77/harness/workloads"
)

const bad = `
name: bad
about: A fault that goes wrong itself.
variants:
  how:
    never: {timeline: [{at: 100ms, do: drop, operation: publish, id: p0/1000}]}
    stuck: {timeline: [{at: 100ms, do: broker-pause, for: 200ms}]}
topology: {orders: {}}
produce: [{to: orders, count: 100, rate: 200/s, confirms: "on"}]
consume: [{from: orders, group: billing, workers: 1, settle: {when: after-handler}, handler: {takes: 1ms}, effect: plain}]
claims: at-least-once
`

func runBad(t *testing.T, variant, engine string, connect func(context.Context, catalog.Engine) (catalog.Connection, error)) (checkers.Results, error) {
	t.Helper()
	doc, err := workloads.Parse("bad.yaml", []byte(bad))
	if err != nil {
		t.Fatal(err)
	}
	engines, err := catalog.FindAll(engine)
	if err != nil {
		t.Fatal(err)
	}
	return Run(t.Context(), Request{
		Workloads: []*workloads.Document{doc}, Variants: []string{variant}, Engines: engines,
		Out: filepath.Join(t.TempDir(), "suite"), Connect: connect,
	})
}

// TestFaultThatNeverStrikes: a run whose fault found nothing to hit tells nothing.
func TestFaultThatNeverStrikes(t *testing.T) {
	results, err := runBad(t, "never", "inmem:kafka", nil)
	if err != nil {
		t.Fatal(err)
	}
	r := results.Runs[0]
	if r.Verdict != contract.Inconclusive || !strings.Contains(r.Sentence, "was never active") {
		t.Errorf("%s: %s", r.Verdict, r.Sentence)
	}
	if f := r.Faults[0]; f.RequestedNs < 0 || f.ActiveNs >= 0 {
		t.Errorf("fault %+v", f)
	}
}

// TestFaultWithoutATarget: before anything starts, with the reason.
func TestFaultWithoutATarget(t *testing.T) {
	results, err := runBad(t, "stuck", "inmem:kafka", nil)
	if err != nil {
		t.Fatal(err)
	}
	if len(results.Runs) != 0 || len(results.NotRun) != 1 || results.NotRun[0].Verdict != contract.NotApplicable ||
		!strings.Contains(results.NotRun[0].Reason, "the in-memory engine is no process") {
		t.Errorf("%+v", results.NotRun)
	}
}

// stuckNode says that it was frozen, and cannot be thawed.
type stuckNode struct{ provision.Node }

func (stuckNode) Name() string                 { return "stuck/1" }
func (stuckNode) PID() int                     { return 1 }
func (stuckNode) Freeze(context.Context) error { return nil }
func (stuckNode) Thaw(context.Context) error   { return errors.New("no such process") }

// TestHealThatFailsOnABroker: the harness has failed, and says what is still broken and how
// to repair it by hand.
func TestHealThatFailsOnABroker(t *testing.T) {
	testenv.Broker(t, "rabbitmq")
	brokers, err := catalog.NewBrokers(catalog.Providing{Only: "external"})
	if err != nil {
		t.Fatal(err)
	}
	_, err = runBad(t, "stuck", "rabbitmq", func(ctx context.Context, e catalog.Engine) (catalog.Connection, error) {
		conn, err := brokers.Connect(ctx, e)
		conn.At.Nodes = []provision.Node{stuckNode{}}
		return conn, err
	})
	for _, want := range []string{"broker-pause broker is still broken", "no such process", "to repair it by hand: kill -CONT"} {
		if err == nil || !errors.Is(err, ErrFailed) || !strings.Contains(err.Error(), want) {
			t.Errorf("%v does not say %q", err, want)
		}
	}
}
