// SPDX-License-Identifier: Apache-2.0

package suite

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/seed-720a3c77/harness/checkers"
	"github.com/seed-720a3c77/harness/contract"
	"github.com/seed-720a3c77/harness/internal/catalog"
	"github.com/seed-720a3c77/harness/runner"
	"github.com/seed-720a3c77/harness/workloads"
)

func soak(t *testing.T, source string, times int, stop bool) (*Soak, string) {
	t.Helper()
	doc, err := workloads.Parse("soak.yaml", []byte(source))
	if err != nil {
		t.Fatal(err)
	}
	engines, err := catalog.FindAll("inmem:kafka")
	if err != nil {
		t.Fatal(err)
	}
	s := &Soak{Request: Request{Workloads: []*workloads.Document{doc}, Engines: engines, Out: filepath.Join(t.TempDir(), "soak"), Seed: 1}, Times: times, StopOnViolation: stop}
	if _, err := s.Run(context.Background()); err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	if err := s.Print(&b); err != nil {
		t.Fatal(err)
	}
	return s, b.String()
}

const mild = `name: mild
about: Nothing goes wrong.
topology: {orders: {}}
produce: [{to: orders, count: 50, rate: 1000/s}]
consume: [{from: orders, group: billing, settle: {when: after-batch}}]
claims: at-least-once
`

// wrong is violated by every run.
var wrong = strings.Replace(mild, "claims: at-least-once", "timeline: [{at: {worker: billing, point: mid-batch}, do: kill, target: billing}, {after: 1s, do: start, target: billing}]\nclaims: at-most-once", 1)

func TestSoakForgetsWhatPassedAndBoundsItsZero(t *testing.T) {
	s, text := soak(t, mild, 4, true)
	if !strings.Contains(text, "0 (below 52.7 %)") {
		t.Errorf("no bound on the zero of 4 runs:\n%s", text)
	}
	kept, err := filepath.Glob(filepath.Join(s.Out, "repeat-*", "*", "manifest.json"))
	if err != nil || len(kept) != 0 {
		t.Errorf("histories kept: %v, %v", kept, err)
	}
	if results, _ := filepath.Glob(filepath.Join(s.Out, "repeat-*", ResultsFile)); len(results) != 4 {
		t.Errorf("%d results kept, want 4", len(results))
	}
}

func TestSoakStopsAtTheFirstViolationAndKeepsIt(t *testing.T) {
	s, text := soak(t, wrong, 5, true)
	if repeats, _ := filepath.Glob(filepath.Join(s.Out, "repeat-*")); len(repeats) != 1 {
		t.Errorf("%d repeats, want 1\n%s", len(repeats), text)
	}
	kept := filepath.Join(s.Out, "repeat-00001", "mild.inmem-kafka")
	if r, err := Judge(kept); err != nil || checkers.ExitCode(*r) != checkers.ExitViolated {
		t.Errorf("the history that was kept does not show the violation: %v\n%s", err, text)
	}
	results, err := os.ReadFile(filepath.Join(s.Out, ResultsFile))
	if err != nil || !strings.Contains(string(results), `"repeat-00001/mild.inmem-kafka"`) {
		t.Errorf("the results of all repeats do not say where it is: %v\n%s", err, results)
	}
	if !strings.Contains(text, "harness explain "+kept+" p0/") {
		t.Errorf("not told how to look at it:\n%s", text)
	}
}

// TestSoakForeverEndsWithTheSeedThatViolates: a kill at a drawn time is harmless in most
// repeats and breaks the claim in one, whose history stays with what led to it.
func TestSoakForeverEndsWithTheSeedThatViolates(t *testing.T) {
	rare := strings.Replace(mild, "claims: at-least-once",
		"timeline: [{at: 1ms, repeat: {every: 1s, times: 1, jitter: 1s}, do: kill, target: billing/0, for: 10ms}]\nclaims: at-most-once", 1)
	s, text := soak(t, rare, Forever, true)
	repeats, err := filepath.Glob(filepath.Join(s.Out, "repeat-*"))
	if err != nil || len(repeats) < 2 {
		t.Fatalf("%d repeats, %v; want the violation in a later one\n%s", len(repeats), err, text)
	}
	last := filepath.Join(repeats[len(repeats)-1], "mild.inmem-kafka")
	if r, err := Judge(last); err != nil || checkers.ExitCode(*r) != checkers.ExitViolated {
		t.Errorf("the last repeat is not the one that violates: %v\n%s", err, text)
	}
	if !strings.Contains(text, "first violation kept in "+last) {
		t.Errorf("kept elsewhere:\n%s", text)
	}
}

// blocking takes the place of the second repeat's directory, so that it fails.
type blocking struct{ out string }

func (blocking) Begin(Cell, *runner.Progress) {}

func (b blocking) End(Cell, *checkers.Result, *checkers.NotRun) {
	_ = os.WriteFile(filepath.Join(b.out, "repeat-00002"), nil, 0o600) // it shows in the test
}

// TestAFailedRepeatForgetsNoViolation: what was found before it is in the results.
func TestAFailedRepeatForgetsNoViolation(t *testing.T) {
	doc, err := workloads.Parse("soak.yaml", []byte(wrong))
	if err != nil {
		t.Fatal(err)
	}
	engines, err := catalog.FindAll("inmem:kafka")
	if err != nil {
		t.Fatal(err)
	}
	out := filepath.Join(t.TempDir(), "soak")
	s := &Soak{Request: Request{Workloads: []*workloads.Document{doc}, Engines: engines, Out: out, Seed: 1, Watch: blocking{out}}, Times: 3}
	results, err := s.Run(context.Background())
	if err == nil || len(results.Runs) != 1 || results.Runs[0].Verdict != contract.Violated {
		t.Errorf("%v with %d runs, want a failure with the violation before it", err, len(results.Runs))
	}
}

func TestBoundOfNothingIn200(t *testing.T) {
	if got := bounded(0, 200); got != "0 (below 1.5 %)" {
		t.Errorf("0 of 200: %s", got)
	}
}
