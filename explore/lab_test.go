// SPDX-License-Identifier: Apache-2.0

package explore

import (
	"reflect"
	"testing"

	"github.com/seed-720a3c77/harness/checkers"
	"github.com/seed-720a3c77/harness/history"
)

// TestLabJudgesAsCheckDoes: what a lab keeps from seed to seed changes no verdict.
func TestLabJudgesAsCheckDoes(t *testing.T) {
	s := space(t, blind)
	used, err := s.lab()
	if err != nil {
		t.Fatal(err)
	}
	for seed := range uint64(8) {
		spec := s.vary(used.spec, seed)
		brief, run, err := used.play(spec, seed)
		if err != nil {
			t.Fatal(err)
		}
		whole, err := checkers.Check(run)
		if err != nil {
			t.Fatal(err)
		}
		same(t, seed, "counts", brief.Counts, whole.Counts)
		same(t, seed, "claims", brief.Claims, whole.Claims)
		same(t, seed, "anomalies", brief.Anomalies, whole.Anomalies)
		same(t, seed, "faults", brief.Faults, whole.Faults)
		same(t, seed, "ledger", brief.Ledger, whole.Ledger)
		events := all(t, run)
		fresh := lab{space: &s}
		_, again, err := fresh.play(spec, seed)
		if err != nil {
			t.Fatal(err)
		}
		same(t, seed, "events", events, all(t, again))
	}
}

func same(t *testing.T, seed uint64, what string, got, want any) {
	t.Helper()
	if !reflect.DeepEqual(got, want) {
		t.Errorf("seed %d: %s = %+v, want %+v", seed, what, got, want)
	}
}

func all(t *testing.T, run *history.Run) (events []history.Event) {
	t.Helper()
	if err := run.Each(history.AllKinds, func(e *history.Event) { events = append(events, *e) }); err != nil {
		t.Fatal(err)
	}
	return events
}
