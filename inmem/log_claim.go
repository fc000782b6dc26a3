// SPDX-License-Identifier: Apache-2.0

package inmem

import (
	"slices"
	"time"

	"github.com/seed-720a3c77/harness/broker"
)

// claim is a consumer's hold on a partition: where it reads and what it has fetched ahead.
// The client's buffer is a range of offsets, since records do not change.
type claim struct {
	of *logConsumer
	p  *partition
	// pos is the next offset to hand out, fetched the end of the buffer.
	pos, fetched int64
	// marked is the position that an automatic commit would commit, if it is dirty.
	marked int64
	dirty  bool
	// since is the generation in which the partition was assigned.
	since int32
	// told: its consumer knows of it. open: it has started to fetch. leaving: a cooperative
	// rebalance wants it back. kept: a planted bug left it here.
	told, open, leaving, kept bool
	opening                   deadline
	// why tells where it began. shelved counts its records in the shared buffer, those of its era:
	// what was put there before a seek or the end of the claim is not handed out.
	why          string
	shelved, era int
	// reread is the position behind the record that a planted bug handed out again.
	reread int64
}

// start begins a claim at an offset. Why goes into the notice.
func (c *logConsumer) start(p *partition, at int64, why string) {
	takes := drawn(c.m.pace.Claim)
	if slices.ContainsFunc(c.claims, func(other *claim) bool { return other.open }) {
		takes = drawn(c.m.pace.Added)
	}
	cl := &claim{of: c, p: p, pos: at, fetched: at, marked: at, since: c.generation, why: why}
	cl.opening.of = cl
	c.claims = append(c.claims, cl)
	p.claims = append(p.claims, cl)
	switch {
	case c.group == nil:
		cl.open = true
	case takes > 0:
		c.m.agenda.arm(&cl.opening, c.m.now+takes)
	default:
		cl.tell()
	}
}

// tell lets the consumer know of the claim, which fetches from then on, or a little later.
func (cl *claim) tell() {
	cl.told = true
	cl.of.notify(broker.Assigned, cl, cl.why)
	if delay := cl.of.m.rules.claimStart; delay > 0 {
		cl.of.m.agenda.arm(&cl.opening, cl.of.m.now+delay)
		return
	}
	cl.fetches()
}

// fetches lets it begin to.
func (cl *claim) fetches() {
	cl.open = true
	if cl.pos < cl.p.records.end {
		cl.of.arrived()
		cl.of.wake()
	}
}

func (cl *claim) expire(time.Duration) {
	if cl.told {
		cl.fetches()
	} else {
		cl.tell()
	}
}

// stop takes the claim out of its partition: nothing is fetched any more.
func (cl *claim) stop() {
	cl.open = false
	cl.of.shelf.drop(cl)
	cl.of.m.agenda.disarm(&cl.opening)
	cl.p.claims = slices.DeleteFunc(cl.p.claims, func(other *claim) bool { return other == cl })
}

// take hands out from the buffer and fetches when that is empty.
func (cl *claim) take(into []broker.Delivery) int {
	n := 0
	for n < len(into) && (cl.pos < cl.fetched || cl.fetch()) {
		if cl.p.isolation.hidden != nil && cl.passesOver() {
			continue
		}
		if cl.of.m.bugs != nil {
			n += cl.misread(into[n:])
			continue
		}
		cl.hand(&into[n])
		n++
	}
	return n
}

func (cl *claim) fetch() bool {
	end := cl.end()
	if !cl.open || cl.of.paused || cl.leaving || cl.pos >= end {
		return false
	}
	cl.pos = max(cl.pos, cl.p.records.start)
	cl.fetched = min(end, cl.pos+int64(cl.of.buffer))
	return cl.pos < end
}

// more tells whether it could put another record into the shared buffer.
func (cl *claim) more() bool {
	return cl.open && !cl.of.paused && !cl.leaving && max(cl.pos, cl.p.records.start)+int64(cl.shelved) < cl.end()
}

func (cl *claim) hand(d *broker.Delivery) {
	c := cl.of
	record := cl.p.records.at(cl.pos)
	record.deliver(d, &c.reader, cl.p.topic.name)
	d.Token.Partition, d.Token.Offset = cl.p.index, cl.pos
	d.Token.Generation, d.Token.Member = c.generation, c.spec.Name
	if c.m.oracle != nil {
		c.m.tell(OracleEvent{Kind: Delivered, ID: record.id, Where: cl.p.topic.name, Session: c.session, Partition: cl.p.index, Offset: cl.pos})
	}
	cl.pos++
}
