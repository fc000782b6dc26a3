// SPDX-License-Identifier: Apache-2.0

package runner

import (
	"slices"
	"time"
)

// Never is the time of what did not happen.
const Never time.Duration = -1

// Measured is what a run offered and what went wrong in it, in time since its load began.
// Another run of the same workload repeats it, so that the two can be compared.
type Measured struct {
	// Sent tells when each producer sent its messages for the first time, by sequence number.
	Sent [][]time.Duration
	// Settled is how long before the load the last member of a group got its partitions: how far
	// its clients and their heartbeats were when it began.
	Settled time.Duration
	// Faults of the timeline, by number less one.
	Faults []MeasuredFault
}

// MeasuredFault is when a fault happened; Never where it did not.
type MeasuredFault struct {
	Requested, Healed time.Duration
	// Since is from when on what the fault waited for could bring it: the receive of the batch
	// in which a worker reached its point. The one before it is another.
	Since time.Duration
}

// As has the plan repeat what was measured: messages are sent, and steps that wait for a
// time come due, when they did. A step that waits for a worker at a point still does, but not
// before the batch in which it was reached; one that never came is taken away.
func (p *Plan) As(m Measured) {
	for i := range p.Producers {
		if i < len(m.Sent) {
			p.Producers[i].Sent, p.Producers[i].Start, p.Producers[i].Count = m.Sent[i], 0, len(m.Sent[i])
		}
	}
	p.Settled = m.Settled
	p.Chains = slices.Clone(p.Chains)
	for i, c := range p.Chains {
		p.Chains[i] = m.chain(c)
	}
	p.Chains = slices.DeleteFunc(p.Chains, func(c chain) bool { return len(c) == 0 })
}

// chain is one with its times as measured, up to the first step that never came.
func (m *Measured) chain(written chain) chain {
	made := slices.Clone(written)
	for i := range made {
		s := &made[i]
		at := m.of(made[:i], s)
		if at == Never {
			return made[:i]
		}
		switch {
		case at == unknownTime:
		case s.trigger.waits():
			s.trigger.at = m.Faults[s.number-1].Since
		default:
			s.trigger = trigger{timed: true, at: max(at, 1)}
		}
		if s.number > 0 && s.lasts > 0 {
			s.lasts = max(s.lasts, m.Faults[s.number-1].Healed-at)
		}
	}
	return made
}

// unknownTime is that of a step of which the history tells no time.
const unknownTime time.Duration = -2

// of is when a step came: a fault when it was requested, a repair when what it repaired of
// the steps before it was healed.
func (m *Measured) of(before chain, s *step) time.Duration {
	if s.number > 0 {
		if s.number > len(m.Faults) {
			return Never
		}
		return m.Faults[s.number-1].Requested
	}
	for _, broken := range slices.Backward(before) {
		if broken.number > 0 && repairs(s.kind, broken.kind) && broken.number <= len(m.Faults) {
			return m.Faults[broken.number-1].Healed
		}
	}
	return unknownTime
}

// Waits tells whether a fault, by its number, waits for something else than its time.
func (p *Plan) Waits(number int) bool {
	for _, c := range p.Chains {
		for i := range c {
			if c[i].number == number {
				return c[i].trigger.waits()
			}
		}
	}
	return false
}
