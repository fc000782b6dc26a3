// SPDX-License-Identifier: Apache-2.0

//go:build linux || darwin

package suite

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/seed-720a3c77/harness/checkers"
	"github.com/seed-720a3c77/harness/internal/catalog"
	"github.com/seed-720a3c77/harness/internal/testenv"
	"github.com/seed-720a3c77/harness/workloads"
)

// storm runs one variant on one engine; on a real one its workers may be processes.
func storm(t *testing.T, workload, variant, engine string) *checkers.Result {
	t.Helper()
	engines, err := catalog.FindAll(engine)
	if err != nil {
		t.Fatal(err)
	}
	doc, err := workloads.Find(workload)
	if err != nil {
		t.Fatal(err)
	}
	request := Request{
		Workloads: []*workloads.Document{doc}, Variants: strings.Split(variant, "+"), Engines: engines, Out: filepath.Join(t.TempDir(), "suite"),
		Worker: []string{os.Args[0], asWorker},
	}
	if engines[0].Broker != "" {
		testenv.Broker(t, engines[0].Broker)
		brokers, err := catalog.NewBrokers(catalog.Providing{Only: "external"})
		if err != nil {
			t.Fatal(err)
		}
		request.Connect = brokers.Connect
	}
	results, err := Run(context.Background(), request)
	if err != nil {
		t.Fatal(err)
	}
	if len(results.Runs) != 1 {
		t.Fatalf("%s %s on %s: not run: %+v", workload, variant, engine, results.NotRun)
	}
	return &results.Runs[0]
}

// within holds a storm to its bounds: nothing is lost, at least so many changes of
// ownership were seen, and at none of them came more again than was uncommitted.
func within(t *testing.T, r *checkers.Result, least int) {
	t.Helper()
	name := r.Workload + " " + r.Variant + " on " + r.Engine
	if code := checkers.ExitCode(*r); code != checkers.ExitPass || r.Counts["lost"] != 0 {
		t.Errorf("%s: %s, lost %d: %s", name, r.Verdict, r.Counts["lost"], r.Sentence)
	}
	if beyond, measured := r.Counts["redelivered-beyond-uncommitted"]; beyond != 0 || !measured {
		t.Errorf("%s: %d redelivered beyond what was uncommitted, measured: %t", name, beyond, measured)
	}
	if len(r.Generations) < least {
		t.Errorf("%s: %d changes of ownership, want %d or more", name, len(r.Generations), least)
	}
	var again, late, open int64
	for _, g := range r.Generations {
		again, late, open = again+g.Redelivered, late+g.Late, open+g.UncommittedMax
		if g.Redelivered > g.UncommittedMax || g.UncommittedMin > g.UncommittedMax {
			t.Errorf("%s: %s %d: %d came again of %d to %d uncommitted", name, g.Kind, g.Number, g.Redelivered, g.UncommittedMin, g.UncommittedMax)
		}
	}
	if total := r.Counts["redelivered"]; again+late != total {
		t.Errorf("%s: %d redelivered, %d of them at changes of ownership and %d to former owners", name, total, again, late)
	}
	t.Logf("%s: %d changes of ownership, %d came again and %d late of %d uncommitted", name, len(r.Generations), again, late, open)
}

// TestStormsInMemory: every variant on the models of all brokers that can have it; under
// -short the first one of each.
func TestStormsInMemory(t *testing.T) {
	for _, c := range []struct {
		workload, engine string
		variants         []string
		least            int
	}{
		{"rebalance-storm", "inmem:kafka", []string{"range+polite", "sticky+polite", "cooperative+polite"}, 15},
		{"rebalance-storm", "inmem:kafka", []string{"static+polite"}, 4},
		{"rebalance-storm", "inmem:kafka", []string{"range+rough", "sticky+rough", "cooperative+rough", "static+rough"}, 10},
		{"lease-herd", "inmem:sqs", []string{"killed", "frozen"}, 2},
		{"lease-herd", "inmem:localstack", []string{"killed", "frozen"}, 2},
		{"lease-herd", "inmem:sqs-fifo", []string{"killed", "frozen"}, 2},
		{"channel-closes", "inmem:rabbitmq", []string{"after-handler", "after-batch"}, 20},
		{"channel-closes", "inmem:rabbitmq-classic", []string{"after-handler", "after-batch"}, 20},
	} {
		if testing.Short() {
			c.variants = c.variants[:1]
		}
		for _, variant := range c.variants {
			within(t, storm(t, c.workload, variant, c.engine), c.least)
		}
	}
}

// TestRebalanceStorm: twenty joins and twenty leaves in thirty seconds. On a slow machine many
// of their rebalances fall together, but not all.
func TestRebalanceStorm(t *testing.T) {
	testenv.Short(t, "a storm takes most of a minute")
	r := storm(t, "rebalance-storm", "range+polite", "kafka")
	within(t, r, 4)
	if r.Counts["generations.uncommitted"] == 0 {
		t.Error("nothing was uncommitted at any rebalance, so that no bound was put to the test")
	}
}

// TestLeaseHerd and TestChannelCloses are its kin.
func TestLeaseHerd(t *testing.T) {
	testenv.Short(t, "half a minute")
	within(t, storm(t, "lease-herd", "killed", "sqs"), 1)
}

func TestChannelCloses(t *testing.T) {
	testenv.Short(t, "a quarter of a minute")
	within(t, storm(t, "channel-closes", "after-handler", "rabbitmq"), 15)
}

// TestLongStorms: the storms with kills and freezes, and the other strategies.
func TestLongStorms(t *testing.T) {
	testenv.Soak(t, "a quarter of an hour of storms")
	for _, c := range []struct {
		workload, variant, engine string
		least                     int
	}{
		{"rebalance-storm", "range+rough", "kafka", 20}, {"rebalance-storm", "sticky+rough", "kafka", 20},
		{"rebalance-storm", "cooperative+rough", "kafka", 20}, {"rebalance-storm", "static+rough", "kafka", 15},
		{"rebalance-storm", "sticky+polite", "kafka", 20}, {"rebalance-storm", "cooperative+polite", "kafka", 20}, {"rebalance-storm", "static+polite", "kafka", 10},
		{"lease-herd", "frozen", "sqs", 2}, {"channel-closes", "after-batch", "rabbitmq", 15}, {"channel-closes", "after-handler", "rabbitmq-classic", 15},
	} {
		t.Run(c.variant+" on "+c.engine, func(t *testing.T) { within(t, storm(t, c.workload, c.variant, c.engine), c.least) })
	}
}
