// SPDX-License-Identifier: Apache-2.0

package consumertest

import (
	"testing"
)

// trial is a handler on one profile.
type trial struct {
	config *config
	rules  *rules
	// cleans are the fault-free runs by number of events.
	cleans map[int]*outcome
	shape  shape
	tally  tally
}

func newTrial(c *config, r *rules) *trial {
	return &trial{config: c, rules: r, cleans: map[int]*outcome{}}
}

// finding is a violation with the smallest plan that shows it.
type finding struct {
	trial  *trial
	family string
	seed   uint64
	first  *plan // of the seed
	small  *outcome
	tried  int
	cause  pattern
}

// play runs a plan on this profile.
func (x *trial) play(t *testing.T, p *plan) *outcome {
	t.Helper()
	return play(t, x.config, x.rules, p, x.clean(t, p.events))
}

// clean is the fault-free run with so many events.
func (x *trial) clean(t *testing.T, events int) *outcome {
	t.Helper()
	if x.cleans[events] == nil {
		p := &plan{events: events, workers: 1, batch: max(1, x.config.batch)}
		x.cleans[events] = play(t, x.config, x.rules, p, nil)
	}
	return x.cleans[events]
}

// fit runs the handler without faults, and its twin that cannot know what it has seen.
// It returns why the test makes no sense, nil if it does.
func (x *trial) fit(t *testing.T) *finding {
	t.Helper()
	clean := x.clean(t, x.config.events)
	if v := clean.worst(); v != nil {
		return &finding{trial: x, first: clean.plan, small: clean, cause: withoutFaults(clean)}
	}
	if clean.onlyStates() && clean.sameState(x.clean(t, 0)) {
		clean.violations = []violation{{symptom: idle, event: -1, text: "the state is the same without any event"}}
		return &finding{trial: x, first: clean.plan, small: clean, cause: noEffect()}
	}
	x.shape = shape{rules: x.rules, events: clean.plan.events, batch: clean.plan.batch, points: clean.facts.points}
	return x.twin(t)
}

// twin plays a redelivery in disguise: the handler cannot know the second copy. If no
// second effect is seen then, the test could never see one.
func (x *trial) twin(t *testing.T) *finding {
	t.Helper()
	p := &plan{events: x.config.events, workers: 1, batch: 1, disguise: true, acts: []act{{do: cutBeforeSettle, attempt: 1}}}
	o := x.play(t, p)
	if len(o.seen) == 0 || o.facts.done[cutBeforeSettle] == 0 || o.seesDisguise(x.config) {
		return nil
	}
	o.violations = []violation{{symptom: toothless, event: 0, text: "a second, different event left no trace that this test can see"}}
	return &finding{trial: x, first: p, small: o, cause: toothlessTest()}
}

// explore tries seeds until one breaks what is claimed, and shrinks that.
func (x *trial) explore(t *testing.T, f family, seeds []uint64) *finding {
	t.Helper()
	for _, seed := range seeds {
		p := x.shape.plan(f, seed)
		if p == nil {
			break
		}
		o := x.play(t, p)
		x.tally.add(o)
		if o.worst() == nil {
			continue
		}
		small, tried := x.shrink(t, o)
		found := &finding{trial: x, family: f.name, seed: seed, first: p, small: small, tried: tried}
		found.cause = x.diagnose(t, small)
		return found
	}
	return nil
}
