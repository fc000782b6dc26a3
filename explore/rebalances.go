// SPDX-License-Identifier: Apache-2.0

package explore

import (
	"time"

	"github.com/seed-720a3c77/harness/history"
)

// rebalances measures what a rebalance takes besides the waits that the model has itself: for
// the next heartbeat of each member, and for those that are gone until their session ends. So a
// rebalance is measured only where every member of the generation before came again. What a new
// member takes until its first join is with the coordinator is in no history; the model's takes no
// time, which moves its rebalances by less than the wait for the others' heartbeats.
type rebalances struct {
	// release is from a member's first revocation until it has put its session away.
	release []time.Duration
	// rebalance is from the last such end in a group until the first next session, answer how
	// much later each other one begins.
	rebalance, answer []time.Duration
	// claim is from the beginning of a session to each of its assignments.
	claim []time.Duration

	revoked map[sessionOf]int64
	opened  map[sessionOf]int64
	groups  map[string]*gathering
}

type sessionOf struct {
	session uint32
	gen     int32
}

// gathering is how a group came to its generation.
type gathering struct {
	gen int32
	// closed is when the last session ended that had given back, and ended the same when the
	// generation began.
	closed, ended int64
	// before are the members of the generation before, members are those of this one, each with
	// when its session began, and first is when the first did.
	before, members map[uint32]int64
	first           int64
}

func newRebalances() rebalances {
	return rebalances{revoked: map[sessionOf]int64{}, opened: map[sessionOf]int64{}, groups: map[string]*gathering{}}
}

// observe takes the events of a run in their order.
func (r *rebalances) observe(group string, e *history.Event) {
	g := r.groups[group]
	if g == nil {
		g = &gathering{}
		r.groups[group] = g
	}
	of := sessionOf{e.Session, int32(e.Gen)}
	switch e.Kind {
	case history.Revoke:
		if _, some := r.revoked[of]; !some {
			r.revoked[of] = e.T
		}
	case history.SessionClose:
		if at, some := r.revoked[of]; some {
			r.release = append(r.release, time.Duration(e.T-at))
			g.closed = e.T
		}
	case history.SessionOpen:
		if e.Gen > 0 {
			r.opened[of] = e.T
			r.joined(g, of, e.T)
		}
	case history.Assign:
		if at, some := r.opened[of]; some {
			r.claim = append(r.claim, time.Duration(e.T-at))
		}
	}
}

func (r *rebalances) joined(g *gathering, of sessionOf, at int64) {
	if of.gen != g.gen {
		r.tell(g)
		*g = gathering{gen: of.gen, closed: g.closed, ended: g.closed, before: g.members, members: map[uint32]int64{}, first: at}
	}
	g.members[of.session] = at
}

// tell takes what a generation shows, once its members are known.
func (r *rebalances) tell(g *gathering) {
	if len(g.before) == 0 || g.ended == 0 {
		return
	}
	for session := range g.before {
		if _, again := g.members[session]; !again {
			return
		}
	}
	r.rebalance = append(r.rebalance, time.Duration(g.first-g.ended))
	for _, at := range g.members {
		r.answer = append(r.answer, time.Duration(at-g.first))
	}
}

// done takes what the last generations show.
func (r *rebalances) done() {
	for _, g := range r.groups {
		r.tell(g)
	}
}

// togetherOf is what so many samples that follow each other took in all.
func togetherOf(samples []time.Duration, many int) []time.Duration {
	var all []time.Duration
	for i := 0; i+many <= len(samples); i++ {
		var sum time.Duration
		for _, d := range samples[i : i+many] {
			sum += d
		}
		all = append(all, sum)
	}
	return all
}
