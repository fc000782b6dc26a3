// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/seed-720a3c77/harness/checkers"
	"github.com/seed-720a3c77/harness/contract"
	"github.com/seed-720a3c77/harness/history"
	"github.com/seed-720a3c77/harness/internal/testenv"
	"github.com/seed-720a3c77/harness/msg"
	"github.com/seed-720a3c77/harness/runner/process"
)

// inProcesses runs one variant of a workload on a real broker with the real binary, and
// returns its result and its history. Its exit is 0 and it leaves nothing behind.
func inProcesses(t *testing.T, binary, workload, variant, engine string) (checkers.Result, *history.Run) {
	t.Helper()
	testenv.Broker(t, engine)
	out, cache := filepath.Join(t.TempDir(), "suite"), t.TempDir()
	cmd := exec.Command(binary, "run", workload, "--variant", variant, "--on", engine, "--provider", "external", "--out", out)
	cmd.Env = append(os.Environ(), "HARNESS_CACHE="+cache)
	if text, err := cmd.CombinedOutput(); err != nil {
		t.Errorf("%s %s on %s: %v\n%s", workload, variant, engine, err, text)
	}
	if left := append(marked(t, out), journalsIn(t, cache)...); len(left) != 0 {
		t.Errorf("left: %v", left)
	}
	var results checkers.Results
	read(t, filepath.Join(out, "results.json"), &results)
	if len(results.Runs) != 1 {
		t.Fatalf("%d runs, not run: %+v", len(results.Runs), results.NotRun)
	}
	run, err := history.Open(filepath.Join(out, results.Runs[0].Dir))
	if err != nil {
		t.Fatal(err)
	}
	return results.Runs[0], run
}

func journalsIn(t *testing.T, cache string) []string {
	t.Helper()
	left, err := filepath.Glob(filepath.Join(cache, "watchdog", "*"))
	if err != nil {
		t.Fatal(err)
	}
	return left
}

// marked finds the workers of a suite by the mark in their environment.
func marked(t *testing.T, out string) []string {
	t.Helper()
	paths, err := filepath.Glob("/proc/[0-9]*/environ")
	if err != nil {
		t.Fatal(err)
	}
	var found []string
	for _, path := range paths {
		env, err := os.ReadFile(path)
		if err == nil && bytes.Contains(env, []byte(process.Mark+"="+out)) {
			found = append(found, filepath.Dir(path))
		}
	}
	return found
}

// TestAKilledProcessHasTheLedgerOfAKilledTask: the expectations are those of
// crash-mid-batch, and the history of the dead ends exactly at the point of the kill.
func TestAKilledProcessHasTheLedgerOfAKilledTask(t *testing.T) {
	binary := build(t)
	for _, engine := range []string{"kafka", "sqs", "rabbitmq"} {
		for _, c := range []struct {
			variant string
			settled func(batch, done int) int // of the batch that it died in
		}{
			{"before-handler", func(batch, _ int) int { return batch }},
			{"after-handler", func(_, done int) int { return done - 1 }},
			{"after-batch", func(int, int) int { return 0 }},
		} {
			t.Run(engine+" "+c.variant, func(t *testing.T) {
				if c.variant != "after-batch" {
					testenv.Short(t, "one variant tells most")
				}
				t.Parallel()
				result, run := inProcesses(t, binary, "crash-process", c.variant, engine)
				point := 20
				if engine == "sqs" {
					point = 2 // of ten, the largest batch
				}
				batch, effects, settled := lastBatch(t, run)
				if effects != point || settled != c.settled(batch, point) {
					t.Errorf("died with %d effects and %d settlements of a batch of %d; the kill was at the %d. effect", effects, settled, batch, point)
				}
				if lost := result.Counts["lost"]; c.variant != "before-handler" && lost != 0 || lost > int64(batch-point) {
					t.Errorf("lost %d of a batch of %d", lost, batch)
				}
				if !run.Integrity.Complete() {
					t.Errorf("integrity: %+v", run.Integrity)
				}
			})
		}
	}
}

