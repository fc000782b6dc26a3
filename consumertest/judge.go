// SPDX-License-Identifier: Apache-2.0

package consumertest

import (
	"fmt"
	"slices"
	"strings"

	"github.com/seed-720a3c77/harness/contract"
)

// symptom is what is wrong.
type symptom string

const (
	twice    symptom = "twice"    // more than one effect
	lost     symptom = "lost"     // no effect
	disorder symptom = "disorder" // first effects of a key out of order
	differs  symptom = "differs"  // another final state than without faults
	panicked symptom = "panicked"
	hung     symptom = "hung"
	late     symptom = "late"   // every settle comes too late
	leaked   symptom = "leaked" // goroutines are left behind
	blind    symptom = "blind"  // what happened could not be observed
	broken   symptom = "broken" // this package failed
	// toothless: the test would pass whatever the handler does.
	toothless symptom = "toothless"
	idle      symptom = "idle"    // nothing had an effect
	unready   symptom = "unready" // the test's preparation failed
)

// hasStory: what the workers did explains it.
func (s symptom) hasStory() bool {
	return !slices.Contains([]symptom{idle, blind, leaked, broken, unready}, s)
}

// violation is one finding of one run.
type violation struct {
	symptom symptom
	event   int // -1 for none
	source  string
	text    string
}

// outcome is everything that is known of one run of a plan.
type outcome struct {
	plan       *plan
	facts      facts
	trace      []entry
	seen       []sighting
	violations []violation
}

// worst is the violation that is reported, nil if there is none.
func (o *outcome) worst() *violation {
	if len(o.violations) == 0 {
		return nil
	}
	return &o.violations[0]
}

// shows tells whether a run has this symptom.
func (o *outcome) shows(s symptom) bool {
	return slices.ContainsFunc(o.violations, func(v violation) bool { return v.symptom == s })
}

// judge compares what was seen with what is claimed. clean is the fault-free run, nil for
// that run itself.
func (c *config) judge(o *outcome, r *rules, clean *outcome) {
	for _, p := range o.facts.problems {
		o.violations = append(o.violations, violation{symptom: p.kind, event: p.event, text: p.text})
	}
	if len(o.seen) == 0 && len(o.violations) == 0 {
		o.violations = append(o.violations, violation{symptom: idle, event: -1, text: "nothing that the handler did had an effect that this test sees"})
	}
	for _, s := range o.counting(clean) {
		c.judgeCounts(o, s, clean.parts(s.name))
		if c.claims(contract.OrderPerKey) && r.keepsOrder() {
			c.judgeOrder(o, s)
		}
		if clean != nil && c.claims(contract.EffectivelyOnce) {
			judgeState(o, s, clean)
		}
	}
}

// counting are the sources, each without its counts where it does not count: one that
// showed no effect without faults holds only keys or values.
func (o *outcome) counting(clean *outcome) []sighting {
	if clean == nil {
		for i := range o.seen {
			if s := &o.seen[i]; len(s.counts) == 0 && o.hasOther(i) {
				s.counts = nil
			}
		}
		return o.seen
	}
	for i := range o.seen {
		if s := &o.seen[i]; !slices.ContainsFunc(clean.seen, func(c sighting) bool { return c.name == s.name && c.counts != nil }) {
			s.counts = nil
		}
	}
	return o.seen
}

// hasOther tells whether there is something to see beside the counts of one source.
func (o *outcome) hasOther(i int) bool {
	for j, s := range o.seen {
		if j != i && len(s.counts) > 0 || len(s.values) > 0 {
			return true
		}
	}
	return false
}

// parts are the different effects of each event without faults.
func (o *outcome) parts(source string) map[string]int {
	if o == nil {
		return nil
	}
	for _, s := range o.seen {
		if s.name == source {
			return s.parts
		}
	}
	return nil
}

// judgeCounts looks at the effects of each event. parts are how many there are without faults.
func (c *config) judgeCounts(o *outcome, s sighting, parts map[string]int) {
	if s.counts == nil {
		return
	}
	once := c.claims(contract.EffectivelyOnce) || c.claims(contract.AtMostOnce)
	for n := range o.plan.events {
		if o.plan.has(n, garbage) != nil {
			continue
		}
		id := c.made[n].ID
		times, missing := s.times(id, parts[id]), o.missing(n, id, s, parts[id])
		switch {
		case times > 1 && once:
			o.violations = append(o.violations, violation{twice, n, s.name, id + " took effect " + timesText(times)})
		case missing != "" && !c.claims(contract.AtMostOnce) && o.plan.has(n, poison) == nil:
			o.violations = append(o.violations, violation{lost, n, s.name, missing})
		}
	}
}

// times is how often an event took effect. One effect more than without faults, at an
// address of its own, is once too often.
func (s *sighting) times(id string, parts int) int {
	if parts > 0 && s.parts[id] > parts {
		return max(2, s.counts[id])
	}
	return s.counts[id]
}

func timesText(n int) string {
	if n == 2 {
		return "twice"
	}
	return fmt.Sprintf("%d times", n)
}

// missing tells which effect of an event did not come, "" if all did.
func (o *outcome) missing(n int, id string, s sighting, parts int) string {
	switch err := o.facts.gaveUp[n]; {
	case s.counts[id] > 0 && s.parts[id] >= parts:
		return ""
	case s.counts[id] > 0:
		return fmt.Sprintf("%s had only %d of its %d effects", id, s.parts[id], parts)
	case err != nil:
		return fmt.Sprintf("%s had no effect: it was given up after %d attempts, at last with: %v", id, o.facts.attempts[n], err)
	}
	return id + " was settled and had no effect"
}

// judgeOrder looks at the first effects of each key.
func (c *config) judgeOrder(o *outcome, s sighting) {
	last := map[string]int{}
	seen := map[string]bool{}
	for _, id := range s.order {
		n := c.numberOf(id, o.plan.events)
		if n < 0 || seen[id] {
			continue
		}
		seen[id] = true
		key := c.made[n].Key
		if before, ok := last[key]; ok && n < before {
			text := fmt.Sprintf("%s took effect after %s, which has the same key %s and was sent later", id, c.made[before].ID, key)
			o.violations = append(o.violations, violation{disorder, n, s.name, text})
		}
		last[key] = max(last[key], n)
	}
}

func (c *config) numberOf(id string, events int) int {
	for n := range events {
		if c.made[n].ID == id {
			return n
		}
	}
	return -1
}

// judgeState compares the values at the end with those of the fault-free run.
func judgeState(o *outcome, s sighting, clean *outcome) {
	if spoilt(o.plan) {
		return
	}
	i := slices.IndexFunc(clean.seen, func(other sighting) bool { return other.name == s.name })
	if i < 0 {
		return
	}
	want := clean.seen[i].values
	var wrong []string
	for _, name := range sortedKeys(want, s.values) {
		if s.values[name] != want[name] {
			wrong = append(wrong, fmt.Sprintf("%s is %q, without faults %q", name, s.values[name], want[name]))
		}
	}
	if len(wrong) > 0 {
		o.violations = append(o.violations, violation{differs, -1, s.name, "the state at the end differs: " + strings.Join(wrong, "; ")})
	}
}

// spoilt: an event of this plan can have no effect, so the state has to differ.
func spoilt(p *plan) bool {
	return slices.ContainsFunc(p.acts, func(a act) bool { return a.do == poison || a.do == garbage })
}
