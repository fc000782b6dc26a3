// SPDX-License-Identifier: Apache-2.0

package inmem

import (
	"cmp"
	"slices"
	"time"

	"github.com/seed-720a3c77/harness/broker"
)

// duty is what a client has to do as soon as its owner is not busy with a handler, that
// is inside a receive.
type duty uint8

const (
	noDuty duty = iota
	// revoke: an eager rebalance wants all partitions back.
	revoke
	// release: a cooperative rebalance wants some back.
	release
	// rejoin: membership was lost.
	rejoin
)

// logConsumer is a client of a log: a member of a group, or a reader without one.
type logConsumer struct {
	m       *Machine
	session Session
	spec    broker.ConsumerSpec
	reader  reader
	// committed: it reads what is committed, and nothing of an open transaction.
	committed bool
	topic     *topic
	group     *group  // nil without one
	member    *member // nil while not joined
	// generation is the one the client knows of.
	generation int32
	claims     []*claim
	turn       int
	buffer     int
	// orphans are buffered records of lost partitions that are still handed out.
	orphans []*claim
	duty    duty
	// shelf is its claims' shared buffer, if they have one.
	shelf *shelf
	// opened: its session has begun.
	opened bool
	// releasing is until its next join is with the coordinator. leaving: there is none.
	releasing deadline
	leaving   bool
	waiting   bool
	paused    bool
	failed    error
}

func (l *logs) open(s Session, spec broker.ConsumerSpec) (consumer, error) {
	t := l.topics[spec.From]
	c := &logConsumer{m: l.m, session: s, spec: spec, topic: t, reader: reader{run: spec.Run}, committed: spec.Isolation == ""}
	c.buffer = cmp.Or(spec.Prefetch, spec.Batch, l.m.rules.clientBuffer)
	if l.m.rules.sharedBuffer {
		c.shelf, c.buffer = &shelf{room: cmp.Or(spec.Prefetch, spec.Batch, 1)}, l.m.rules.clientBuffer
	}
	if spec.Session == 0 {
		c.spec.Session = l.m.rules.Session.Floor
	}
	if spec.Strategy == "" {
		c.spec.Strategy = l.m.rules.strategy
	}
	if spec.Group == "" {
		c.readAll()
		return c, nil
	}
	g, err := t.groupFor(c)
	if err != nil {
		return nil, err
	}
	c.group = g
	g.enter(c)
	return c, nil
}

// readAll is the audit: every partition, from the start position, without a group.
func (c *logConsumer) readAll() {
	for _, p := range c.topic.partitions {
		at, why := c.initial(p)
		c.start(p, at, why)
	}
}

// initial is where to begin without a position.
func (c *logConsumer) initial(p *partition) (int64, string) {
	if c.spec.Start == broker.Latest {
		return p.records.end, "latest"
	}
	return p.records.start, "earliest"
}

func (c *logConsumer) receive(_ time.Duration, into []broker.Delivery) (int, error) {
	c.waiting = false
	if n := c.handOrphans(into); n > 0 {
		return n, nil
	}
	c.perform()
	switch {
	case c.failed != nil:
		return 0, c.failed
	case c.topic.removed:
		return 0, notFound(c.topic.name)
	}
	n := 0
	if c.shelf != nil {
		n = c.receiveShared(into)
		c.waiting = n == 0
		return n, nil
	}
	for range c.claims {
		n += c.claims[c.turn%len(c.claims)].take(into[n:])
		c.turn++
		if n == len(into) {
			break
		}
	}
	c.waiting = n == 0
	return n, nil
}

// handOrphans hands out what is left of lost partitions.
func (c *logConsumer) handOrphans(into []broker.Delivery) int {
	n := 0
	for len(c.orphans) > 0 && n < len(into) {
		cl := c.orphans[0]
		n += cl.take(into[n:])
		if cl.pos == cl.fetched {
			c.orphans = c.orphans[1:]
		}
	}
	return n
}

func (c *logConsumer) buffered() bool {
	if len(c.orphans) > 0 || c.failed != nil || c.shelf != nil && len(c.shelf.queue) > 0 {
		return true
	}
	return slices.ContainsFunc(c.claims, func(cl *claim) bool { return cl.pos < cl.fetched })
}

func (c *logConsumer) unwait(bool) { c.waiting = false }

// wake tells a waiting owner that there may be something.
func (c *logConsumer) wake() {
	if c.waiting {
		c.waiting = false
		if c.shelf != nil {
			c.shelf.called = true
		}
		c.m.wake(c.session)
	}
}

// owe sets a duty. An owner that waits in a receive does it at once, and so does every client
// that asks nobody.
func (c *logConsumer) owe(d duty) {
	c.duty = d
	if c.waiting || c.m.rules.revokesAtOnce {
		c.perform()
		c.wake()
	}
}

