// SPDX-License-Identifier: Apache-2.0

package consumertest

import (
	"slices"
	"testing"
)

// diagnose names the mistake behind a shrunk outcome. The mildest fault that is enough
// says most of it; where two mistakes look alike, a probe changes one thing and looks
// whether the symptom stays.
func (x *trial) diagnose(t *testing.T, o *outcome) pattern {
	t.Helper()
	switch v := o.worst(); v.symptom {
	case twice:
		return x.diagnoseTwice(t, o)
	case lost:
		return x.diagnoseLost(t, o)
	default:
		return bySymptom(v.symptom)
	}
}

func bySymptom(s symptom) pattern {
	switch s {
	case differs:
		return staleWrite()
	case disorder:
		return overtaken()
	case panicked:
		return handlerPanics()
	case hung:
		return handlerHangs()
	case leaked:
		return leftBehind()
	case blind:
		return cannotSee()
	case broken:
		return harnessFailed()
	case toothless:
		return toothlessTest()
	case idle:
		return noEffect()
	case unready:
		return setupFails()
	}
	return unnamed()
}

// withoutFaults names what is wrong before anything went wrong.
func withoutFaults(o *outcome) pattern {
	switch s := o.worst().symptom; s {
	case twice, lost, disorder, differs:
		return wrongWithoutFaults()
	default:
		return bySymptom(s)
	}
}

func (x *trial) diagnoseTwice(t *testing.T, o *outcome) pattern {
	t.Helper()
	switch {
	case o.effectsInOneCall() > 1:
		return blindRetry()
	case o.did(overlap, overlapCrash, slowAtPoint, freezeAtPoint):
		if x.vanishes(t, o, shortOverlap) {
			return claimTooShort()
		}
		return checkThenAct()
	case o.did(failAtPoint, loseAnswer, crashAtPoint, panicAtPoint, stopAtPoint):
		return workBeforeClaim()
	case x.vanishes(t, o, sameBrokerID):
		return brokerIDAsKey()
	case x.vanishes(t, o, flagged):
		return trustsFlag()
	case o.did(downBeforeSettle):
		return keyExpires()
	case o.did(crashBeforeSettle, crashAfterSettle), o.plan.workers > 1:
		return processMemory()
	case x.vanishes(t, o, soon):
		return keyExpires()
	}
	return noDeduplication()
}

func (x *trial) diagnoseLost(t *testing.T, o *outcome) pattern {
	t.Helper()
	v := o.worst()
	switch {
	case o.did(overlapCrash):
		return busySettled()
	case o.did(failAtPoint, loseAnswer, stopAtPoint, poison) && o.hitCallReturnedNil(v.event):
		return errorSwallowed()
	case o.did(failAtPoint, loseAnswer, crashAtPoint, panicAtPoint, stopAtPoint):
		if x.vanishes(t, o, muchLater) {
			return busySettled()
		}
		return claimBeforeWork()
	case o.did(crashAfterSettle, crashBeforeSettle):
		return settledBeforeWork()
	case o.did(crashBeforeCall, cutBeforeSettle):
		return highWaterMark()
	}
	return unnamed()
}

// did tells whether the plan has an act of one of these kinds.
func (o *outcome) did(deeds ...deed) bool {
	return slices.ContainsFunc(o.plan.acts, func(a act) bool { return slices.Contains(deeds, a.do) })
}

// effectsInOneCall is the most effects that one call applied to its event.
func (o *outcome) effectsInOneCall() (most int) {
	n := map[int]int{}
	for _, e := range o.trace {
		if e.kind&opEffect != 0 && e.call > 0 && e.event == o.worst().event {
			n[e.call]++
			most = max(most, n[e.call])
		}
	}
	return most
}

// hitCallReturnedNil tells whether a call that a fault hit came back as done.
func (o *outcome) hitCallReturnedNil(event int) bool {
	hit := map[int]bool{}
	for _, e := range o.trace {
		if e.event != event || e.call == 0 {
			continue
		}
		hit[e.call] = hit[e.call] || e.fault
		if e.kind&opReturn != 0 && hit[e.call] && !e.failed {
			return true
		}
	}
	return false
}

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

// soon lets the copy come a second after the first was done, to the process that did it.
func soon(p *plan, pace *pace) {
	for i := range p.acts {
		a := &p.acts[i]
		*a = act{do: spontaneousCopy, event: a.event, attempt: a.attempt, wait: pace.slack}
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
