// SPDX-License-Identifier: Apache-2.0

package inmem

import "github.com/seed-720a3c77/harness/broker"

// gap is a place that was left free before a producer's record, for somebody else's.
type gap struct {
	offset int64
	by     Session
}

// place is append past the planted bugs.
func (p *partition) place(record payload, from Session) int64 {
	m := p.topic.logs.m
	switch {
	case m.bugs == nil:
	case p.gap != nil && p.gap.by != from:
		return p.fill(record, from)
	case p.gap == nil && m.strikes(LeaveGap, record.id):
		p.gap = &gap{p.records.append(payload{id: markerID}), from}
		p.hide(p.gap.offset, marker)
	}
	return p.append(record, from)
}

// fill stores a record in the gap.
func (p *partition) fill(record payload, from Session) int64 {
	offset := p.gap.offset
	p.gap = nil
	*p.records.at(offset) = record
	delete(p.isolation.hidden, offset)
	p.topic.logs.m.tell(OracleEvent{Kind: Stored, ID: record.id, Where: p.topic.name, Session: from, Partition: p.index, Offset: offset})
	p.wake()
	return offset
}

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
