// SPDX-License-Identifier: Apache-2.0

package explore

import (
	"errors"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/seed-720a3c77/harness/contract/profiles"
	"github.com/seed-720a3c77/harness/faults"
	"github.com/seed-720a3c77/harness/internal/testenv"
	"github.com/seed-720a3c77/harness/runner"
	"github.com/seed-720a3c77/harness/workloads"
)

// catalogueMessages is what a producer of a catalogue workload sends here: enough to be hit
// by its faults, and little enough for 100,000 seeds.
const catalogueMessages = 150

// catalogue is every core workload and variant on every profile that can show it.
func catalogue(t *testing.T) []Space {
	t.Helper()
	var all []Space
	for _, name := range workloads.Names() {
		doc, err := workloads.Find(name)
		if err != nil {
			t.Fatal(err)
		}
		for _, variant := range doc.Variants() {
			for _, profile := range profiles.All() {
				s := Space{Document: doc, Variant: variant, Profile: profile, Faults: []faults.Kind{faults.Kill(), faults.Start()}}
				if s.written, err = doc.Spec(variant); err != nil {
					t.Fatal(err)
				}
				for i := range s.written.Produce {
					s.written.Produce[i].Count = min(s.written.Produce[i].Count, catalogueMessages)
				}
				var not *runner.NotApplicable
				if _, err := s.plan(s.written); errors.As(err, &not) {
					continue
				}
				all = append(all, s)
			}
		}
	}
	return all
}

// catalogueSeeds is 100,000 in the nightly tier, 2,000 else, and 200 in a hurry.
func catalogueSeeds() int {
	switch {
	case testenv.Soaking():
		return 100_000
	case testing.Short():
		return 200
	}
	return 2000
}

// TestCatalogueSeedsHaveNoFindings: on an honest engine no workload of the catalogue, with
// its faults anywhere, shows what no honest broker does; and nearly every seed has a history
// of its own, so that their number means something.
func TestCatalogueSeedsHaveNoFindings(t *testing.T) {
	spaces, seeds := catalogue(t), catalogueSeeds()
	perSpace := max(1, seeds/len(spaces))
	var ran, alike atomic.Int64
	var all sync.WaitGroup
	next := make(chan *Space)
	for range runtime.GOMAXPROCS(0) {
		all.Go(func() {
			for s := range next {
				prints := seedsOf(t, s, perSpace)
				slices.Sort(prints)
				ran.Add(int64(len(prints)))
				alike.Add(int64(len(prints) - len(slices.Compact(prints))))
			}
		})
	}
	for i := range spaces {
		next <- &spaces[i]
	}
	close(next)
	all.Wait()
	t.Logf("%d seeds over %d cells of the catalogue, %d histories that were seen before", ran.Load(), len(spaces), alike.Load())
	if alike.Load() > ran.Load()/10 {
		t.Errorf("%d of %d histories were seen before: the seeds explore too little", alike.Load(), ran.Load())
	}
}

// seedsOf runs a cell under so many seeds and returns the prints of their histories.
func seedsOf(t *testing.T, s *Space, seeds int) []uint64 {
	l, err := s.lab()
	if err != nil {
		t.Error(err)
		return nil
	}
	var prints []uint64
	for seed := range uint64(seeds) {
		result, run, err := l.play(s.vary(s.written, seed), seed)
		if err != nil {
			t.Errorf("%s %s on %s, seed %d: %v", s.Document.Name, s.Variant, s.Profile.Name, seed, err)
			return prints
		}
		complain(t, s.Profile, seed, &result)
		seen, err := cover(run, &s.Profile)
		if err != nil {
			t.Error(err)
			return prints
		}
		prints = append(prints, seen.print)
	}
	return prints
}