func (c *logConsumer) perform() {
	d := c.duty
	c.duty = noDuty
	switch d {
	case revoke:
		c.autoCommit()
		c.drop(func(*claim) bool { return true }, broker.Revoked, "rebalance")
		c.rejoin()
	case release:
		c.autoCommit()
		c.drop(func(cl *claim) bool { return cl.leaving }, broker.Revoked, "rebalance")
		c.rejoin()
	case rejoin:
		c.group.enter(c)
	}
}

// rejoin joins, an eager client as soon as it has put its session away.
func (c *logConsumer) rejoin() {
	if c.m.pace.Release == nil {
		c.expire(c.m.now)
		return
	}
	c.releasing.of = c
	c.m.agenda.arm(&c.releasing, c.m.now+c.m.pace.Release())
}

func (c *logConsumer) expire(time.Duration) {
	if c.member == nil {
		return
	}
	if !c.cooperative() && len(c.claims) == 0 { // a planted bug may have kept some
		c.closeSession(rebalanceInProgress, "a rebalance is in progress")
	}
	c.group.join(c.member)
}

func (c *logConsumer) closeSession(code, why string) {
	c.opened = false
	c.m.notify(c.session, broker.Notice{Kind: broker.SessionClose, Generation: c.generation, Code: code, Text: why})
}

// giveBack ends every claim of a member that leaves.
func (c *logConsumer) giveBack() {
	c.autoCommit()
	c.m.agenda.disarm(&c.releasing)
	c.drop(func(*claim) bool { return true }, broker.Revoked, "left the group")
	c.leaving = true
}

// drop ends the claims that are chosen, with what they have buffered.
func (c *logConsumer) drop(chosen func(*claim) bool, kind broker.NoticeKind, why string) {
	if c.m.bugs != nil {
		chosen = c.keepSome(chosen)
	}
	for _, cl := range c.claims {
		if chosen(cl) {
			cl.stop()
			if cl.told {
				c.notify(kind, cl, why)
			}
		}
	}
	c.claims = slices.DeleteFunc(c.claims, chosen)
}

// lose is how a client learns that it is no member any more. Some buffered records of
// each partition are handed out all the same.
func (c *logConsumer) lose(code, why string) {
	c.member = nil
	for _, cl := range c.claims {
		cl.fetched = min(cl.fetched, cl.pos+int64(c.m.rules.zombies))
		if cl.pos < cl.fetched {
			c.orphans = append(c.orphans, cl)
		}
	}
	c.drop(func(*claim) bool { return true }, broker.Lost, why)
	c.closeSession(code, why)
	c.owe(rejoin)
}

func (c *logConsumer) notify(kind broker.NoticeKind, cl *claim, why string) {
	c.m.notify(c.session, broker.Notice{Kind: kind, Partition: cl.p.index, Generation: c.generation, Offset: cl.pos, Text: why})
}

func (c *logConsumer) claimOf(partition int32) *claim {
	for _, cl := range c.claims {
		if cl.p.index == partition {
			return cl
		}
	}
	return nil
}

func (c *logConsumer) seek(partition int32, offset int64) error {
	cl := c.claimOf(partition)
	if cl == nil {
		return refused("seek", "partition not held", broker.ErrStale)
	}
	offset = min(max(offset, cl.p.records.start), cl.p.records.end)
	cl.dirty = cl.dirty || offset < cl.marked
	cl.pos, cl.fetched, cl.marked = offset, offset, offset
	c.shelf.drop(cl)
	return nil
}

func (c *logConsumer) pause(paused bool) error {
	c.paused = paused
	if !paused {
		c.wake()
	}
	return nil
}

func (c *logConsumer) leave() {
	c.autoCommit()
	c.stop()
	if c.member != nil && c.member.static == "" {
		c.group.remove(c.member)
	}
}

func (c *logConsumer) vanish() { c.stop() }

func (c *logConsumer) stop() {
	for _, cl := range c.claims {
		cl.stop()
	}
	c.m.agenda.disarm(&c.releasing)
	c.claims, c.orphans, c.waiting = nil, nil, false
	c.failed = closed("receive", "")
	if c.member != nil {
		c.member.client = nil
	}
}

func (c *logConsumer) settle(s *broker.Settlement) error {
	switch s.Verb {
	case broker.Commit:
		return c.commit(&s.Token)
	case broker.Mark:
		c.mark(&s.Token)
		return nil
	default:
		return unsettleable(s)
	}
}

func (c *logConsumer) cooperative() bool { return c.spec.Strategy == cooperativeSticky }

var errNoGroup = refused("commit", "no group", broker.ErrUnsupported)
