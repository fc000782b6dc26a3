// SPDX-License-Identifier: Apache-2.0

package explore

import (
	"cmp"
	"math/bits"
	"slices"

	"github.com/seed-720a3c77/harness/contract"
	"github.com/seed-720a3c77/harness/history"
	"github.com/seed-720a3c77/harness/msg"
)

// moment is something that ought to happen in some seed. Where it never did, a claim that
// held says nothing about it.
type moment uint8

const (
	crashIdle moment = iota
	crashReceived
	crashHandling
	crashMidBatch
	crashHandled
	crashSettling
	crashSettled
	sessionEnded
	settledBefore
	settledAfter
	settledStale
	extendedBefore
	extendedAfter
	againWhileRunning
	revokedRunning
	revokedUncommitted
	revokedCommitting
	commitFenced
	readWhileRunning

	moments
)

// watched is the table of moments: what they are called and which profiles know them.
var watched = [moments]struct {
	name string
	on   func(p *contract.Profile) bool
}{
	crashIdle:          {"crash: nothing in hand", anywhere},
	crashReceived:      {"crash: received, no handler started", anywhere},
	crashHandling:      {"crash: in a handler", anywhere},
	crashMidBatch:      {"crash: part of a batch done", anywhere},
	crashHandled:       {"crash: done, not settled", anywhere},
	crashSettling:      {"crash: settle under way", anywhere},
	crashSettled:       {"crash: after a settle, before the next receive", anywhere},
	sessionEnded:       {"session: ended by the broker with deliveries in hand", isModel(contract.Log, contract.PushQueue)},
	settledBefore:      {"lease: settled just before it ended", hasLease},
	settledAfter:       {"lease: settled just after it ended", hasLease},
	settledStale:       {"lease: settled when another had the message", hasLease},
	extendedBefore:     {"lease: extended just before it ended", canExtend},
	extendedAfter:      {"lease: extended after it ended", canExtend},
	againWhileRunning:  {"lease: delivered again while the first handler ran", hasLease},
	revokedRunning:     {"rebalance: revoked with a handler running", hasGroups},
	revokedUncommitted: {"rebalance: revoked with work not committed", hasGroups},
	revokedCommitting:  {"rebalance: revoked while a commit was under way", hasGroups},
	commitFenced:       {"rebalance: commit of an old generation refused", hasGroups},
	readWhileRunning:   {"rebalance: read by the new owner while the old one's handler ran", hasGroups},
}

func anywhere(*contract.Profile) bool    { return true }
func hasLease(p *contract.Profile) bool  { return p.Can.Has(contract.Lease) }
func canExtend(p *contract.Profile) bool { return p.Can.Has(contract.Extend) }
func hasGroups(p *contract.Profile) bool { return p.Can.Has(contract.Groups) }
func isModel(all ...contract.Model) func(*contract.Profile) bool {
	return func(p *contract.Profile) bool { return slices.Contains(all, p.Model) }
}

// Moments lists what should be seen at least once in some seed on a profile, in order.
func Moments(p *contract.Profile) []string {
	var all []string
	for _, m := range watched {
		if m.on(p) {
			all = append(all, m.name)
		}
	}
	return all
}

// closeBy is how near the end of a lease is just before or after it: this part of the lease.
const closeBy = 20

// coverage watches a run for moments, and tells its history from others.
type coverage struct {
	profile *contract.Profile
	seen    [moments]bool
	hands   map[uint32]*hand // by session
	last    map[msg.ID]*held
	print   uint64
}

// hand is what a session holds.
type hand struct {
	all []*held
	// settled: nothing was received since the last settle.
	settled bool
}

// held is a delivery of a session.
type held struct {
	id                      msg.ID
	op, place               uint32
	off, until, lease       int64
	running, done, settling bool
	gone                    bool // settled, or its session ended
	taken                   bool // another has it
	shared                  bool // another got it while its handler ran, which a crash did not end
}

var coveredKinds = history.Only(history.Delivery, history.HandlerStart, history.HandlerEnd, history.SettleStart, history.SettleAnswer,
	history.Revoke, history.SessionClose)

// cover watches a run.
func cover(run *history.Run, p *contract.Profile) (*coverage, error) {
	c := &coverage{profile: p, hands: map[uint32]*hand{}, last: map[msg.ID]*held{}}
	return c, run.Each(coveredKinds, c.observe)
}

// names of what was seen, in the order of the table.
func (c *coverage) names() []string {
	var all []string
	for m, seen := range c.seen {
		if seen && watched[m].on(c.profile) {
			all = append(all, watched[m].name)
		}
	}
	return all
}

func (c *coverage) see(m moment, really bool) { c.seen[m] = c.seen[m] || really }