// lastBatch counts, of the batch that a killed worker had in hand: messages, effects and
// messages that were settled, where a log's commit settles what lies before it.
func lastBatch(t *testing.T, run *history.Run) (batch, effects, settled int) {
	t.Helper()
	dead := uint32(0)
	each(t, run, func(e *history.Event) {
		if e.Kind == history.SessionClose && e.Has(history.Crashed) {
			dead = e.Session
		}
	})
	begun := map[uint32]bool{}
	each(t, run, func(e *history.Event) {
		if e.Session != dead {
			return
		}
		switch e.Kind {
		case history.Receive:
			if e.N > 0 {
				batch, effects, settled = int(e.N), 0, 0
				clear(begun)
			}
		case history.EffectResult:
			effects++
		case history.SettleStart:
			settled++
			if e.Verb == history.VerbCommit && effects == 0 {
				settled = batch // one commit for all of it
			}
		}
	})
	return batch, effects, settled
}

func each(t *testing.T, run *history.Run, do func(*history.Event)) {
	t.Helper()
	if err := run.Each(history.AllKinds, do); err != nil {
		t.Fatal(err)
	}
}

// TestAFrozenProcessWakesAsAZombie: it says nothing while others take over, then goes on
// with what is not its own any more; what the broker makes of its settlements differs.
func TestAFrozenProcessWakesAsAZombie(t *testing.T) {
	binary := build(t)
	for _, engine := range []string{"kafka", "sqs", "rabbitmq"} {
		t.Run(engine, func(t *testing.T) {
			t.Parallel()
			result, run := inProcesses(t, binary, "zombie", "plain", engine)
			z := follow(t, run)
			if z.words != 0 {
				t.Errorf("%d events of a frozen process", z.words)
			}
			if z.taken == 0 || z.effects == 0 || z.answers == 0 {
				t.Errorf("taken over %d, effects by the zombie %d, settlements %d", z.taken, z.effects, z.answers)
			}
			refused := engine != "sqs" // LocalStack deletes by any receipt handle
			if (z.refused > 0) != refused || (result.Counts["refused-settle"] > 0) != refused {
				t.Errorf("%d of %d settlements of the zombie were not accepted, %d told as refused", z.refused, z.answers, result.Counts["refused-settle"])
			}
			if result.Counts["zombie-settle"] == 0 || result.Counts["zombie-effect"] == 0 || result.Counts["unexplained"] != 0 {
				t.Errorf("zombie-settle %d, zombie-effect %d, unexplained %d",
					result.Counts["zombie-settle"], result.Counts["zombie-effect"], result.Counts["unexplained"])
			}
			if result.Counts["silent-settle"]+result.Counts["stale-accepted"] != 0 {
				t.Errorf("silent %d, accepted against the contract %d: neither is what this broker does",
					result.Counts["silent-settle"], result.Counts["stale-accepted"])
			}
		})
	}
}

// zombie is what a history tells of a frozen worker.
type zombie struct {
	words   int // events while it was frozen
	taken   int // messages it held that another worker got meanwhile
	effects int // of those, by it, after the thaw
	answers int // to its settlements of those
	refused int // of these
}

func follow(t *testing.T, run *history.Run) (z zombie) {
	t.Helper()
	var frozen uint32 // session
	var from, to int64
	var name string
	each(t, run, func(e *history.Event) {
		switch e.Kind {
		case history.FaultActive:
			from, name = e.T, strings.TrimPrefix(run.Name(history.Texts, e.Text), "freeze ")
		case history.FaultHealed:
			to = e.T
		}
	})
	each(t, run, func(e *history.Event) {
		if e.Kind == history.Delivery && e.T < from && strings.HasPrefix(run.Name(history.Sessions, e.Session), name+"-") {
			frozen = e.Session
		}
	})
	held, taken := map[msg.ID]bool{}, map[msg.ID]bool{}
	each(t, run, func(e *history.Event) {
		mine := e.Session == frozen
		switch {
		case mine && e.T > from && e.T < from+(to-from)/2: // it wakes before the thaw is seen
			z.words++
		case mine && e.Kind == history.Delivery && e.T < from:
			held[e.ID()] = true
		case !mine && e.Kind == history.Delivery && e.T > from && held[e.ID()] && !taken[e.ID()]:
			taken[e.ID()] = true
			z.taken++
		case mine && e.T > from && taken[e.ID()] && e.Kind == history.EffectResult:
			z.effects++
		case mine && e.T > from && taken[e.ID()] && e.Kind == history.SettleAnswer:
			z.answers++
			if e.Class != contract.OK && e.Class != contract.AcceptedOnly {
				z.refused++
			}
		}
	})
	return z
}

