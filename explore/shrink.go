// SPDX-License-Identifier: Apache-2.0

package explore

import (
	"errors"
	"slices"
	"time"

	"github.com/seed-720a3c77/harness/history"
	"github.com/seed-720a3c77/harness/workloads"
)

// ErrHolds is returned when there is nothing to shrink: the seed breaks nothing.
var ErrHolds = errors.New("the seed breaks no claim")

// Shrunk is the smallest workload found that still breaks what the seed broke.
type Shrunk struct {
	// Spec stands on its own and names its seed.
	Spec *workloads.Spec
	// Trial is its outcome, Run its history.
	Trial Trial
	Run   *history.Run
	// Tried is how many candidates were run.
	Tried int
}

// maxTries bounds a shrink.
const maxTries = 400

// Shrink makes the schedule of a seed smaller as long as it breaks the same claim: fewer
// messages, producers, workers, keys, steps, smaller batches, shorter times.
func (s *Space) Shrink(seed uint64) (Shrunk, error) {
	spec, err := s.spec(seed)
	if err != nil {
		return Shrunk{}, err
	}
	spec = spec.ForVariant()
	best, err := s.shrunk(spec, seed)
	if err != nil {
		return best, err
	}
	if len(best.Trial.Broken) == 0 {
		return best, ErrHolds
	}
	for again := true; again && best.Tried < maxTries; {
		again = false
		for _, smaller := range reductions() {
			for best.Tried < maxTries && s.reduce(&best, seed, smaller) {
				again = true
			}
		}
	}
	best.Spec.Seed = seed
	return best, nil
}

// reduce tries one reduction and keeps it if the same claim still breaks.
func (s *Space) reduce(best *Shrunk, seed uint64, smaller func(*workloads.Spec) bool) bool {
	candidate := clone(best.Spec)
	if !smaller(candidate) {
		return false
	}
	best.Tried++
	next, err := s.shrunk(candidate, seed)
	if err != nil || !breaksAll(next.Trial.Broken, best.Trial.Broken[:1]) {
		return false
	}
	next.Tried = best.Tried
	*best = next
	return true
}

func breaksAll(broken, wanted []string) bool {
	for _, w := range wanted {
		if !slices.Contains(broken, w) {
			return false
		}
	}
	return true
}

func (s *Space) shrunk(spec *workloads.Spec, seed uint64) (Shrunk, error) {
	result, run, err := s.play(spec, seed)
	if err != nil {
		return Shrunk{Spec: spec}, err
	}
	return Shrunk{Spec: spec, Trial: outcome(seed, spec, result), Run: run}, nil
}

// clone copies what reductions change.
func clone(s *workloads.Spec) *workloads.Spec {
	c := *s
	c.Produce = slices.Clone(s.Produce)
	c.Consume = slices.Clone(s.Consume)
	c.Timeline = slices.Clone(s.Timeline)
	return &c
}

// reductions are tried in order; each says whether it changed anything.
func reductions() []func(*workloads.Spec) bool {
	return []func(*workloads.Spec) bool{
		dropStep,
		eachProduce(func(p *workloads.Produce) bool { return halve(&p.Count, 1) }),
		eachProduce(func(p *workloads.Produce) bool { return less(&p.Count, 1) }),
		eachProduce(func(p *workloads.Produce) bool { return halve(&p.Producers, 0) }),
		eachProduce(func(p *workloads.Produce) bool { return halve(&p.Keys, 1) }),
		eachConsume(func(c *workloads.Consume) bool { return less(&c.Workers, 1) }),
		eachConsume(func(c *workloads.Consume) bool { return halve(&c.Batch, 1) }),
		eachConsume(func(c *workloads.Consume) bool { return shorten(&c.Handler.Takes) }),
		earlierPoint,
		earlierTime,
	}
}

func halve(n *int, least int) bool { return lower(n, *n/2, least) }

func less(n *int, least int) bool { return lower(n, *n-1, least) }

func lower(n *int, to, least int) bool {
	if *n <= least || to < least {
		return false
	}
	*n = to
	return true
}

func shorten(d *workloads.Duration) bool {
	if *d <= workloads.Duration(time.Millisecond) {
		return false
	}
	*d /= 2
	return true
}

func eachProduce(change func(*workloads.Produce) bool) func(*workloads.Spec) bool {
	return func(s *workloads.Spec) bool {
		changed := false
		for i := range s.Produce {
			changed = change(&s.Produce[i]) || changed
		}
		return changed
	}
}

func eachConsume(change func(*workloads.Consume) bool) func(*workloads.Spec) bool {
	return func(s *workloads.Spec) bool {
		changed := false
		for i := range s.Consume {
			changed = change(&s.Consume[i]) || changed
		}
		return changed
	}
}

// dropStep takes the last step of the timeline away.
func dropStep(s *workloads.Spec) bool {
	if len(s.Timeline) == 0 {
		return false
	}
	s.Timeline = s.Timeline[:len(s.Timeline)-1]
	return true
}

func earlierPoint(s *workloads.Spec) bool {
	changed := false
	for i := range s.Timeline {
		changed = halve(&s.Timeline[i].Trigger.N, 1) || changed
	}
	return changed
}

func earlierTime(s *workloads.Spec) bool {
	changed := false
	for i := range s.Timeline {
		t := &s.Timeline[i].Trigger
		changed = shorten(&t.At) || shorten(&t.After) || changed
	}
	return changed
}
