// SPDX-License-Identifier: Apache-2.0

package runner_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/seed-720a3c77/harness/clock"
	"github.com/seed-720a3c77/harness/contract"
	"github.com/seed-720a3c77/harness/contract/profiles"
	"github.com/seed-720a3c77/harness/history"
	"github.com/seed-720a3c77/harness/inmem"
	"github.com/seed-720a3c77/harness/inmem/drive"
	"github.com/seed-720a3c77/harness/internal/catalog"
	"github.com/seed-720a3c77/harness/runner"
	"github.com/seed-720a3c77/harness/workloads"
)

// small is a workload of 100 messages in a second with the timeline of a test. LEASE and
// PRODUCE may be replaced.
const small = `name: small
about: A test.
topology: {orders: {partitions: 1, lease: 5s}}
produce: [{to: orders, count: 100, rate: 100/s, keys: 10, confirms: "on", MORE}]
consume: [{from: orders, group: billing, workers: 2, batch: 10, settle: {when: after-handler}, effect: plain}]
claims: at-least-once
timeline:
`

// seen is what a run on virtual time came to.
type seen struct {
	stored  int // by the engine's own account
	classes map[contract.Class]int
	ids     int // that were delivered
	again   int // deliveries beyond the first of an id
	settles map[contract.Class]int
	twice   int // effects beyond the first of an id
	faults  []string
	run     *history.Run
	failed  error
}

// try runs the small workload with a timeline on a profile without latency.
func try(t *testing.T, timeline, profile string, more ...string) *seen {
	t.Helper()
	return trySource(t, strings.Replace(small, "MORE", strings.Trim(strings.Join(append(more, "size: 100"), ", "), ", "), 1)+timeline, profile)
}

