// SPDX-License-Identifier: Apache-2.0

package explore

import (
	"hash/fnv"
	"runtime"
	"sync"
	"testing"

	"github.com/seed-720a3c77/harness/checkers"
	"github.com/seed-720a3c77/harness/contract"
	"github.com/seed-720a3c77/harness/contract/profiles"
	"github.com/seed-720a3c77/harness/faults"
	"github.com/seed-720a3c77/harness/history"
	"github.com/seed-720a3c77/harness/internal/testenv"
	"github.com/seed-720a3c77/harness/workloads"
)

// clean is a workload in which every extra delivery would be a finding.
const clean = `name: clean
about: Nothing goes wrong.
topology: {orders: {partitions: 2}}
produce: [{to: orders, count: 60, rate: 1000/s, keys: 8, producers: 2}]
consume: [{from: orders, group: billing, workers: 2, batch: 10, settle: {when: after-batch}, handler: {takes: 1ms}}]
claims: [at-least-once, at-most-once, drained]
`

// TestCleanSeedsHaveNoFindings: 1,000 seeds over every profile, none with a finding, and
// nearly all with a history of their own, so that they are worth counting.
func TestCleanSeedsHaveNoFindings(t *testing.T) {
	seeds := 1000
	if testing.Short() {
		seeds = 100
	}
	seen := eachSeed(t, clean, seeds)
	if len(seen) < seeds*9/10 {
		t.Errorf("%d seeds gave only %d different histories", seeds, len(seen))
	}
}

// TestFaultySeedsHaveNoUnexplainedFindings: crashes and slow handlers on an honest broker
// give redeliveries with causes, and never an error of the broker.
func TestFaultySeedsHaveNoUnexplainedFindings(t *testing.T) {
	testenv.Short(t, "some hundred crashes")
	for _, c := range []struct{ name, variant string }{
		{"crash-mid-batch", "after-batch"}, {"crash-mid-batch", "before-handler"}, {"slow-handler", "expires+plain"},
		{"poison-pill", "dead-letter"}, {"checkout-30s-45s", "plain"},
	} {
		doc, err := workloads.Find(c.name)
		if err != nil {
			t.Fatal(err)
		}
		for _, profile := range profiles.All() {
			s := Space{Document: doc, Variant: c.variant, Profile: profile, Faults: []faults.Kind{faults.Kill(), faults.Start()}}
			for seed := range uint64(6) {
				spec, err := s.spec(seed)
				if err != nil {
					t.Fatal(err)
				}
				result, _, err := s.play(spec, seed)
				if err != nil {
					break // not applicable to this profile
				}
				complain(t, profile, seed, &result)
			}
		}
	}
}

func eachSeed(t *testing.T, source string, seeds int) map[uint64]bool {
	t.Helper()
	all := profiles.All()
	var mu sync.Mutex
	seen := map[uint64]bool{}
	var done sync.WaitGroup
	next := make(chan uint64)
	for range runtime.GOMAXPROCS(0) {
		done.Go(func() {
			for seed := range next {
				profile := all[seed%uint64(len(all))]
				hash, result := playClean(t, source, profile, seed)
				complain(t, profile, seed, result)
				mu.Lock()
				seen[hash] = true
				mu.Unlock()
			}
		})
	}
	for seed := range uint64(seeds) {
		next <- seed
	}
	close(next)
	done.Wait()
	return seen
}

func playClean(t *testing.T, source string, profile contract.Profile, seed uint64) (uint64, *checkers.Result) {
	doc, err := workloads.Parse("clean.yaml", []byte(source))
	if err != nil {
		t.Error(err)
		return 0, nil
	}
	s := Space{Document: doc, Profile: profile}
	spec, err := s.spec(seed)
	if err != nil {
		t.Error(err)
		return 0, nil
	}
	result, run, err := s.play(spec, seed)
	if err != nil {
		t.Errorf("%s, seed %d: %v", profile.Name, seed, err)
		return 0, nil
	}
	if result.Verdict != contract.Pass {
		t.Errorf("%s, seed %d: %s: %s", profile.Name, seed, result.Verdict, result.Sentence)
	}
	h := fnv.New64a()
	if err := history.Export(run, h); err != nil {
		t.Error(err)
	}
	return h.Sum64(), &result
}

// complain reports what no honest broker does.
func complain(t *testing.T, profile contract.Profile, seed uint64, r *checkers.Result) {
	if r == nil {
		return
	}
	for _, a := range r.Anomalies {
		if a.Kind == "error" {
			t.Errorf("%s %s on %s, seed %d: %s: %d, first %s %s", r.Workload, r.Variant, profile.Name, seed, a.Name, a.Count, a.Examples[0].ID, a.Examples[0].Text)
		}
	}
	if n := r.Counts["unexplained"]; n != 0 {
		t.Errorf("%s %s on %s, seed %d: %d unexplained", r.Workload, r.Variant, profile.Name, seed, n)
	}
}
