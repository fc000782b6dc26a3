// SPDX-License-Identifier: Apache-2.0

package inmem

import "github.com/seed-720a3c77/harness/broker"

// Codes of the coordinator, as in the Kafka protocol.
const (
	illegalGeneration   = "KError 22"
	inconsistentGroup   = "KError 23"
	unknownMember       = "KError 25"
	rebalanceInProgress = "KError 27"
	fencedInstance      = "KError 82"
	unknownPartition    = "KError 3"
)

// commit moves the group's position behind a delivery, if the token is not stale.
func (c *logConsumer) commit(t *broker.Token) error {
	if c.group == nil {
		return errNoGroup
	}
	cl, err := c.group.fence(t)
	if err != nil && !c.topic.strikes(ZombieCommit, t.Partition, t.Offset) {
		return err
	}
	next := t.Offset + 1
	if cl != nil { // nil under a planted bug, and where it is given back already
		if !c.m.rules.commitBackward {
			next = max(next, cl.marked)
		}
		cl.marked, cl.dirty = next, false
	}
	c.group.commit(t.Partition, next)
	return nil
}

// mark remembers the position behind a delivery for the automatic commit. A mark of a
// partition that is no longer held is ignored, as the client does.
func (c *logConsumer) mark(t *broker.Token) {
	cl := c.claimOf(t.Partition)
	if cl != nil && t.Member == c.spec.Name && t.Generation >= cl.since {
		cl.marked, cl.dirty = max(cl.marked, t.Offset+1), true
	}
}

// autoCommit commits what is marked. The coordinator refuses a client that is no member
// any more, and nobody is told.
func (c *logConsumer) autoCommit() {
	if c.spec.AutoCommit == 0 || c.member == nil || !c.group.knows(c.member) {
		return
	}
	for _, cl := range c.claims {
		if cl.dirty {
			cl.dirty = false
			c.group.commit(cl.p.index, cl.marked)
		}
	}
}

// fence refuses a token of a former member or generation, and one of a partition that its
// client has given back, unless it has not joined again since. Otherwise it returns the
// client's claim on the partition, nil where that is given back.
func (g *group) fence(t *broker.Token) (*claim, error) {
	if t.Partition < 0 || int(t.Partition) >= len(g.committed) {
		return nil, refused("commit", unknownPartition, broker.ErrStale)
	}
	mem := g.memberOf(t.Member)
	if mem == nil || mem.client == nil {
		return nil, refused("commit", unknownMember, broker.ErrStale)
	}
	cl := mem.client.claimOf(t.Partition)
	switch {
	case cl == nil && mem.client.releasing.armed() && t.Generation == g.generation:
		return nil, nil
	case cl == nil:
		return nil, refused("commit", rebalanceInProgress, broker.ErrStale)
	case t.Generation < cl.since:
		// A cooperative member keeps a claim over generations, an eager one does not.
		return nil, refused("commit", illegalGeneration, broker.ErrStale)
	default:
		return cl, nil
	}
}

func (g *group) commit(partition int32, next int64) {
	m := g.topic.logs.m
	if m.bugs != nil {
		next = g.miscommit(partition, next)
	}
	if m.oracle != nil {
		g.tellSettled(partition, next)
	}
	g.committed[partition] = next
}

func (g *group) tellSettled(partition int32, next int64) {
	p := g.topic.partitions[partition]
	from := max(g.committed[partition], p.records.start)
	for offset := from; offset < min(next, p.records.end); offset++ {
		if p.isolation.hidden[offset] != nobody {
			continue
		}
		g.topic.logs.m.tell(OracleEvent{Kind: Settled, ID: p.records.at(offset).id, Where: g.topic.name, Partition: partition, Offset: offset, Why: g.name})
	}
}
