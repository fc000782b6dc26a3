// SPDX-License-Identifier: Apache-2.0

package suite

import (
	"context"
	"path/filepath"
	"strings"
	"testing"

	"github.com/seed-720a3c77/harness/checkers"
	"github.com/seed-720a3c77/harness/internal/catalog"
	"github.com/seed-720a3c77/harness/internal/testenv"
	"github.com/seed-720a3c77/harness/workloads"
)

// onBroker runs one variant on a real broker and returns its result, as expected.
func onBroker(t *testing.T, workload, variant, engine string) *checkers.Result {
	t.Helper()
	engines, err := catalog.FindAll(engine)
	if err != nil {
		t.Fatal(err)
	}
	testenv.Broker(t, engines[0].Broker)
	doc, err := workloads.Find(workload)
	if err != nil {
		t.Fatal(err)
	}
	brokers, err := catalog.NewBrokers(catalog.Providing{Only: "external"})
	if err != nil {
		t.Fatal(err)
	}
	results, err := Run(context.Background(), Request{
		Workloads: []*workloads.Document{doc}, Variants: strings.Split(variant, "+"), Engines: engines,
		Out: filepath.Join(t.TempDir(), "suite"), Connect: brokers.Connect,
	})
	if err != nil {
		t.Fatal(err)
	}
	if len(results.Runs) != 1 {
		t.Fatalf("%d runs, want 1; not run: %+v", len(results.Runs), results.NotRun)
	}
	r := &results.Runs[0]
	if code := checkers.ExitCode(*r); code != checkers.ExitPass {
		t.Errorf("%s %s on %s: %s, exit %d: %s", workload, variant, engine, r.Verdict, code, r.Sentence)
		for _, x := range r.Expectations {
			t.Logf("expected %s %s, measured %s: %s", x.Name, x.Limit, x.Measured, x.Verdict)
		}
	}
	return r
}

// named are the ids that the examples of an anomaly name.
func named(r *checkers.Result, anomaly string) map[string]bool {
	ids := map[string]bool{}
	for _, a := range r.Anomalies {
		if a.Name == anomaly {
			for _, x := range a.Examples {
				ids[x.ID.String()] = true
			}
		}
	}
	return ids
}

// TestCrashMidBatchOnKafka: settled before the work, the rest of the batch is lost;
// settled after it, at most the batch is delivered again. Both are found by id.
func TestCrashMidBatchOnKafka(t *testing.T) {
	before := onBroker(t, "crash-mid-batch", "before-handler", "kafka")
	if lost := before.Counts["lost"]; lost < 1 || lost > 50 || len(named(before, "settled-without-success"))+len(named(before, "position-passed")) == 0 {
		t.Errorf("settled before: lost %d of a batch of 100 killed at its 50th, anomalies %+v", lost, before.Anomalies)
	}
	after := onBroker(t, "crash-mid-batch", "after-batch", "kafka")
	if n := after.Counts["redelivered"]; after.Counts["lost"] != 0 || n < 51 || n > 100 || len(named(after, "redelivered")) == 0 {
		t.Errorf("settled after: lost %d, redelivered %d", after.Counts["lost"], n)
	}
}

// TestSlowHandlerOnSQS: the lease ends under the work, so that two workers hold a
// message; its effect happens twice with plain effects, once with idempotent ones.
func TestSlowHandlerOnSQS(t *testing.T) {
	plain := onBroker(t, "slow-handler", "expires+plain", "sqs")
	if plain.Counts["overlapping"] < 1 || plain.Counts["effect-duplicates"] < 1 {
		t.Errorf("plain: overlapping %d, effects twice %d", plain.Counts["overlapping"], plain.Counts["effect-duplicates"])
	}
	idempotent := onBroker(t, "slow-handler", "expires+idempotent", "sqs")
	if idempotent.Counts["overlapping"] < 1 || idempotent.Counts["effect-duplicates"] != 0 {
		t.Errorf("idempotent: overlapping %d, effects twice %d", idempotent.Counts["overlapping"], idempotent.Counts["effect-duplicates"])
	}
}

// TestPoisonPillIsDeadLettered: by the broker's limit on RabbitMQ and SQS, after exactly
// three deliveries, and it alone.
func TestPoisonPillIsDeadLettered(t *testing.T) {
	for _, engine := range []string{"rabbitmq", "sqs"} {
		r := onBroker(t, "poison-pill", "dead-letter", engine)
		if ids := named(r, "dead-lettered"); len(ids) != 1 || !ids["p0/5"] || r.Counts["redelivered"] != 2 {
			t.Errorf("%s: dead letters %v, redelivered %d; want p0/5 after 3 deliveries", engine, ids, r.Counts["redelivered"])
		}
	}
}

// TestPoisonPillBlocksAPartition: without a retry topic everything behind it is stuck.
func TestPoisonPillBlocksAPartition(t *testing.T) {
	r := onBroker(t, "poison-pill", "retry-forever", "kafka")
	if n := r.Counts["undrained"]; n != 15 || r.Counts["lost"] != 0 {
		t.Errorf("undrained %d, lost %d; want p0/5 and the 14 behind it undrained, none lost", n, r.Counts["lost"])
	}
}
