// SPDX-License-Identifier: Apache-2.0

package checkers

import (
	"slices"

	"github.com/seed-720a3c77/harness/contract"
	"github.com/seed-720a3c77/harness/msg"
)

// This file follows sessions step by step: from what they read or sent last to what came
// next. A step of 1 is the next message that is known to exist; more is a skip, less goes
// back.

// step judges one step within a partition; none is as it should be.
func (a *analysis) step(skip, back row, place uint32, from, to standing, ops ...*logOp) []LogFinding {
	delta, between := a.log(place).step(from, to)
	r, about := skip, to.id
	switch {
	case delta == 1:
		return nil
	case delta < 1:
		r = back
	case skip != rows:
		about = between[0]
	}
	if r == rows {
		return nil
	}
	f := a.found(r, place, about, ops...)
	f.IDs, f.Delta, f.Skipped = []msg.ID{from.id, to.id}, delta, between
	return []LogFinding{f}
}

// steps is what an operation read or sent in each partition, in order.
type steps struct {
	places []uint32
	at     map[uint32][]standing
}

func (s *steps) add(place uint32, id msg.ID, off int64) {
	if _, seen := s.at[place]; !seen {
		s.places = append(s.places, place)
	}
	s.at[place] = append(s.at[place], standing{id, off})
}

func (op *logOp) readSteps() steps {
	s := steps{at: map[uint32][]standing{}}
	for _, r := range op.reads {
		s.add(r.place, r.id, r.off)
	}
	return s
}

func (op *logOp) sentSteps() steps {
	s := steps{at: map[uint32][]standing{}}
	for _, sent := range op.sends {
		s.add(sent.place, sent.id, sent.off)
	}
	return s
}

// within judges the steps inside one operation.
func (a *analysis) within(op *logOp, skip, back row, s steps) (all []LogFinding) {
	for _, place := range s.places {
		for i := 1; i < len(s.at[place]); i++ {
			all = append(all, a.step(skip, back, place, s.at[place][i-1], s.at[place][i], op)...)
		}
	}
	for i := range all {
		all[i].Internal = true
	}
	return all
}

func internalPolls(a *analysis) (all []LogFinding) {
	for _, op := range a.ops {
		if op.audit {
			continue
		}
		s := op.readSteps()
		s.places = slices.DeleteFunc(s.places, func(p uint32) bool { return slices.Contains(op.moved, p) })
		all = append(all, a.within(op, pollSkip, nonmonotonicPoll, s)...)
	}
	return all
}

func internalSends(a *analysis) (all []LogFinding) {
	for _, op := range a.ops {
		all = append(all, a.within(op, sendSkip, nonmonotonicSend, op.sentSteps())...)
	}
	return all
}

// place of a session.
type sessionPlace struct{ session, place uint32 }

// latest is what a session did last in each partition.
type latest map[sessionPlace]latestStep

type latestStep struct {
	op *logOp
	at standing
}

// forget drops the positions that an operation resets.
func (l latest) forget(op *logOp) {
	for at := range l {
		if at.session == op.session && (op.resetOf == 0 || op.resetOf == at.place) {
			delete(l, at)
		}
	}
}

// polls compares the first that an operation read with the last that its session had read.
// What a failed one read is looked at too, but only success moves the position.
func polls(a *analysis) (all []LogFinding) {
	last := latest{}
	for _, op := range a.ops {
		if op.reset {
			last.forget(op)
			continue
		}
		if op.audit {
			continue
		}
		s := op.readSteps()
		for _, place := range s.places {
			at := sessionPlace{op.session, place}
			if before, seen := last[at]; seen {
				all = append(all, a.step(pollSkip, nonmonotonicPoll, place, before.at, s.at[place][0], before.op, op)...)
			}
			if op.class == contract.OK {
				last[at] = latestStep{op, s.at[place][len(s.at[place])-1]}
			}
		}
	}
	return all
}

// sends compares operations of one session; others write in between, so that there is no
// skip. A failed one sent nothing.
func sends(a *analysis) (all []LogFinding) {
	last := latest{}
	for _, op := range a.ops {
		if op.reset {
			last.forget(op)
			continue
		}
		if op.class != contract.OK && op.class != contract.Unknown {
			continue
		}
		s := op.sentSteps()
		for _, place := range s.places {
			at := sessionPlace{op.session, place}
			if before, seen := last[at]; seen {
				all = append(all, a.step(rows, nonmonotonicSend, place, before.at, s.at[place][0], before.op, op)...)
			}
			last[at] = latestStep{op, s.at[place][len(s.at[place])-1]}
		}
	}
	return all
}
