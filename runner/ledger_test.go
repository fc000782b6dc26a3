// SPDX-License-Identifier: Apache-2.0

package runner_test

import (
	"bytes"
	"errors"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/seed-720a3c77/harness/contract/profiles"
	"github.com/seed-720a3c77/harness/history"
	"github.com/seed-720a3c77/harness/msg"
	"github.com/seed-720a3c77/harness/runner"
	"github.com/seed-720a3c77/harness/workloads"
)

// ledger is what a history says without any checker: per id, deliveries and effects.
type ledger struct {
	deliveries, effects map[msg.ID]int
	dead                []msg.ID // found in the dead-letter queue
}

func read(t *testing.T, run *history.Run) ledger {
	t.Helper()
	l := ledger{map[msg.ID]int{}, map[msg.ID]int{}, nil}
	err := run.Each(history.AllKinds, func(e *history.Event) {
		switch e.Kind {
		case history.Delivery:
			l.deliveries[e.ID()]++
		case history.EffectResult:
			l.effects[e.ID()] = max(l.effects[e.ID()], int(e.N))
		case history.Audit:
			if strings.HasPrefix(run.Name(history.Places, e.Place), "orders-dlq") {
				l.dead = append(l.dead, e.ID())
			}
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	return l
}

// extra counts how much more than once something happened, over all ids.
func extra(m map[msg.ID]int) (more int) {
	for _, n := range m {
		more += max(n-1, 0)
	}
	return more
}

// killedBatch is the size of the batch in which the killed worker was.
func killedBatch(t *testing.T, run *history.Run) int {
	t.Helper()
	last, killed := map[uint32]int{}, 0
	err := run.Each(history.Only(history.Receive, history.SessionClose), func(e *history.Event) {
		switch {
		case e.Kind == history.Receive:
			last[e.Session] = int(e.N)
		case e.Has(history.Crashed):
			killed = last[e.Session]
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	return killed
}

// TestCrashMidBatch: the figures follow from the batch and the kill at its 50th message,
// whatever the seed. Settled before, the rest of the batch is lost; settled after each,
// the one in hand has its effect twice and the rest is delivered again; settled after the
// batch, all of it is delivered again and 50 effects happen twice.
func TestCrashMidBatch(t *testing.T) {
	for _, c := range []struct {
		variant string
		want    func(batch int) [3]int // lost, redelivered, effects twice
	}{
		{"before-handler", func(batch int) [3]int { return [3]int{batch - 50, 0, 0} }},
		{"after-handler", func(batch int) [3]int { return [3]int{0, batch - 49, 1} }},
		{"after-batch", func(batch int) [3]int { return [3]int{0, batch, 50} }},
	} {
		for seed := range uint64(5) {
			_, run := play(t, "crash-mid-batch", c.variant, "kafka", seed)
			l := read(t, run)
			got := [3]int{500 - len(l.effects), extra(l.deliveries), extra(l.effects)}
			if batch := killedBatch(t, run); batch <= 50 || got != c.want(batch) {
				t.Errorf("%s, seed %d, batch of %d: lost, redelivered, effects twice %v; want %v", c.variant, seed, batch, got, c.want(batch))
			}
		}
	}
}

// TestAsynchronousCommits: the work goes on before the answer, a clean run commits all of
// it, and a crash delivers again no more than what was not committed.
func TestAsynchronousCommits(t *testing.T) {
	source := `name: async
about: Commits without waiting.
topology: {orders: {partitions: 1}}
produce: [{to: orders, count: 200, rate: 1000/s}]
consume: [{from: orders, group: billing, workers: 2, batch: 20, settle: {when: after-handler, how: async}, handler: {takes: 2ms}}]
claims: at-least-once
`
	for name, timeline := range map[string]string{"clean": "", "crash": "timeline: [{at: {worker: billing, point: mid-batch, n: 10}, do: kill, target: billing}]\n"} {
		_, run := playSource(t, source+timeline, "kafka", 1)
		l := read(t, run)
		again := extra(l.deliveries)
		if len(l.effects) != 200 || name == "clean" && again != 0 || name == "crash" && (again < 1 || again > 20) {
			t.Errorf("%s: %d ids with effects, %d redelivered", name, len(l.effects), again)
		}
	}
}

func TestPoisonPillEndsInTheDeadLetters(t *testing.T) {
	want := []msg.ID{{Producer: 0, Seq: 5}}
	for _, c := range []struct{ variant, profile string }{
		{"dead-letter", "kafka"}, {"retry-topic", "kafka"}, {"dead-letter", "sqs"}, {"dead-letter", "sqs-fifo"},
		{"dead-letter", "localstack"}, {"dead-letter", "rabbitmq"}, {"dead-letter", "rabbitmq-classic"}, {"dead-letter", "rabbitmq-3.10-quorum"},
	} {
		_, run := play(t, "poison-pill", c.variant, c.profile, 1)
		l := read(t, run)
		if !slices.Equal(l.dead, want) || len(l.effects) != 19 || extra(l.effects) != 0 {
			t.Errorf("%s on %s: dead letters %v, %d ids with effects, %d twice", c.variant, c.profile, l.dead, len(l.effects), extra(l.effects))
		}
	}
}

func TestSlowHandlerHasTwoHolders(t *testing.T) {
	for _, c := range []struct {
		variant   string
		effects   int // more than one, over all ids
		redeliver bool
	}{
		{"expires+plain", 2, true}, {"expires+idempotent", 0, true}, {"extended+plain", 0, false},
	} {
		_, run := play(t, "slow-handler", c.variant, "localstack", 1)
		l := read(t, run)
		if got := extra(l.deliveries) > 0; got != c.redeliver || extra(l.effects) < c.effects || c.effects == 0 && extra(l.effects) != 0 {
			t.Errorf("%s: redelivered %d, effects twice %d", c.variant, extra(l.deliveries), extra(l.effects))
		}
	}
}

// TestSameSeedSameHistory: the bytes of an export are those of the events.
func TestSameSeedSameHistory(t *testing.T) {
	export := func(seed uint64, profile string) []byte {
		_, run := play(t, "crash-mid-batch", "after-batch", profile, seed)
		var b bytes.Buffer
		if err := history.Export(run, &b); err != nil {
			t.Fatal(err)
		}
		return b.Bytes()
	}
	for _, profile := range []string{"kafka", "sqs", "rabbitmq"} {
		first := export(7, profile)
		if !bytes.Equal(first, export(7, profile)) {
			t.Errorf("%s: the same seed wrote another history", profile)
		}
		if bytes.Equal(first, export(8, profile)) {
			t.Errorf("%s: another seed wrote the same history", profile)
		}
	}
}

func TestNotApplicableSaysWhy(t *testing.T) {
	for _, c := range []struct{ workload, variant, profile, want string }{
		{"slow-handler", "expires+plain", "kafka", "kafka-4.1-sarama has no lease: sarama sends heartbeats"},
		{"slow-handler", "extended+plain", "rabbitmq", "rabbitmq-4.0-quorum has no extend"},
		{"slow-handler", "expires+plain", "rabbitmq-3.10-quorum", "3.10 ignores x-consumer-timeout"},
		{"poison-pill", "retry-topic", "sqs", "sqs-standard has no partitions"},
		{"analytics-5s-commit", "blind", "rabbitmq", "nothing to replay"},
	} {
		doc, err := workloads.Find(c.workload)
		if err != nil {
			t.Fatal(err)
		}
		spec, err := doc.Spec(c.variant)
		if err != nil {
			t.Fatal(err)
		}
		profile, err := profiles.Named(c.profile)
		if err != nil {
			t.Fatal(err)
		}
		_, err = runner.NewPlan(spec, profile, runner.Where{Virtual: true, Faults: allFaults()})
		var not *runner.NotApplicable
		if !errors.As(err, &not) || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s %s on %s: %v, want %q", c.workload, c.variant, c.profile, err, c.want)
		}
	}
}

func TestBadTimelineNamesTheLine(t *testing.T) {
	source := `name: bad
about: A test.
topology: {orders: {}}
produce: [{to: orders, count: 1, rate: 1/s}]
consume: [{from: orders, group: billing, settle: {when: after-handler}}]
claims: at-least-once
timeline:
  - STEP
`
	for step, want := range map[string]string{
		"{at: 1s, do: kil, target: billing/0}":             `bad:8: unknown fault "kil"; did you mean "kill"?`,
		"{at: 1s, do: kill, target: biling/0}":             `bad:8: unknown target "biling/0"; did you mean "billing"?`,
		"{at: 1s, do: kill, target: billing/0, harder: 1}": `unknown key "harder"`,
	} {
		doc, err := workloads.Parse("bad.yaml", []byte(strings.Replace(source, "STEP", step, 1)))
		if err != nil {
			t.Fatal(err)
		}
		spec, _ := doc.Spec("")
		profile, _ := profiles.Named("kafka")
		if _, err := runner.NewPlan(spec, profile, runner.Where{Virtual: true, Faults: allFaults()}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", filepath.Base(step), err, want)
		}
	}
}
