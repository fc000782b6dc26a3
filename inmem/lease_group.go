// SPDX-License-Identifier: Apache-2.0

package inmem

import (
	"github.com/seed-720a3c77/harness/broker"
	"github.com/seed-720a3c77/harness/contract"
	"github.com/seed-720a3c77/harness/msg"
)

// messageGroups is the order of a FIFO queue: within a group, and a group with a message
// in flight is held back for everybody.
type messageGroups struct {
	q     *leaseQueue
	byKey map[string]*messageGroup
	// open groups have something ready and nothing in flight, in the order in which they
	// opened. A group that has closed since is marked only.
	opened ring[*messageGroup]
}

// messageGroup is the messages of one key.
type messageGroup struct {
	key      string
	ready    ready[*leased]
	stored   int // messages that are not gone
	inFlight int
	blocked  bool
	listed   bool
}

// of is the group of a message that is being stored.
func (gs *messageGroups) of(key string) *messageGroup {
	g := gs.byKey[key]
	if g == nil {
		g = &messageGroup{key: key}
		gs.byKey[key] = g
	}
	g.stored++
	return g
}

// show makes a message ready. The real service waits until nothing of the group is in
// flight; LocalStack opens the group for whatever becomes visible.
func (gs *messageGroups) show(l *leased, again bool) {
	g := l.group
	if again {
		g.ready.back(l, contract.PlaceOriginal)
	} else {
		g.ready.add(l)
	}
	gs.unblock(g, again)
}

func (gs *messageGroups) unblock(g *messageGroup, cameBack bool) {
	if g.inFlight == 0 || cameBack && gs.q.m.rules.splitsGroup {
		g.blocked = false
	}
	if !g.blocked && !g.listed && g.ready.len() > 0 {
		g.listed = true
		gs.opened.push(g)
	}
}

// forget takes a message out of its group and drops the group with its last message.
func (gs *messageGroups) forget(l *leased) {
	g := l.group
	g.ready.remove(l)
	g.stored--
	if g.stored == 0 && !g.listed {
		delete(gs.byKey, g.key)
		return
	}
	gs.unblock(g, false)
}

// open tells whether a group has something to receive.
func (gs *messageGroups) open() bool {
	for gs.opened.len() > 0 {
		g := *gs.opened.first()
		if !g.blocked && g.ready.len() > 0 {
			return true
		}
		gs.close(g)
	}
	return false
}

// close unlists the first open group.
func (gs *messageGroups) close(g *messageGroup) {
	gs.opened.pop()
	g.listed = false
	if g.stored == 0 {
		delete(gs.byKey, g.key)
	}
}

// receive fills up with one group before it goes to the next.
func (gs *messageGroups) receive(c *poller, into []broker.Delivery) (int, error) {
	n := 0
	for n < len(into) && gs.open() && !gs.q.full() {
		taken, err := gs.drain(*gs.opened.first(), c, into[n:])
		n += taken
		if err != nil {
			return n, err
		}
	}
	return n, nil
}

// drain takes from one group, which is then held back until all of it is settled.
func (gs *messageGroups) drain(g *messageGroup, c *poller, into []broker.Delivery) (int, error) {
	n := 0
	var failure error
	for n < len(into) && g.ready.len() > 0 && failure == nil {
		var lent bool
		lent, failure = gs.q.lend(popOf(gs.q.m, &g.ready), c, &into[n])
		if lent {
			n++
		}
	}
	g.blocked = g.inFlight > 0 && !gs.q.m.strikes(GroupNotBlocked, msg.ID{})
	if g.blocked || g.ready.len() == 0 {
		gs.close(g)
	}
	return n, failure
}

// swallow takes a batch for nobody.
func (gs *messageGroups) swallow(batch int) {
	var nobody [16]broker.Delivery
	// The answer, a refusal too, goes to a client that has left.
	_, _ = gs.receive(nil, nobody[:min(batch, len(nobody))])
}
