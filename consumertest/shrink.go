// SPDX-License-Identifier: Apache-2.0

package consumertest

import (
	"slices"
	"testing"
)

// mostTries bounds shrinking.
const mostTries = 600

// shrink makes the plan of an outcome smaller and milder as long as the same symptom
// shows. What is left says more than a small story: the mildest fault that is enough
// tells what the handler lacks.
func (x *trial) shrink(t *testing.T, o *outcome) (small *outcome, tried int) {
	t.Helper()
	want := o.worst().symptom
	for progress := true; progress && tried < mostTries; {
		progress = false
		for _, candidate := range x.shape.smaller(o.plan) {
			tried++
			if again := x.play(t, candidate); again.shows(want) {
				again.lead(want)
				o, progress = again, true
				break
			}
			if tried >= mostTries {
				break
			}
		}
	}
	return o, tried
}

// lead puts the violation that was looked for first.
func (o *outcome) lead(s symptom) {
	slices.SortStableFunc(o.violations, func(a, b violation) int {
		return rank(a.symptom != s) - rank(b.symptom != s)
	})
}

func rank(last bool) int {
	if last {
		return 1
	}
	return 0
}

// smaller are the plans that are one step simpler, the boldest first.
func (s *shape) smaller(p *plan) (all []*plan) {
	edit := func(change func(*plan)) {
		q := p.clone()
		change(&q)
		all = append(all, s.fit(&q))
	}
	for i := range p.acts {
		if len(p.acts) > 1 || p.workers > 1 { // two workers may be enough
			edit(func(q *plan) { q.acts = slices.Delete(q.acts, i, i+1) })
			edit(func(q *plan) { q.acts = slices.Delete(q.acts, i, i+1); q.sooner(p.acts[i].event) })
		}
	}
	if p.batch > 1 {
		edit(func(q *plan) { q.batch = 1 })
	}
	if p.workers > 1 && s.fit(&plan{workers: 1, acts: p.acts}).workers == 1 {
		edit(func(q *plan) { q.workers = 1 })
	}
	for i := range p.acts {
		for _, milder := range s.milder(p.acts[i]) {
			edit(func(q *plan) { q.acts[i] = milder })
		}
	}
	for n := 1; n < p.events; n++ {
		edit(func(q *plan) { q.keepOnly(n) })
	}
	return all
}

// milder are acts that are simpler than one: other deeds, earlier points and attempts,
// shorter times.
func (s *shape) milder(a act) (all []act) {
	if a.attempt > 1 {
		b := a
		b.attempt = 1
		all = append(all, b)
	}
	for _, f := range families() {
		for _, b := range s.singles(f) {
			b.event, b.attempt = a.event, a.attempt
			if b.simpler(a) {
				all = append(all, b)
			}
		}
	}
	slices.SortStableFunc(all, func(a, b act) int {
		if a.simpler(b) {
			return -1
		}
		return rank(b.simpler(a))
	})
	return all
}

// simpler orders acts: by deed, then by time, then by point.
func (a act) simpler(than act) bool {
	return slices.Compare(a.weight(), than.weight()) < 0
}

func (a act) weight() []int64 {
	return []int64{int64(a.do), int64(a.wait), int64(a.point)}
}

// sooner moves what happens to an event one attempt ahead.
func (p *plan) sooner(event int) {
	for i := range p.acts {
		if a := &p.acts[i]; a.event == event && a.attempt > 1 {
			a.attempt--
		}
	}
}

// keepOnly leaves the first n events; acts on others move to the first.
func (p *plan) keepOnly(n int) {
	p.events = n
	for i := range p.acts {
		if p.acts[i].event >= n {
			p.acts[i].event = 0
		}
	}
}
