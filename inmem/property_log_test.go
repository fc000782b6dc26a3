// SPDX-License-Identifier: Apache-2.0

package inmem

import (
	"fmt"
	"strconv"
	"testing"
	"time"

	"github.com/seed-720a3c77/harness/broker"
	"github.com/seed-720a3c77/harness/contract/profiles"
	"pgregory.net/rapid"
)

// naiveLog is a log with one group as one would write it first. It does not predict who
// gets a partition when: it learns that from the notices, and holds every read, commit
// and assignment to the rules.
type naiveLog struct {
	partitions [][]string
	committed  []int64
	members    map[string]*naiveMember
}

type naiveMember struct {
	generation int32
	// pos and floor are where it reads next, and what it has committed or started from, of
	// each partition that it holds.
	pos, floor map[int32]int64
	gone       bool
}

// TestLogAgainstNaive lets members come, go, freeze and work in any order.
func TestLogAgainstNaive(t *testing.T) {
	for _, strategy := range []string{rangeStrategy, roundRobinStrategy, stickyStrategy, cooperativeSticky} {
		t.Run(strategy, rapid.MakeCheck(func(t *rapid.T) {
			t.Repeat(rapid.StateMachineActions(newLogProperty(t, strategy)))
		}))
	}
}

const naivePartitions = 3

// logProperty has an exported method for each thing that may happen.
type logProperty struct {
	s            *script
	strategy     string
	naive        *naiveLog
	names        []string // members that are there
	held         []heldDelivery
	sent, opened int
}

func newLogProperty(t *rapid.T, strategy string) *logProperty {
	p, _ := profiles.Named("kafka")
	p.Knobs[profiles.ClaimStart] = "0s"
	p.Knobs[profiles.BufferedAfterLoss] = "0"
	s := newScriptOf(t, p, Options{}, broker.Destination{Name: "q", Partitions: naivePartitions})
	naive := &naiveLog{
		partitions: make([][]string, naivePartitions), committed: make([]int64, naivePartitions),
		members: map[string]*naiveMember{},
	}
	s.onNotice = func(name string, n broker.Notice) { naive.hear(t, name, n) }
	return &logProperty{s: s, strategy: strategy, naive: naive}
}

// pick is one of the members, or "".
func (p *logProperty) pick(t *rapid.T) string {
	if len(p.names) == 0 {
		return ""
	}
	return p.names[rapid.IntRange(0, len(p.names)-1).Draw(t, "member")]
}

func (p *logProperty) Send(t *rapid.T) {
	partition := rapid.IntRange(0, naivePartitions-1).Draw(t, "partition")
	p.sent++
	p.s.send([]string{fmt.Sprintf("a%d,part:%d", p.sent, partition)})
	p.naive.partitions[partition] = append(p.naive.partitions[partition], "a"+strconv.Itoa(p.sent))
}

func (p *logProperty) Join(t *rapid.T) {
	if len(p.names) == 4 {
		return
	}
	p.opened++
	name := "M" + strconv.Itoa(p.opened)
	c, err := p.s.m.OpenConsumer(p.s.now, broker.ConsumerSpec{Name: name, From: "q", Group: "g", Batch: 2, Strategy: p.strategy})
	if err != nil {
		t.Fatal(err)
	}
	p.s.sessions[name] = c
	p.naive.members[name] = &naiveMember{pos: map[int32]int64{}, floor: map[int32]int64{}}
	p.names = append(p.names, name)
}

func (p *logProperty) Receive(t *rapid.T) {
	name := p.pick(t)
	if name == "" {
		return
	}
	into := make([]broker.Delivery, rapid.IntRange(1, 4).Draw(t, "n"))
	n, err := p.s.m.Receive(p.s.now, p.s.sessions[name], 0, into)
	if err != nil {
		t.Fatal(err)
	}
	p.s.hear()
	for _, d := range into[:n] {
		p.naive.read(t, name, d)
		p.held = append(p.held, heldDelivery{name, d})
	}
}

func (p *logProperty) Commit(t *rapid.T) {
	if len(p.held) == 0 {
		return
	}
	h := p.held[rapid.IntRange(0, len(p.held)-1).Draw(t, "delivery")]
	result := []error{nil}
	p.s.m.Settle(p.s.now, p.s.sessions[h.member], []broker.Settlement{{Verb: broker.Commit, Token: h.delivery.Token}}, result)
	p.naive.commit(t, h, outcome(result[0]))
}

