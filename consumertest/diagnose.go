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
	switch v := o.worst(); {
	case v.symptom != twice && v.symptom != lost && v.symptom != differs:
		return bySymptom(v.symptom)
	case len(o.plan.acts) == 0:
		return slowerThanLease()
	case v.symptom == twice:
		return x.diagnoseTwice(t, o)
	case v.symptom == lost:
		return x.diagnoseLost(t, o)
	}
	return x.diagnoseState(t, o)
}

func bySymptom(s symptom) pattern {
	switch s {
	case disorder:
		return overtaken()
	case panicked:
		return handlerPanics()
	case hung:
		return handlerHangs()
	case late:
		return slowerThanLease()
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
	switch v := o.worst(); v.symptom {
	case twice, lost, disorder, differs:
		if slices.Max(o.facts.attempts) > 1 && o.facts.refused > 0 {
			return slowerThanLease()
		}
		return wrongWithoutFaults()
	default:
		return bySymptom(v.symptom)
	}
}

func (x *trial) diagnoseTwice(t *testing.T, o *outcome) pattern {
	t.Helper()
	switch {
	case o.repeatsInOneCall():
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
	n := o.about()
	switch {
	case o.did(poison, garbage) && o.facts.gaveUp[n] != nil:
		return poisonedBatch()
	case o.failsBeside(n):
		return wrongEntry()
	case o.did(failAtPoint, loseAnswer, panicAtPoint, stopAtPoint, poison) && o.hitCallReturnedNil(n):
		return errorSwallowed()
	case o.facts.attempts[n] > 1 && x.vanishes(t, o, unflagged):
		return redeliveredIsDone()
	case o.facts.gaveUp[n] != nil:
		return claimNeverEnds()
	case o.comesLate(n) && o.onlyLooked(n):
		return highWaterMark()
	case o.did(overlapCrash):
		return busySettled()
	case o.did(failAtPoint, loseAnswer, crashAtPoint, panicAtPoint, stopAtPoint):
		if !x.vanishes(t, o, forgetful) && x.vanishes(t, o, muchLater) {
			return busySettled()
		}
		return claimBeforeWork()
	case o.did(crashBeforeCall, crashBeforeSettle, crashAfterSettle, downBeforeSettle):
		return settledBeforeWork()
	}
	return unnamed()
}

// diagnoseState names what made a state differ. With a single event that is an effect that
// happened twice or not at all.
func (x *trial) diagnoseState(t *testing.T, o *outcome) pattern {
	t.Helper()
	switch {
	case o.plan.events > 1 && o.readsStale():
		return lostUpdate()
	case o.plan.events > 1:
		return staleWrite()
	case o.sameState(x.clean(t, 0)):
		return x.diagnoseLost(t, o)
	}
	return x.diagnoseTwice(t, o)
}