func (c *coverage) observe(e *history.Event) {
	c.mark(e)
	h := c.hands[e.Session]
	if h == nil {
		h = new(hand)
		c.hands[e.Session] = h
	}
	switch e.Kind {
	case history.Delivery:
		c.delivered(h, e)
	case history.Revoke:
		c.revoked(h, e)
	case history.SessionClose:
		c.ended(h, e)
	default:
		if d := h.find(e.Op); d != nil {
			c.worked(h, d, e)
		}
	}
}

// mark mixes an event into the print of the history: when, what, who, which. The factor is
// that of FNV-1a.
func (c *coverage) mark(e *history.Event) {
	for _, v := range [4]uint64{uint64(e.T), uint64(e.Kind), uint64(e.Session), e.Seq} {
		c.print = bits.RotateLeft64((c.print^v)*0x100000001b3, 29)
	}
}

func (h *hand) find(op uint32) *held {
	for _, d := range slices.Backward(h.all) {
		if d.op == op {
			return d
		}
	}
	return nil
}

func (c *coverage) delivered(h *hand, e *history.Event) {
	h.all = slices.DeleteFunc(h.all, func(d *held) bool { return d.gone && !d.running })
	h.settled = false
	d := &held{id: e.ID(), op: e.Op, place: e.Place, off: e.Off, until: e.Until}
	if e.Until > 0 {
		d.lease = e.Until - e.T
	}
	if before := c.last[d.id]; before != nil {
		before.taken, before.shared = true, before.running
	}
	c.last[d.id] = d
	h.all = append(h.all, d)
}

// worked follows a delivery through handler and settle.
func (c *coverage) worked(h *hand, d *held, e *history.Event) {
	switch e.Kind {
	case history.HandlerStart:
		d.running = true
	case history.HandlerEnd:
		d.running, d.done = false, !e.Has(history.Failed)
		c.see(againWhileRunning, d.shared)
		c.see(readWhileRunning, d.shared)
	case history.SettleStart:
		c.race(d, e)
		d.settling = e.Verb != history.VerbExtend
	case history.SettleAnswer:
		c.answered(h, d, e)
	}
}

// race looks at how a settle or an extension met the end of the lease.
func (c *coverage) race(d *held, e *history.Event) {
	if d.until == 0 {
		return
	}
	left, near := d.until-e.T, d.lease/closeBy
	before, after := settledBefore, settledAfter
	if e.Verb == history.VerbExtend {
		before, after = extendedBefore, extendedAfter
		near = max(near, -left)
	}
	c.see(before, left >= 0 && left <= near)
	c.see(after, left < 0 && -left <= near)
	c.see(settledStale, d.taken && e.Verb != history.VerbExtend)
}

func (c *coverage) answered(h *hand, d *held, e *history.Event) {
	d.settling = false
	ok := e.Class == contract.OK || e.Class == contract.AcceptedOnly
	switch {
	case e.Verb == history.VerbExtend:
		if ok {
			d.until, d.lease = e.Until, cmp.Or(e.Until-e.T, d.lease)
		}
	case !ok:
		c.see(commitFenced, e.Verb == history.VerbCommit && e.Class == contract.Rejected)
	case e.Verb == history.VerbCommit || e.Verb == history.VerbMark:
		for _, other := range h.all {
			other.gone = other.gone || other.place == d.place && other.off < e.Off
		}
		h.settled = true
	default:
		d.gone, h.settled = true, true
	}
}

func (c *coverage) revoked(h *hand, e *history.Event) {
	for _, d := range h.all {
		if d.gone || d.place != e.Place {
			continue
		}
		c.see(revokedRunning, d.running)
		c.see(revokedUncommitted, true)
		c.see(revokedCommitting, d.settling)
	}
}

// ended looks at what a session had in hand when it crashed or was ended.
func (c *coverage) ended(h *hand, e *history.Event) {
	var holds, running, done, settling int
	for _, d := range h.all {
		if d.gone {
			continue
		}
		holds++
		running, done, settling = running+count(d.running), done+count(d.done), settling+count(d.settling)
		d.gone, d.running = true, false
	}
	if !e.Has(history.Crashed) {
		c.see(sessionEnded, holds > 0)
		return
	}
	c.see(crashIdle, holds == 0)
	c.see(crashReceived, holds > 0 && running+done == 0)
	c.see(crashHandling, running > 0)
	c.see(crashMidBatch, done > 0 && done < holds)
	c.see(crashHandled, done > 0 && done == holds && settling == 0)
	c.see(crashSettling, settling > 0)
	c.see(crashSettled, h.settled)
}

func count(yes bool) int {
	if yes {
		return 1
	}
	return 0
}
