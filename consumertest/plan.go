// SPDX-License-Identifier: Apache-2.0

package consumertest

import (
	"slices"
	"time"
)

// plan is everything that a schedule decides. A seed stands for one; shrinking edits it.
type plan struct {
	seed    uint64
	events  int
	workers int
	// batch is how many messages a worker receives at a time.
	batch int
	acts  []act
	// disguise gives every attempt after the first another identity.
	disguise bool
	// For probes: every copy has the broker id of the first, is flagged as redelivered, or
	// is given by the broker itself, whatever the profile says.
	sameBrokerID, flagged, copies bool
	// Also for probes: no message says that it came before, and a handler forgets what it
	// remembers when an event comes again.
	unflagged, forgetful bool
	// later is how long nothing runs before an event is handled again, for a probe.
	later time.Duration
}

// act is one thing that goes wrong, at a place that does not depend on time: in the n-th
// call of the handler with an event, at the m-th point of that call.
type act struct {
	do deed
	// event is its number, from 0; attempt the number of the call with it, from 1.
	event, attempt int
	// point is the yield point of the call, from 1. Operations have two: before and after.
	point int
	// wait is how long it lasts.
	wait time.Duration
}

// deed is what an act does. The zero value is nothing.
type deed uint8

const (
	_ deed = iota
	// Between calls. The order is that of simplicity: a shrunk plan has the first that fails.

	cutBeforeSettle   // the handler has returned, the connection breaks, the process lives on
	copyOnce          // the producer stores the event a second time
	spontaneousCopy   // the broker gives a settled message again
	crashBeforeCall   // the worker dies with the message received
	crashBeforeSettle // the handler has returned, the worker dies
	crashAfterSettle  // the worker dies when the settle is done
	downBeforeSettle  // as crashBeforeSettle, and nothing runs for a long time

	// At a yield point.

	failAtPoint   // the operation fails and is not applied
	loseAnswer    // the operation is applied and its answer lost
	crashAtPoint  // the worker dies
	panicAtPoint  // the handler panics there
	stopAtPoint   // the consumer is asked to stop: the context ends
	pauseAtPoint  // the operation takes a moment, and other workers go on
	overlap       // another worker gets the message as well, at once
	overlapCrash  // and then this worker dies
	slowAtPoint   // the operation outlasts the lease
	freezeAtPoint // the process stands still and wakes as a zombie

	// For good.

	poison  // the event's first operation fails in every attempt
	garbage // the event's body is broken
)

// pointed: the deed happens at a yield point, so it needs one.
func (d deed) pointed() bool { return d >= failAtPoint && d <= freezeAtPoint }

// crashes: the process is gone afterwards.
func (d deed) crashes() bool {
	return slices.Contains([]deed{crashBeforeCall, crashBeforeSettle, crashAfterSettle, downBeforeSettle, crashAtPoint, panicAtPoint, overlapCrash}, d)
}

// fails: an operation of the handler fails, or seems to.
func (d deed) fails() bool { return d == failAtPoint || d == loseAnswer || d == poison }

// overlaps: two calls with one event run at the same time.
func (d deed) overlaps() bool {
	return d == overlap || d == overlapCrash || d == slowAtPoint || d == freezeAtPoint
}

// crowded: another worker is needed for it.
func (d deed) crowded() bool { return d == pauseAtPoint || d.overlaps() }

// among is how many of the events it may happen to: a pause is for others to overtake.
func (d deed) among(events int) int {
	if d == pauseAtPoint {
		return (events + 1) / 2
	}
	return events
}

// at finds the act for a place of a call.
func (p *plan) at(event, attempt, point int, deeds ...deed) *act {
	for i := range p.acts {
		a := &p.acts[i]
		if a.event == event && a.attempt == attempt && a.point == point && slices.Contains(deeds, a.do) {
			return a
		}
	}
	return nil
}

// has finds the first act of a kind for an event.
func (p *plan) has(event int, d deed) *act {
	for i := range p.acts {
		if p.acts[i].event == event && p.acts[i].do == d {
			return &p.acts[i]
		}
	}
	return nil
}

// lastHit is the last attempt with an event in which something goes wrong, 1 for none.
func (p *plan) lastHit(event int) int {
	last := 1
	for _, a := range p.acts {
		if a.event == event {
			last = max(last, a.attempt)
		}
	}
	return last
}

func (p plan) clone() plan {
	p.acts = slices.Clone(p.acts)
	return p
}
