// SPDX-License-Identifier: Apache-2.0

package inmem

import (
	"errors"
	"slices"
	"time"

	"github.com/seed-720a3c77/harness/broker"
)

// group is the coordinator of one consumer group of one topic (the classic protocol of
// Kafka): members, generations and committed positions.
//
//	stable --join, leave, expiry--> preparing --all rejoined, or timeout--> stable, generation+1
//
// Members that are not told by their own join learn of a rebalance from their next
// heartbeat.
type group struct {
	topic      *topic
	name       string
	strategy   string
	generation int32
	members    []*member // in the order of their entry
	// committed is the next offset to read of each partition, -1 where there is none.
	committed []int64
	// preparing: members are to rejoin, until the barrier.
	preparing bool
	barrier   deadline
}

// member is what the coordinator knows of a client.
type member struct {
	group   *group
	id      string
	static  string
	client  *logConsumer // nil once it is gone
	timeout time.Duration
	expiry  deadline
	// joined: it waits for the rebalance to complete.
	joined bool
	owned  []int32
	answer answer
}

// answer is what the coordinator has said of a generation, on its way to the member.
type answer struct {
	deadline
	to *member
}

func (a *answer) expire(time.Duration) {
	if mem := a.to; mem.client != nil && mem.group.knows(mem) {
		mem.client.assigned(mem.owned)
		mem.client.m.wake(mem.client.session)
	}
}

var errMixedGroup = errors.New("group protocol type is incompatible")
var errFencedInstance = errors.New("another consumer with the same group.instance.id has registered")

// groupFor is the group of a consumer, which must agree with its members.
func (t *topic) groupFor(c *logConsumer) (*group, error) {
	if !knownStrategy(c.spec.Strategy) {
		return nil, unsupported("assignment strategy " + c.spec.Strategy)
	}
	g := t.groupNamed(c.spec.Group)
	if len(g.members) > 0 && g.strategy != c.spec.Strategy {
		return nil, refused("join", inconsistentGroup, errMixedGroup)
	}
	g.strategy = c.spec.Strategy
	return g, nil
}

// groupNamed is a group, which is made when it is asked for.
func (t *topic) groupNamed(name string) *group {
	g := t.groups[name]
	if g == nil {
		g = &group{topic: t, name: name, committed: make([]int64, len(t.partitions))}
		for i := range g.committed {
			g.committed[i] = -1
		}
		g.barrier.of = g
		t.groups[name] = g
	}
	return g
}

// enter makes a client a member. A static member takes over from its predecessor without
// a rebalance.
func (g *group) enter(c *logConsumer) {
	mem := &member{group: g, id: c.spec.Name, static: c.spec.StaticID, client: c, timeout: c.spec.Session}
	mem.expiry.of = mem
	mem.answer.of, mem.answer.to = &mem.answer, mem
	c.member = mem
	if old := g.predecessor(mem.static); old != nil {
		g.takeOver(old, mem)
		return
	}
	g.members = append(g.members, mem)
	g.join(mem)
}

func (g *group) predecessor(static string) *member {
	i := slices.IndexFunc(g.members, func(other *member) bool { return static != "" && other.static == static })
	if i < 0 {
		return nil
	}
	return g.members[i]
}

func (g *group) takeOver(old, mem *member) {
	g.topic.logs.m.agenda.disarm(&old.expiry)
	g.members[slices.Index(g.members, old)] = mem
	mem.owned = old.owned
	if old.joined || g.preparing {
		g.join(mem)
		return
	}
	mem.alive()
	mem.hears(drawn(g.topic.logs.m.pace.Rebalance))
}

// hears tells a member its partitions, as soon as the answers of the coordinator are there.
func (mem *member) hears(after time.Duration) {
	m := mem.group.topic.logs.m
	if m.pace.Rebalance == nil {
		mem.client.assigned(mem.owned)
		return
	}
	m.wake(mem.client.session)
	m.agenda.arm(&mem.answer.deadline, m.now+after+drawn(m.pace.Answer))
}

// join is a member's request to take part in the next generation.
func (g *group) join(mem *member) {
	if !g.knows(mem) {
		return // its next heartbeat tells
	}
	mem.joined = true
	g.topic.logs.m.agenda.disarm(&mem.expiry)
	g.prepare()
	g.tryComplete()
}

