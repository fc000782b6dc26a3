// SPDX-License-Identifier: Apache-2.0

package consumertest

import (
	"maps"
	"slices"
)

// What a trace shows of a mistake, for its name.

// about is the event of the finding; a state is about the first.
func (o *outcome) about() int { return max(0, o.worst().event) }

// did tells whether the plan has an act of one of these kinds.
func (o *outcome) did(deeds ...deed) bool {
	return slices.ContainsFunc(o.plan.acts, func(a act) bool { return slices.Contains(deeds, a.do) })
}

// repeatsInOneCall: a call applied the same effect of its event more than once.
func (o *outcome) repeatsInOneCall() bool {
	type effect struct {
		call int
		what string
	}
	seen := map[effect]bool{}
	for _, e := range o.trace {
		if e.kind&opEffect == 0 || e.call == 0 || e.event != o.about() {
			continue
		}
		this := effect{e.call, e.what}
		if seen[this] {
			return true
		}
		seen[this] = true
	}
	return false
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

// failsBeside: a call returned nil for the event and an error for another one.
func (o *outcome) failsBeside(event int) bool {
	done, failed := map[int]bool{}, map[int]bool{}
	for _, e := range o.trace {
		if e.kind&opReturn == 0 {
			continue
		}
		done[e.call] = done[e.call] || e.event == event && !e.failed
		failed[e.call] = failed[e.call] || e.event != event && e.failed
	}
	for call := range done {
		if done[call] && failed[call] {
			return true
		}
	}
	return false
}

// comesLate: a later event took effect before the last call with this one came to its end.
func (o *outcome) comesLate(event int) bool {
	if o.facts.attempts[event] < 2 && !o.did(pauseAtPoint) {
		return false
	}
	overtaken, late := false, false
	for _, e := range o.trace {
		overtaken = overtaken || e.kind&opEffect != 0 && e.event > event
		late = late || overtaken && e.kind&opReturn != 0 && e.event == event
	}
	return late
}

// onlyLooked: the calls with the event looked at something and wrote nothing.
func (o *outcome) onlyLooked(event int) bool {
	var did opKind
	for _, e := range o.trace {
		if e.event == event {
			did |= e.kind
		}
	}
	return did&opLook != 0 && did&(opKey|opClaim|opEffect|opWrite) == 0
}

// readsStale: a call read, another one had an effect, and then the first one had.
func (o *outcome) readsStale() bool {
	read, stale := map[int]bool{}, map[int]bool{}
	for _, e := range o.trace {
		switch {
		case e.call == 0:
		case e.kind&(opEffect|opWrite) != 0 && stale[e.call]:
			return true
		case e.kind&(opEffect|opWrite) != 0:
			for call := range read {
				stale[call] = stale[call] || call != e.call
			}
		case e.kind&opLook != 0:
			read[e.call] = true
		}
	}
	return false
}

// onlyStates tells whether no source counts effects.
func (o *outcome) onlyStates() bool {
	return !slices.ContainsFunc(o.seen, func(s sighting) bool { return s.counts != nil })
}

// sameState tells whether the values of two runs are the same at their end.
func (o *outcome) sameState(other *outcome) bool {
	for _, s := range o.seen {
		i := slices.IndexFunc(other.seen, func(o sighting) bool { return o.name == s.name })
		switch {
		case i < 0 && len(s.values) == 0:
		case i < 0 || !maps.Equal(s.values, other.seen[i].values):
			return false
		}
	}
	return true
}
