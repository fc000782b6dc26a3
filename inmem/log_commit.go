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
	cl, err := c.group.fence(c.signed(t))
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

// signed is a token in the name of the generation that its client is in, where a cooperative
// one has kept the partition.
func (c *logConsumer) signed(t *broker.Token) *broker.Token {
	cl := c.claimOf(t.Partition)
	if !c.cooperative() || cl == nil || t.Member != c.spec.Name || t.Generation < cl.since {
		return t
	}
	now := *t
	now.Generation = c.generation
	return &now
}

// fence refuses a token of a former member or generation, and one of a member that has asked to
// join the next one: what it sends is behind that on its connection. Else it shows life, and the
// result is the client's claim on the partition, nil where that is given back.
// https://kafka.apache.org/protocol#The_Messages_OffsetCommit
func (g *group) fence(t *broker.Token) (*claim, error) {
	if t.Partition < 0 || int(t.Partition) >= len(g.committed) {
		return nil, refused("commit", unknownPartition, broker.ErrStale)
	}
	mem := g.memberOf(t.Member)
	if mem == nil || mem.client == nil {
		return nil, refused("commit", unknownMember, broker.ErrStale)
	}
	switch {
	case mem.joined:
		return nil, refused("commit", rebalanceInProgress, broker.ErrStale)
	case t.Generation != g.generation:
		return nil, refused("commit", illegalGeneration, broker.ErrStale)
	}
	mem.alive()
	return mem.client.claimOf(t.Partition), nil
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