// prepare begins a rebalance, unless one has begun.
func (g *group) prepare() {
	if g.preparing || len(g.members) == 0 {
		return
	}
	m := g.topic.logs.m
	g.preparing = true
	m.agenda.arm(&g.barrier, m.now+m.rules.rebalance)
}

func (g *group) tryComplete() {
	if !slices.ContainsFunc(g.members, func(mem *member) bool { return !mem.joined }) {
		g.complete()
	}
}

// expire ends a rebalance, without those that did not rejoin in time.
func (g *group) expire(time.Duration) {
	for _, mem := range g.members {
		if !mem.joined {
			g.topic.logs.m.agenda.disarm(&mem.expiry)
		}
	}
	g.members = slices.DeleteFunc(g.members, func(mem *member) bool { return !mem.joined })
	g.complete()
}

func (g *group) complete() {
	g.topic.logs.m.agenda.disarm(&g.barrier)
	g.preparing = false
	if len(g.members) == 0 {
		return
	}
	g.generation++
	g.assign()
	for _, mem := range g.members {
		mem.joined = false
		mem.alive()
	}
	after := drawn(g.topic.logs.m.pace.Rebalance)
	for _, mem := range slices.Clone(g.members) {
		if mem.client != nil {
			mem.hears(after)
		}
	}
}

// remove takes a member out: it left or its session ended.
func (g *group) remove(mem *member) {
	if !g.knows(mem) {
		return
	}
	g.topic.logs.m.agenda.disarm(&mem.expiry)
	g.members = slices.DeleteFunc(g.members, func(other *member) bool { return other == mem })
	g.prepare()
	if g.preparing {
		g.tryComplete()
	}
}

// expire ends the session of a member that has been silent.
func (mem *member) expire(time.Duration) { mem.group.remove(mem) }

// alive moves the end of the session.
func (mem *member) alive() {
	m := mem.group.topic.logs.m
	m.agenda.arm(&mem.expiry, m.now+mem.timeout)
}

func (g *group) knows(mem *member) bool { return slices.Contains(g.members, mem) }

func (g *group) memberOf(id string) *member {
	i := slices.IndexFunc(g.members, func(mem *member) bool { return mem.id == id })
	if i < 0 {
		return nil
	}
	return g.members[i]
}

// heartbeat shows life and learns what happened since the last one.
func (c *logConsumer) heartbeat() {
	mem := c.member
	if mem == nil || mem.joined || mem.answer.armed() {
		return
	}
	switch {
	case c.group.predecessor(mem.static) != nil && !c.group.knows(mem):
		c.failed = &broker.Error{Op: "heartbeat", Code: fencedInstance, Err: errFencedInstance}
		c.lose(fencedInstance, errFencedInstance.Error())
		c.duty = noDuty
	case !c.group.knows(mem):
		c.lose(unknownMember, "not known in the current generation")
	default:
		mem.alive()
		if c.group.preparing && !c.releasing.armed() && !c.leaving {
			c.rebalancing()
		}
	}
}

// rebalancing is the client's answer to a rebalance that has begun. An eager one gives
// all partitions back first, a cooperative one keeps them and joins at once.
func (c *logConsumer) rebalancing() {
	switch {
	case c.duty != noDuty:
	case c.cooperative():
		c.rejoin()
	default:
		c.owe(revoke)
	}
}

// assigned is the coordinator's answer to a join.
func (c *logConsumer) assigned(partitions []int32) {
	c.generation = c.group.generation
	if !c.opened { // a cooperative session outlives its generation
		c.opened = true
		c.m.notify(c.session, broker.Notice{Kind: broker.SessionOpen, Generation: c.generation, Text: c.spec.Strategy})
	}
	for _, i := range partitions {
		if c.claimOf(i) == nil {
			at, why := c.position(c.topic.partitions[i])
			c.start(c.topic.partitions[i], at, why)
		}
	}
	leaving := false
	for _, cl := range c.claims {
		cl.leaving = !slices.Contains(partitions, cl.p.index) && !cl.kept
		leaving = leaving || cl.leaving
	}
	if leaving {
		c.owe(release)
		return
	}
	c.wake()
}

// position is where a new claim begins: the group's position, or else where a group
// without one does. A position that is out of range is passed over in silence.
func (c *logConsumer) position(p *partition) (int64, string) {
	at := c.group.committed[p.index]
	if at >= p.records.start && at <= p.records.end {
		return p.misplace(at), "committed"
	}
	initial, why := c.initial(p)
	if at >= 0 {
		why = "committed position out of range: " + why
	}
	return initial, why
}
