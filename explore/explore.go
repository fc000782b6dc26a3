// SPDX-License-Identifier: Apache-2.0

package explore

import (
	"context"
	"maps"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/seed-720a3c77/harness/contract"
)

// Request is an exploration.
type Request struct {
	Space
	// First seed and how many.
	First uint64
	Seeds int
	// Workers in parallel; 0 is one for each processor.
	Workers int
	// StopOnViolation ends at the first seed that breaks something.
	StopOnViolation bool
	// Done holds the trials of an earlier, interrupted exploration of the same space: those of
	// the seeds that are asked for are not run again.
	Done map[uint64]Trial
	// Each hears of every trial as it ends, one at a time; nil hears nothing.
	Each func(Trial) error
}

// Summary is what the seeds showed.
type Summary struct {
	Seeds  int              `json:"seeds"`
	Counts map[string]Range `json:"counts"`
	// Broken are the trials that broke a claim or expectation, by seed.
	Broken []Trial `json:"broken,omitempty"`
	// Histories is how many seeds have a history of their own: others explore nothing new.
	Histories int `json:"histories"`
	// Hit counts how often each fault point came.
	Hit map[string]int `json:"hit"`
	// Sometimes lists every moment that the profile knows, with the seeds in which it was
	// seen. One that was seen in none was not explored: that nothing broke says nothing of it.
	Sometimes []Sometimes `json:"sometimes"`
}

// Sometimes is a moment and how many seeds had it.
type Sometimes struct {
	Moment string `json:"moment"`
	Seeds  int    `json:"seeds"`
}

// Range is the distribution of one count over the seeds.
type Range struct {
	Min    int64 `json:"min"`
	P5     int64 `json:"p5"`
	Median int64 `json:"median"`
	P95    int64 `json:"p95"`
	Max    int64 `json:"max"`
	// Zero is in how many seeds it was 0; MinSeed and MaxSeed show the extremes.
	Zero    int    `json:"zero"`
	MinSeed uint64 `json:"min_seed"`
	MaxSeed uint64 `json:"max_seed"`
}

// Run explores until every seed is tried, the context ends or, if asked, something
// breaks. The order of the seeds does not change the summary.
func Run(ctx context.Context, r Request) (Summary, error) {
	x := exploration{Request: r, trials: map[uint64]Trial{}}
	for seed, t := range r.Done {
		if seed-r.First < uint64(r.Seeds) {
			x.trials[seed] = t
			x.stop = x.stop || r.StopOnViolation && len(t.Broken) > 0
		}
	}
	workers := r.Workers
	if workers == 0 {
		workers = runtime.GOMAXPROCS(0)
	}
	var all sync.WaitGroup
	for range workers {
		all.Go(func() { x.work(ctx) })
	}
	all.Wait()
	return summarize(x.trials, Moments(&x.Profile)), x.failed
}

// exploration is a request under way.
type exploration struct {
	Request
	next atomic.Int64

	mu     sync.Mutex // guards what follows
	trials map[uint64]Trial
	failed error
	stop   bool
}

func (x *exploration) work(ctx context.Context) {
	l, err := x.lab()
	if err != nil {
		x.add(Trial{}, err)
		return
	}
	for ctx.Err() == nil {
		n := x.next.Add(1) - 1
		if n >= int64(x.Seeds) || x.over() {
			return
		}
		seed := x.First + uint64(n)
		if x.known(seed) {
			continue
		}
		trial, err := l.try(seed)
		x.add(trial, err)
	}
}

func (x *exploration) over() bool {
	x.mu.Lock()
	defer x.mu.Unlock()
	return x.stop || x.failed != nil
}

func (x *exploration) known(seed uint64) bool {
	x.mu.Lock()
	defer x.mu.Unlock()
	_, ok := x.trials[seed]
	return ok
}

func (x *exploration) add(t Trial, err error) {
	x.mu.Lock()
	defer x.mu.Unlock()
	if err == nil && x.Each != nil {
		err = x.Each(t)
	}
	if err != nil {
		if x.failed == nil {
			x.failed = err
		}
		return
	}
	x.trials[t.Seed] = t
	x.stop = x.stop || x.StopOnViolation && len(t.Broken) > 0
}

func summarize(trials map[uint64]Trial, known []string) Summary {
	s := Summary{Seeds: len(trials), Counts: map[string]Range{}, Hit: map[string]int{}}
	values, seen, prints := map[string][]int64{}, map[string]int{}, map[uint64]bool{}
	for _, seed := range slices.Sorted(maps.Keys(trials)) {
		t := trials[seed]
		if len(t.Broken) > 0 {
			s.Broken = append(s.Broken, t)
		}
		prints[t.Print] = true
		for _, hit := range t.Hit {
			s.Hit[hit]++
		}
		for _, moment := range t.Seen {
			seen[moment]++
		}
		for name, n := range t.Counts {
			values[name] = append(values[name], n)
			s.Counts[name] = s.Counts[name].with(n, seed, len(values[name]) == 1)
		}
	}
	for name, all := range values {
		r := s.Counts[name]
		if missing := s.Seeds - len(all); missing > 0 && isPart(name) {
			all = append(all, make([]int64, missing)...)
			r.Min, r.Zero = min(r.Min, 0), r.Zero+missing
		}
		slices.Sort(all)
		r.P5, r.Median, r.P95 = all[len(all)*5/100], all[len(all)/2], all[len(all)*95/100]
		s.Counts[name] = r
	}
	s.Histories = len(prints)
	for _, moment := range known {
		s.Sometimes = append(s.Sometimes, Sometimes{moment, seen[moment]})
	}
	return s
}

// isPart: a part of a count, by its cause, is absent where there is none.
func isPart(name string) bool {
	whole, _, found := strings.Cut(name, ".")
	return found && slices.Contains(contract.CountedByCause(), whole)
}

func (r Range) with(n int64, seed uint64, first bool) Range {
	if first || n < r.Min {
		r.Min, r.MinSeed = n, seed
	}
	if first || n > r.Max {
		r.Max, r.MaxSeed = n, seed
	}
	if n == 0 {
		r.Zero++
	}
	return r
}
