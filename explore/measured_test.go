// SPDX-License-Identifier: Apache-2.0

package explore

import (
	"fmt"
	"testing"
	"time"

	"github.com/seed-720a3c77/harness/contract"
	"github.com/seed-720a3c77/harness/history"
	"github.com/seed-720a3c77/harness/runner"
)

// TestFaultsAreNoLatency: what a worker had under way when a fault of its own came or went is
// no sample of how long broker and network take; what others had is one. What began at that
// very instant may have begun before it.
func TestFaultsAreNoLatency(t *testing.T) {
	r := history.NewMemory(history.Header{})
	frozen := r.Intern(history.Sessions, "billing/1-1")
	other := r.Intern(history.Sessions, "billing/10-1")
	fault := r.Intern(history.Texts, "freeze billing/1")
	m := measuring{run: r.Run(), received: map[uint32]int64{}, faults: make([]runner.MeasuredFault, 1), struck: make([]strike, 1)}
	answer := func(session uint32, at, took int64) history.Event {
		return history.Event{T: at, D: took, Session: session, Kind: history.SettleAnswer, Class: contract.OK}
	}
	for _, e := range []history.Event{
		answer(frozen, 10, 3),
		{T: 20, Op: 1, Text: fault, Kind: history.FaultRequested},
		answer(frozen, 25, 6),
		answer(other, 26, 7),
		answer(frozen, 26, 6),
		answer(frozen, 27, 2),
		{T: 70, Op: 1, Kind: history.FaultHealed},
		answer(frozen, 71, 50),
		{T: 72, D: 50, N: 1, Session: frozen, Kind: history.Receive},
		{T: 76, D: 5, N: 1, Session: frozen, Kind: history.Receive},
		answer(frozen, 80, 4),
	} {
		m.observe(&e)
	}
	if got := fmt.Sprint(m.settle, m.poll); got != "[3ns 7ns 2ns 4ns] [5ns]" {
		t.Errorf("settles and receives %s", got)
	}
}

// TestGroupsOfALog: an eager group shows what takes time in its sessions; of a cooperative one only
// requests are known. Both have heartbeats that take what commits take.
func TestGroupsOfALog(t *testing.T) {
	samples := func(by time.Duration) []time.Duration { return []time.Duration{by, 2 * by, 3 * by, 4 * by, 5 * by} }
	for _, c := range []struct {
		cooperative bool
		want        string
	}{
		{false, "release 5ns rebalance 50ns answer 500ns claim 5µs added 0s beat 50µs"},
		{true, "release 50µs rebalance 900µs answer 0s claim 1.4ms added 140µs beat 50µs"},
	} {
		m := measuring{cooperative: c.cooperative, publish: samples(100 * time.Microsecond), settle: samples(10 * time.Microsecond),
			rebalances: rebalances{release: samples(1), rebalance: samples(10), answer: samples(100), claim: samples(1000)}}
		g := given{settle: spreadOf(m.settle)}
		m.grouped(&g)
		got := fmt.Sprintf("release %s rebalance %s answer %s claim %s added %s beat %s",
			g.release.most(), g.rebalance.most(), g.answer.most(), g.claim.most(), g.added.most(), g.beat.most())
		if got != c.want {
			t.Errorf("cooperative %t: %s, want %s", c.cooperative, got, c.want)
		}
	}
}
