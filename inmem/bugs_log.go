// SPDX-License-Identifier: Apache-2.0

package inmem

import "github.com/seed-720a3c77/harness/broker"

// strikes is Machine.strikes for the record at an offset; without one, nothing strikes.
func (t *topic) strikes(name BugName, partition int32, offset int64) bool {
	if t.logs.m.bugs == nil || partition < 0 || int(partition) >= len(t.partitions) {
		return false
	}
	r := &t.partitions[partition].records
	return offset >= r.start && offset < r.end && t.logs.m.strikes(name, r.at(offset).id)
}

// misread hands out the next record or records past the planted bugs, and returns how many.
func (cl *claim) misread(into []broker.Delivery) int {
	t, i := cl.p.topic, cl.p.index
	switch {
	case t.strikes(SkipRecord, i, cl.pos):
		cl.pos++
		return 0
	case len(into) > 1 && cl.pos+1 < cl.fetched && t.strikes(SwapRecords, i, cl.pos):
		cl.hand(&into[1])
		cl.hand(&into[0])
		return 2
	}
	cl.hand(&into[0])
	if cl.pos > cl.reread && t.strikes(RereadRecord, i, cl.pos-1) {
		cl.reread = cl.pos
		cl.pos--
	}
	return 1
}

// misplace is where a new owner starts instead of the committed position.
func (p *partition) misplace(at int64) int64 {
	switch {
	case p.topic.strikes(HoleAtTakeover, p.index, at):
		return at + 1
	case p.topic.strikes(BehindCommitted, p.index, at-1):
		return at - 1
	default:
		return at
	}
}

// miscommit is what is committed instead of a position.
func (g *group) miscommit(partition int32, next int64) int64 {
	t := g.topic
	switch {
	case t.strikes(CommitIgnored, partition, next-1):
		return g.committed[partition]
	case g.committed[partition] > 0 && t.strikes(CommitBack, partition, next-1):
		return g.committed[partition] - 1
	case t.strikes(CommitAhead, partition, next):
		return next + 1
	default:
		return next
	}
}

// keepSome leaves some of the claims that are to be dropped where they are.
func (c *logConsumer) keepSome(chosen func(*claim) bool) func(*claim) bool {
	for _, cl := range c.claims {
		if chosen(cl) && c.topic.strikes(DoubleOwner, cl.p.index, cl.p.records.end-1) {
			cl.kept = true
		}
	}
	return func(cl *claim) bool { return chosen(cl) && !cl.kept }
}