// TestProcessesLiveSeveralLives: a killed worker is started again, a new one is added, one
// is asked to leave, and nothing is lost by any of it.
func TestProcessesLiveSeveralLives(t *testing.T) {
	file := filepath.Join(t.TempDir(), "lives.yaml")
	if err := os.WriteFile(file, []byte(lives), 0o600); err != nil {
		t.Fatal(err)
	}
	result, run := inProcesses(t, build(t), file, "", "rabbitmq")
	if result.Verdict != contract.Pass || result.Counts["lost"] != 0 {
		t.Errorf("%s: %s", result.Verdict, result.Sentence)
	}
	got := map[string]int{}
	each(t, run, func(e *history.Event) {
		name := run.Name(history.Texts, e.Text)
		switch {
		case e.Kind == history.WorkerStart:
			got["start "+name]++
		case e.Kind == history.WorkerEnd && e.Has(history.Crashed):
			got["crash "+name]++
		case e.Kind == history.WorkerEnd:
			got["end "+name]++
		}
	})
	want := map[string]int{
		"start p0": 1, "end p0": 1, "start billing/0": 2, "crash billing/0": 1, "end billing/0": 1,
		"start billing/1": 1, "end billing/1": 1, "start billing/7": 1, "end billing/7": 1,
	}
	if !maps.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
	for _, f := range result.Faults {
		if f.ActiveNs < 0 || f.HealedNs < f.ActiveNs {
			t.Errorf("%s: active at %d, healed at %d", f.Text, f.ActiveNs, f.HealedNs)
		}
	}
}

const lives = `name: lives
about: Workers come and go.
topology: {orders: {}}
produce: [{to: orders, count: 800, rate: 800/s, acks: all, confirms: "on"}]
consume: [{from: orders, group: billing, workers: 2, batch: 10, run-in: process, settle: {when: after-handler}, handler: {takes: 5ms}}]
timeline:
  - {at: {worker: billing/0, point: after-effect}, do: kill, target: billing/0}
  - {after: 100ms, do: start, target: billing/0}
  - {at: 500ms, do: start, target: billing/7}
  - {at: 1s, do: stop, target: billing/1}
claims: at-least-once
`

// TestRequestFaultsStrikeInAProcess: an answer is dropped at the port of one worker, in its
// own process, and only there.
func TestRequestFaultsStrikeInAProcess(t *testing.T) {
	file := filepath.Join(t.TempDir(), "dropped.yaml")
	if err := os.WriteFile(file, []byte(dropped), 0o600); err != nil {
		t.Fatal(err)
	}
	binary := build(t)
	for _, engine := range []string{"kafka", "sqs", "rabbitmq"} {
		t.Run(engine, func(t *testing.T) {
			t.Parallel()
			result, run := inProcesses(t, binary, file, "", engine)
			unknown, others := 0, 0
			each(t, run, func(e *history.Event) {
				switch {
				case e.Kind != history.SettleAnswer || e.Class != contract.Unknown:
				case strings.HasPrefix(run.Name(history.Sessions, e.Session), "billing/0-"):
					unknown++
				default:
					others++
				}
			})
			if unknown == 0 || others != 0 {
				t.Errorf("%d settlements of billing/0 are unknown, %d of others", unknown, others)
			}
			if result.Verdict != contract.Pass || result.Counts["lost"]+result.Counts["unexplained"] != 0 {
				t.Errorf("%s: %s", result.Verdict, result.Sentence)
			}
			if f := result.Faults; len(f) != 1 || f[0].ActiveNs < 0 || f[0].HealedNs < f[0].ActiveNs {
				t.Errorf("faults: %+v", f)
			}
		})
	}
}

const dropped = `name: dropped
about: Answers are lost in a worker's own process.
topology: {orders: {partitions: 2, lease: 30s}}
produce: [{to: orders, count: 300, rate: 300/s, keys: 50, acks: all, confirms: "on"}]
consume: [{from: orders, group: billing, workers: 2, batch: 10, run-in: process, settle: {when: after-batch}, handler: {takes: 2ms}}]
timeline: [{at: 0s, do: drop-answer, operation: settle, by: billing/0, every: 2, count: 3, timeout: 200ms}]
claims: at-least-once
`

// waitUntil waits for what another process does; the limit is for a broken one alone.
func waitUntil(t *testing.T, what string, done func() bool) {
	t.Helper()
	for limit := time.Now().Add(time.Minute); !done(); time.Sleep(10 * time.Millisecond) {
		if time.Now().After(limit) {
			t.Fatal("in vain: " + what)
		}
	}
}