func trySource(t *testing.T, source, profile string) *seen {
	t.Helper()
	doc, err := workloads.Parse("small.yaml", []byte(source))
	if err != nil {
		t.Fatal(err)
	}
	spec, err := doc.Spec("")
	if err != nil {
		t.Fatal(err)
	}
	p, err := profiles.Named(profile)
	if err != nil {
		t.Fatal(err)
	}
	plan, err := runner.NewPlan(spec, p, runner.Where{Virtual: true, Nonce: 1, Faults: catalog.Faults()})
	if err != nil {
		t.Fatal(err)
	}
	s := &seen{classes: map[contract.Class]int{}, settles: map[contract.Class]int{}}
	clk := clock.NewVirtual(1)
	defer clk.Close()
	recording := history.NewMemory(history.Header{Profile: p, Faults: plan.Faults()})
	engine := drive.New(clk, p, drive.Options{Oracle: func(e inmem.OracleEvent) {
		if e.Kind == inmem.Stored {
			s.stored++
		}
	}})
	err = clk.Run("small", func(ctx context.Context) {
		producers, workers := plan.Clients()
		links := catalog.ModelLinks{Engine: engine, Clients: catalog.Clients{Producers: producers, Workers: workers}}
		s.failed = runner.Run(ctx, runner.Config{Plan: plan, Engine: engine, Clock: clk, Recording: recording, Links: links})
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := recording.Close(); err != nil {
		t.Fatal(err)
	}
	s.run = recording.Run()
	s.read(t)
	return s
}

func (s *seen) read(t *testing.T) {
	t.Helper()
	l := read(t, s.run)
	s.ids, s.again, s.twice = len(l.deliveries), extra(l.deliveries), extra(l.effects)
	err := s.run.Each(history.AllKinds, func(e *history.Event) {
		switch e.Kind {
		case history.PublishAnswer:
			s.classes[e.Class]++
		case history.SettleAnswer:
			s.settles[e.Class]++
		case history.FaultRequested, history.FaultActive, history.FaultHealed:
			s.faults = append(s.faults, fmt.Sprintf("f%d %s %s", e.Op, strings.TrimPrefix(e.Kind.String(), "fault-"), time.Duration(e.T)))
		}
	})
	if err != nil {
		t.Fatal(err)
	}
}

// counts in the order of the table below: stored, ids delivered, deliveries again, effects
// twice, publishes that are unknown and rejected, settlements that are unknown.
func (s *seen) counts() [7]int {
	return [7]int{s.stored, s.ids, s.again, s.twice, s.classes[contract.Unknown], s.classes[contract.Rejected], s.settles[contract.Unknown]}
}

// TestRequestFaults: what the client is told and what the broker did, to the message.
func TestRequestFaults(t *testing.T) {
	const kafka, sqs, rabbit = "kafka", "sqs", "rabbitmq"
	on := func(profiles ...string) []string { return profiles }
	for _, c := range []struct {
		step     string
		profiles []string
		more     string
		want     [7]int
	}{
		{"drop, operation: publish, by: p0, nth: 3, count: 2", on(kafka, sqs, rabbit), "", [7]int{98, 98, 0, 0, 2, 0, 0}},
		{"drop, operation: publish, nth: 3, count: 2", on(kafka, sqs, rabbit), "on-error: resend", [7]int{100, 100, 0, 0, 2, 0, 0}},
		{"drop, operation: publish, id: p0/27", on(kafka, sqs, rabbit), "on-error: resend, resends: 2", [7]int{99, 99, 0, 0, 3, 0, 0}},
		{"drop, operation: publish, key: k3", on(kafka, sqs, rabbit), "", [7]int{92, 92, 0, 0, 8, 0, 0}},
		{"drop, operation: publish, by: p0, every: 4, count: 5", on(kafka, sqs, rabbit), "", [7]int{95, 95, 0, 0, 5, 0, 0}},
		{"drop-answer, operation: publish, to: orders, nth: 3, count: 5", on(kafka, sqs, rabbit), "", [7]int{100, 100, 0, 0, 5, 0, 0}},
		{"drop-answer, operation: publish, nth: 3, count: 5", on(kafka, sqs, rabbit), "on-error: resend", [7]int{105, 100, 5, 5, 5, 0, 0}},
		{"drop-answer, operation: publish, for: 100ms", on(kafka, sqs, rabbit), "", [7]int{100, 100, 0, 0, 10, 0, 0}},
		{"fail, operation: publish, nth: 3, count: 5", on(kafka, sqs, rabbit), "", [7]int{95, 95, 0, 0, 0, 5, 0}},
		{"fail, operation: publish, nth: 3, class: unknown, answer: closed", on(kafka, sqs, rabbit), "", [7]int{99, 99, 0, 0, 1, 0, 0}},
		{"delay, operation: publish, late: 300ms, nth: 3", on(kafka, sqs, rabbit), "", [7]int{100, 100, 0, 0, 0, 0, 0}},
		{"hold, operation: publish, side: answer, for: 300ms", on(kafka, sqs, rabbit), "", [7]int{100, 100, 0, 0, 0, 0, 0}},
		// A client with a timeout of its own does not wait for what comes later.
		{"hold, operation: publish, side: answer, for: 300ms", on(kafka, sqs, rabbit), "timeout: 100ms", [7]int{100, 100, 0, 0, 20, 0, 0}},
		{"hold, operation: publish, side: answer, for: 300ms", on(kafka, sqs, rabbit), "timeout: 10s", [7]int{100, 100, 0, 0, 0, 0, 0}},
		{"delay, operation: publish, side: answer, late: 300ms, nth: 3", on(kafka, sqs, rabbit), "timeout: 100ms", [7]int{100, 100, 0, 0, 1, 0, 0}},
		{"hold, operation: settle, for: 300ms", on(kafka, sqs, rabbit), "", [7]int{100, 100, 0, 0, 0, 0, 0}},
		// A commit that never arrived is made good by the next one; an ack is not.
		{"drop, operation: settle, nth: 3", on(kafka), "", [7]int{100, 100, 0, 0, 0, 0, 1}},
		{"drop, operation: settle, nth: 3", on(sqs), "", [7]int{100, 100, 1, 1, 0, 0, 1}},
		{"drop-answer, operation: settle, nth: 3, count: 2", on(kafka, sqs, rabbit), "", [7]int{100, 100, 0, 0, 0, 0, 2}},
		{"fail, operation: settle, nth: 3", on(sqs), "", [7]int{100, 100, 1, 1, 0, 0, 0}},
		// What a receive took and did not bring comes again when its lease ends: once seen.
		{"drop-answer, operation: receive, nth: 3", on(sqs), "", [7]int{100, 100, 0, 0, 0, 0, 0}},
		{"drop-answer, operation: receive, id: p0/50, count: 1", on(kafka, sqs, rabbit), "", [7]int{100, 100, 0, 0, 0, 0, 0}},
		{"fail, operation: receive, by: billing/0, count: 1", on(kafka, sqs, rabbit), "", [7]int{100, 100, 0, 0, 0, 0, 0}},
		{"again, id: p0/50", on(sqs), "", [7]int{100, 100, 1, 1, 0, 0, 0}},
		{"again, count: 7, later: 20ms, worker: billing/1", on(sqs), "", [7]int{100, 100, 7, 7, 0, 0, 0}},
		{"shorten, operation: receive, keep: 1, for: 1s", on(kafka, sqs, rabbit), "", [7]int{100, 100, 0, 0, 0, 0, 0}},
	} {
		for _, profile := range c.profiles {
			s := try(t, "  - {at: 195ms, do: "+c.step+"}", profile, c.more)
			if s.failed != nil {
				t.Errorf("%s on %s: %v", c.step, profile, s.failed)
			}
			if got := s.counts(); got != c.want {
				t.Errorf("%s on %s: %v, want %v (%v)", c.step, profile, got, c.want, s.faults)
			}
			if len(s.faults) != 3 {
				t.Errorf("%s on %s: %v", c.step, profile, s.faults)
			}
		}
	}
}

// TestAgainIsActiveWhenItIsGiven: not when it is ordered, and not at all where nobody is given
// anything before the end.
func TestAgainIsActiveWhenItIsGiven(t *testing.T) {
	for step, want := range map[string]string{
		"again, id: p0/50, count: 1":               "f1 requested 195ms, f1 active 510ms, f1 healed 510ms",
		"again, id: p0/50, count: 1, later: 200ms": "f1 requested 195ms, f1 active 710ms, f1 healed 710ms",
		"again, id: p0/50, later: 1h":              "f1 requested 195ms",
		// Forgotten by its end, so that it is given to nobody later.
		"again, id: p0/50, later: 400ms, for: 500ms": "f1 requested 195ms",
	} {
		s := try(t, "  - {at: 195ms, do: "+step+"}", "sqs")
		given := strings.Count(want, "active")
		if got := strings.Join(s.faults, ", "); s.failed != nil || got != want || s.again != given {
			t.Errorf("%s: %s, given %d times; want %s (%v)", step, got, s.again, want, s.failed)
		}
	}
}

// TestEntriesOfABatch: of ten messages that are settled in one call, those that are meant.
func TestEntriesOfABatch(t *testing.T) {
	batches := strings.NewReplacer("MORE", "size: 100", "after-handler", "after-batch", "rate: 100/s", "rate: 1000/s",
		"effect: plain", "effect: plain, handler: {takes: 5ms}").Replace(small)
	for _, c := range []struct {
		step string
		want [7]int
	}{
		{"drop, operation: settle, entries: [2, 4], count: 4", [7]int{100, 100, 4, 4, 0, 0, 4}},
		{"drop, operation: settle, by: billing/0, entries: [10], nth: 1", [7]int{100, 100, 1, 1, 0, 0, 1}},
		{"drop-answer, operation: settle, entries: [3], count: 2", [7]int{100, 100, 0, 0, 0, 0, 2}},
		{"again, entries: [2], count: 3", [7]int{100, 100, 3, 3, 0, 0, 0}},
	} {
		s := trySource(t, batches+"  - {at: 15ms, do: "+c.step+"}", "sqs")
		if got := s.counts(); s.failed != nil || got != c.want || len(s.faults) != 3 {
			t.Errorf("%s: %v, want %v (%v, %v)", c.step, got, c.want, s.faults, s.failed)
		}
	}
}

// answers are the instants at which publishes were answered later than they began.
func (s *seen) lateAnswers(t *testing.T) (late []time.Duration) {
	t.Helper()
	err := s.run.Each(history.Only(history.PublishAnswer), func(e *history.Event) {
		if e.D > 0 {
			late = append(late, time.Duration(e.T))
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	return late
}

// TestLateAnswers: to the nanosecond, and none before its time.
func TestLateAnswers(t *testing.T) {
	for _, c := range []struct {
		step string
		want string
	}{
		{"delay, operation: publish, side: answer, late: 300ms, nth: 1, count: 2", "[500ms 510ms]"},
		{"hold, operation: publish, side: answer, nth: 1, count: 3, for: 305ms", "[500ms 500ms 500ms]"},
		{"drop, operation: publish, nth: 1, count: 2, timeout: 50ms", "[250ms 260ms]"},
		{"drop-answer, operation: publish, nth: 1, count: 2, timeout: 50ms", "[250ms 260ms]"},
	} {
		s := try(t, "  - {at: 195ms, do: "+c.step+"}", "sqs", "")
		if got := fmt.Sprint(s.lateAnswers(t)); got != c.want {
			t.Errorf("%s: late answers at %s, want %s", c.step, got, c.want)
		}
	}
}
