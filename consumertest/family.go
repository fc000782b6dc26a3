// SPDX-License-Identifier: Apache-2.0

package consumertest

import (
	"math/rand/v2"
	"slices"
	"time"

	"github.com/seed-720a3c77/harness/contract"
)

// family is a group of schedules: one subtest.
type family struct {
	name  string
	deeds []deed
}

// families are all there are. In the last one several things go wrong at once.
func families() []family {
	return []family{
		{"redelivered", []deed{cutBeforeSettle, copyOnce, spontaneousCopy, downBeforeSettle}},
		{"crashed", []deed{crashBeforeCall, crashBeforeSettle, crashAfterSettle, crashAtPoint, panicAtPoint, stopAtPoint}},
		{"overlapping", []deed{pauseAtPoint, overlap, overlapCrash, slowAtPoint, freezeAtPoint}},
		{"failing", []deed{failAtPoint, loseAnswer, poison, garbage}},
		{"mixed", nil},
	}
}

// shape is what a plan may use: the rules of the broker, and what the fault-free run
// showed of the handler.
type shape struct {
	rules  *rules
	events int
	batch  int
	points int
}

// legal tells whether the broker may do this, and this handler can be hit by it.
func (s *shape) legal(d deed) bool {
	switch {
	case d.pointed() && s.points == 0, d == poison && s.points == 0:
		return false
	case d == spontaneousCopy:
		return s.rules.SpontaneousCopies
	case d == overlap || d == overlapCrash:
		return s.rules.Model != contract.LeaseQueue || s.rules.SpontaneousCopies
	case d == slowAtPoint:
		return s.rules.Model == contract.LeaseQueue
	}
	return true
}

// waits are the durations worth trying for a deed, the mildest first.
func (s *shape) waits(d deed) []time.Duration {
	pace, takeOver := &s.rules.pace, s.rules.takeOver
	switch d {
	case overlap, overlapCrash:
		if s.rules.SpontaneousCopies {
			takeOver = 4 * pace.slack
		}
		return []time.Duration{2*takeOver + 2*pace.slack, pace.long}
	case slowAtPoint, freezeAtPoint:
		return []time.Duration{takeOver + pace.work, pace.long}
	case downBeforeSettle:
		return pace.down
	case copyOnce:
		return []time.Duration{s.rules.DedupWindow + 10*pace.slack, pace.down[0]}
	case pauseAtPoint:
		return []time.Duration{3 * pace.slack}
	case spontaneousCopy:
		return []time.Duration{pace.slack, 4 * pace.restart}
	}
	return []time.Duration{0}
}

// places are the yield points at which a deed can happen, 0 for one between calls.
func (s *shape) places(d deed) (from, to int) {
	if !d.pointed() {
		return 0, 0
	}
	return 1, s.points
}

// singles are the plans in which one thing goes wrong, all of them.
func (s *shape) singles(f family) (all []act) {
	for _, d := range f.deeds {
		if !s.legal(d) {
			continue
		}
		from, to := s.places(d)
		for _, wait := range s.waits(d) {
			for point := from; point <= to; point++ {
				if worthIt(d, point) {
					all = append(all, act{do: d, attempt: 1, point: point, wait: wait})
				}
			}
		}
	}
	return all
}

// worthIt: an operation fails before it (an odd point), its answer is lost after it. A
// pause after one is a pause before the next.
func worthIt(d deed, point int) bool {
	switch d {
	case failAtPoint, pauseAtPoint:
		return point%2 == 1
	case loseAnswer:
		return point%2 == 0
	}
	return true
}

// plan is that of a seed, from 1. The first seeds go through everything that can go wrong
// alone, the others combine. It is nil where nothing can go wrong.
func (s *shape) plan(f family, seed uint64) *plan {
	rng := rand.New(rand.NewPCG(seed, 0x5eed))
	p := &plan{seed: seed, events: s.events, workers: 1 + rng.IntN(2), batch: 1}
	if s.batch > 1 {
		p.batch = 1 + rng.IntN(s.batch)
	}
	if singles := s.inTurn(f); seed <= uint64(len(singles)) {
		p.acts = []act{singles[seed-1]}
	} else {
		p.acts = s.several(f, rng)
	}
	if len(p.acts) == 0 {
		return nil
	}
	for i := range p.acts {
		p.acts[i].event = rng.IntN(p.acts[i].do.among(p.events))
	}
	return s.fit(p)
}

// inTurn are the singles in the order in which seeds try them: first what is most telling,
// the mildest time before an operation, since to stand after one is mostly the same as
// before the next.
func (s *shape) inTurn(f family) []act {
	var telling, rest []act
	for _, a := range s.singles(f) {
		if a.wait == s.waits(a.do)[0] && (a.point%2 == 1 || !a.do.pointed() || a.do == loseAnswer) {
			telling = append(telling, a)
			continue
		}
		rest = append(rest, a)
	}
	return slices.Concat(shuffled(telling), shuffled(rest))
}

func shuffled(acts []act) []act {
	all := make([]act, len(acts))
	for i := range acts {
		all[i] = acts[spread(i, len(acts))]
	}
	return all
}

// spread goes through all of n places in great steps, so that few seeds see a little of
// everything.
func spread(i, n int) int {
	step := n*5/8 + 1
	for gcd(step, n) != 1 {
		step++
	}
	return i * step % n
}

func gcd(a, b int) int {
	for b != 0 {
		a, b = b, a%b
	}
	return a
}

// several draws two or three acts from those of a family, or from all there are.
func (s *shape) several(f family, rng *rand.Rand) (acts []act) {
	all := s.singles(f)
	for _, other := range families() {
		if len(f.deeds) == 0 {
			all = append(all, s.singles(other)...)
		}
	}
	if len(all) == 0 {
		return nil
	}
	for range 2 + rng.IntN(2) {
		a := all[rng.IntN(len(all))]
		if a.do != copyOnce {
			a.attempt = 1 + rng.IntN(2)
		}
		acts = append(acts, a)
	}
	return acts
}

// fit gives a plan the second worker that its acts need.
func (s *shape) fit(p *plan) *plan {
	for _, a := range p.acts {
		if a.do.crowded() {
			p.workers = 2
		}
	}
	return p
}
