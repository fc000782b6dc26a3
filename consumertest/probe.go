// SPDX-License-Identifier: Apache-2.0

package consumertest

import "testing"

// probe changes one thing in a plan.
type probe func(*plan, *pace)

// vanishes tells whether the symptom is gone when one thing is changed.
func (x *trial) vanishes(t *testing.T, o *outcome, change probe) bool {
	t.Helper()
	p := o.plan.clone()
	change(&p, &x.rules.pace)
	return !x.play(t, &p).shows(o.worst().symptom)
}

// sameBrokerID gives every copy the broker id of the first.
func sameBrokerID(p *plan, _ *pace) { p.sameBrokerID = true }

// flagged gives every attempt after the first the redelivered flag and a count.
func flagged(p *plan, _ *pace) { p.flagged = true }

// unflagged takes both from all.
func unflagged(p *plan, _ *pace) { p.unflagged = true }

// forgetful makes a new handler, in the same process, when an event comes again.
func forgetful(p *plan, _ *pace) { p.forgetful = true }

// soon lets the copy come when the first is done, to the process that did it.
func soon(p *plan, _ *pace) {
	for i := range p.acts {
		a := &p.acts[i]
		*a = act{do: spontaneousCopy, event: a.event, attempt: a.attempt}
	}
}

// muchLater lets nothing run for long before an event is handled again.
func muchLater(p *plan, pace *pace) { p.later = pace.down[0] }

// shortOverlap lets two workers have the event together, for no longer than it takes.
func shortOverlap(p *plan, pace *pace) {
	for i := range p.acts {
		if a := &p.acts[i]; a.do.overlaps() && a.do != overlapCrash {
			a.do, a.wait, p.copies = overlap, 4*pace.slack, true
		}
	}
}