func (p *logProperty) Beat(t *rapid.T) {
	if name := p.pick(t); name != "" {
		p.s.m.Heartbeat(p.s.now, p.s.sessions[name])
	}
}

func (p *logProperty) Leave(t *rapid.T) {
	if name := p.pick(t); name != "" {
		p.s.run(rapid.SampledFrom([]string{"leave ", "vanish "}).Draw(t, "how") + name)
		p.naive.members[name].gone = true
		p.names = without(p.names, name)
	}
}

func (p *logProperty) Wait(t *rapid.T) {
	p.s.until(p.s.now + rapid.SampledFrom([]time.Duration{time.Second, 4 * time.Second, time.Minute}).Draw(t, "time"))
}

func (p *logProperty) Check(t *rapid.T) {
	p.s.hear()
	p.naive.check(t, p.s)
}

type heldDelivery struct {
	member   string
	delivery broker.Delivery
}

func without(names []string, name string) (rest []string) {
	for _, other := range names {
		if other != name {
			rest = append(rest, other)
		}
	}
	return rest
}

func (l *naiveLog) hear(t *rapid.T, name string, n broker.Notice) {
	m := l.members[name]
	if m == nil {
		return
	}
	switch n.Kind {
	case broker.SessionOpen:
		m.generation = n.Generation
	case broker.Assigned:
		if n.Offset != l.committed[n.Partition] {
			t.Fatalf("%s starts partition %d at %d, committed is %d", name, n.Partition, n.Offset, l.committed[n.Partition])
		}
		m.pos[n.Partition], m.floor[n.Partition] = n.Offset, n.Offset
	case broker.Revoked, broker.Lost:
		delete(m.pos, n.Partition)
	}
}

// read: offsets of a partition come without a hole or a repetition, and carry what was
// stored there.
func (l *naiveLog) read(t *rapid.T, name string, d broker.Delivery) {
	pos, holds := l.members[name].pos[d.Token.Partition]
	if !holds || d.Token.Offset != pos {
		t.Fatalf("%s read offset %d of partition %d, its position is %d (held: %t)", name, d.Token.Offset, d.Token.Partition, pos, holds)
	}
	if want := l.partitions[d.Token.Partition][pos]; nameOf(d.ID) != want {
		t.Fatalf("offset %d of partition %d is %s, want %s", pos, d.Token.Partition, nameOf(d.ID), want)
	}
	l.members[name].pos[d.Token.Partition]++
}

// commit: what was accepted is the position; nobody commits for a partition that another
// member has been given since.
func (l *naiveLog) commit(t *rapid.T, h heldDelivery, result string) {
	partition, next := h.delivery.Token.Partition, h.delivery.Token.Offset+1
	m := l.members[h.member]
	switch result {
	case "ok":
		for name, other := range l.members {
			if _, holds := other.pos[partition]; holds && !other.gone && name != h.member && other.generation > m.generation {
				t.Fatalf("%s commits partition %d, which %s holds in generation %d", h.member, partition, name, other.generation)
			}
		}
		if floor, holds := m.floor[partition]; holds {
			next = max(next, floor)
		}
		m.floor[partition] = next
		l.committed[partition] = next
	case "stale", "closed":
	default:
		t.Fatalf("commit: %s", result)
	}
}

func (l *naiveLog) check(t *rapid.T, s *script) {
	topic := s.m.model.(*logs).topics["q"]
	var start, committed, end int64
	for i, records := range l.partitions {
		committed += l.committed[i]
		end += int64(len(records))
		if g := topic.groups["g"]; g != nil {
			l.owners(t, s, g, int32(i))
		}
	}
	if got, want := s.depth([]string{"q", "g"}), fmt.Sprintf("%d/%d/%d", start, committed, end); got != want {
		t.Fatalf("depth %s, want %s", got, want)
	}
}

// owners: of the members that the coordinator knows in this generation, one at most has
// been given a partition.
func (l *naiveLog) owners(t *rapid.T, s *script, g *group, partition int32) {
	var owners []string
	for _, mem := range g.members {
		if mem.client != nil && mem.client.generation == g.generation && mem.client.claimOf(partition) != nil {
			owners = append(owners, mem.id)
		}
	}
	if len(owners) > 1 {
		t.Fatalf("at %v partition %d is held by %v in generation %d", s.now, partition, owners, g.generation)
	}
}
