// SPDX-License-Identifier: Apache-2.0

package suite

import (
	"context"
	"path/filepath"
	"strings"
	"testing"

	"github.com/seed-720a3c77/harness/checkers"
	"github.com/seed-720a3c77/harness/history"
	"github.com/seed-720a3c77/harness/internal/catalog"
	"github.com/seed-720a3c77/harness/internal/testenv"
	"github.com/seed-720a3c77/harness/msg"
	"github.com/seed-720a3c77/harness/workloads"
)

// onBroker runs one variant of the catalogue on a real broker and returns its result, as
// expected.
func onBroker(t *testing.T, workload, variant, engine string) *checkers.Result {
	t.Helper()
	doc, err := workloads.Find(workload)
	if err != nil {
		t.Fatal(err)
	}
	r, _ := onBrokers(t, doc, variant, engine)
	return r
}

// onBrokers runs one variant of a workload, and returns the directory of its run too.
func onBrokers(t *testing.T, doc *workloads.Document, variant, engine string) (r *checkers.Result, dir string) {
	t.Helper()
	engines, err := catalog.FindAll(engine)
	if err != nil {
		t.Fatal(err)
	}
	testenv.Broker(t, engines[0].Broker)
	brokers, err := catalog.NewBrokers(catalog.Providing{Only: "external"})
	if err != nil {
		t.Fatal(err)
	}
	out := filepath.Join(t.TempDir(), "suite")
	results, err := Run(context.Background(), Request{
		Workloads: []*workloads.Document{doc}, Variants: strings.Split(variant, "+"), Engines: engines,
		Out: out, Connect: brokers.Connect,
	})
	if err != nil {
		t.Fatal(err)
	}
	if len(results.Runs) != 1 {
		t.Fatalf("%d runs, want 1; not run: %+v", len(results.Runs), results.NotRun)
	}
	r = &results.Runs[0]
	if code := checkers.ExitCode(*r); code != checkers.ExitPass {
		t.Errorf("%s %s on %s: %s, exit %d: %s", r.Workload, variant, engine, r.Verdict, code, r.Sentence)
		for _, x := range r.Expectations {
			t.Logf("expected %s %s, measured %s: %s", x.Name, x.Limit, x.Measured, x.Verdict)
		}
	}
	return r, filepath.Join(out, r.Dir)
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

// fullBatch is crash-mid-batch with a first message that takes seconds, so that however slow
// the machine is everything is stored before the next batch, which is a full one.
const fullBatch = `
name: full-batch
about: A worker dies at the 50th message of a batch of 100.
variants:
  settle: [before-handler, after-batch]
topology: {orders: {partitions: 1}}
produce: [{to: orders, count: 300, rate: 1000/s, keys: 50, acks: all}]
consume:
  - {from: orders, group: billing, workers: 2, batch: 100, settle: {when: $settle}, handler: {takes: 1ms, script: [{id: p0/0, do: delay, for: 4s}]}, effect: plain}
timeline: [{at: {worker: billing, point: mid-batch, n: 50}, do: kill, target: billing}]
claims: {before-handler: at-most-once, after-batch: at-least-once}
expect:
  any: {unexplained: 0}
`

// TestCrashMidBatchOnKafka: settled before the work, the rest of the batch is lost;
// settled after it, at most the batch is delivered again. Both are found by id.
func TestCrashMidBatchOnKafka(t *testing.T) {
	doc, err := workloads.Parse("full-batch.yaml", []byte(fullBatch))
	if err != nil {
		t.Fatal(err)
	}
	before, _ := onBrokers(t, doc, "before-handler", "kafka")
	if lost := before.Counts["lost"]; lost < 1 || lost > 50 || len(named(before, "settled-without-success"))+len(named(before, "position-passed")) == 0 {
		t.Errorf("settled before: lost %d of a batch of 100 killed at its 50th, anomalies %+v", lost, before.Anomalies)
	}
	after, _ := onBrokers(t, doc, "after-batch", "kafka")
	if n := after.Counts["redelivered"]; after.Counts["lost"] != 0 || n < 51 || len(named(after, "redelivered")) == 0 {
		t.Errorf("settled after: lost %d, redelivered %d", after.Counts["lost"], n)
	}
}

// overdue is slow-handler with work that takes six times as long as the lease, so that the
// second worker has the message in time however late the queue's sweep is.
const overdue = `
name: overdue
about: The work takes much longer than the lease.
variants:
  effect:
    plain: {consume: [{effect: plain}]}
    idempotent: {consume: [{effect: upsert}]}
topology: {jobs: {lease: 15s}}
produce: [{to: jobs, count: 2, rate: 1/s}]
consume: [{from: jobs, group: render, workers: 3, batch: 1, settle: {when: after-handler}, handler: {takes: 90s}}]
drain: {limit: 20m}
claims: {plain: at-least-once, idempotent: [at-least-once, effectively-once]}
`

// TestSlowHandlerOnSQS: the lease ends under the work, so that two workers hold a
// message; its effect happens twice with plain effects, once with idempotent ones.
func TestSlowHandlerOnSQS(t *testing.T) {
	doc, err := workloads.Parse("overdue.yaml", []byte(overdue))
	if err != nil {
		t.Fatal(err)
	}
	plain, _ := onBrokers(t, doc, "plain", "sqs")
	if plain.Counts["overlapping"] < 1 || plain.Counts["effect-duplicates"] < 1 {
		t.Errorf("plain: overlapping %d, effects twice %d", plain.Counts["overlapping"], plain.Counts["effect-duplicates"])
	}
	idempotent, _ := onBrokers(t, doc, "idempotent", "sqs")
	if idempotent.Counts["overlapping"] < 1 || idempotent.Counts["effect-duplicates"] != 0 {
		t.Errorf("idempotent: overlapping %d, effects twice %d", idempotent.Counts["overlapping"], idempotent.Counts["effect-duplicates"])
	}
}

// TestPoisonPillIsDeadLettered: by the broker's limit on RabbitMQ and SQS, after exactly
// three deliveries, and it alone.
func TestPoisonPillIsDeadLettered(t *testing.T) {
	doc, err := workloads.Find("poison-pill")
	if err != nil {
		t.Fatal(err)
	}
	for _, engine := range []string{"rabbitmq", "sqs"} {
		r, dir := onBrokers(t, doc, "dead-letter", engine)
		if ids := named(r, "dead-lettered"); len(ids) != 1 || !ids["p0/5"] {
			t.Errorf("%s: dead letters %v; want p0/5", engine, ids)
		}
		if n := delivered(t, dir, "orders", msg.ID{Seq: 5}); n != 3 {
			t.Errorf("%s: p0/5 was delivered %d times before it was a dead letter, want 3", engine, n)
		}
	}
}

// delivered counts the deliveries of a message from a destination.
func delivered(t *testing.T, dir, from string, id msg.ID) (n int) {
	t.Helper()
	run, err := history.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	err = run.Each(history.Only(history.Delivery), func(e *history.Event) {
		if e.ID() == id && strings.HasPrefix(run.Name(history.Places, e.Place), from+"|") {
			n++
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// TestPoisonPillBlocksAPartition: without a retry topic everything behind it is stuck.
func TestPoisonPillBlocksAPartition(t *testing.T) {
	r := onBroker(t, "poison-pill", "retry-forever", "kafka")
	if n := r.Counts["undrained"]; n < 15 || r.Counts["lost"] != 0 {
		t.Errorf("undrained %d, lost %d; want at least p0/5 and the 14 behind it undrained, none lost", n, r.Counts["lost"])
	}
}
