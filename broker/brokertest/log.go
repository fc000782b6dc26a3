// SPDX-License-Identifier: Apache-2.0

package brokertest

import (
	"slices"
	"time"

	"github.com/seed-720a3c77/harness/broker"
	"github.com/seed-720a3c77/harness/msg"
)

// partitions: messages go where they are pinned, and offsets are dense there.
func partitions(p *probe) {
	to := p.declare(broker.Destination{Partitions: 3})
	s := p.sender()
	want := map[int32][]msg.ID{}
	for i := range 6 {
		m := s.next(to, "")
		m.Partition = int32(i % 2 * 2) // partitions 0 and 2
		receipt := s.sent(m)
		if receipt.Partition != m.Partition || receipt.Offset != int64(i/2) {
			p.errorf("%v pinned to partition %d: receipt has %d at %d, want offset %d", m.ID, m.Partition, receipt.Partition, receipt.Offset, i/2)
		}
		want[m.Partition] = append(want[m.Partition], m.ID)
	}
	got := map[int32][]broker.Delivery{}
	for _, d := range p.receiver(to).take(6) {
		at := d.Token.Partition
		if d.Token.Offset != int64(len(got[at])) {
			p.errorf("%v read at offset %d of partition %d, want %d", d.ID, d.Token.Offset, at, len(got[at]))
		}
		got[at] = append(got[at], d)
	}
	for partition, ids := range want {
		p.wantIDs("of one partition", got[partition], ids)
	}
	p.sameKeySamePartition(s)
}

func (p *probe) sameKeySamePartition(s *sender) {
	to := p.declare(broker.Destination{Partitions: 3})
	seen := map[string]int32{}
	for i := range 12 {
		key := string(rune('a' + i%4))
		receipt := s.sent(s.next(to, key))
		if before, again := seen[key]; again && before != receipt.Partition {
			p.errorf("key %s went to partitions %d and %d", key, before, receipt.Partition)
		}
		seen[key] = receipt.Partition
	}
}

func noPartitions(p *probe) {
	p.refusesDeclare("three partitions", broker.Destination{Partitions: 3})
}

// groups: each group sees everything, the members of one share it.
func groups(p *probe) {
	const n = 12
	to := p.declare(broker.Destination{Partitions: 4})
	s := p.sender()
	a := p.member(to, "shared")
	before := p.spread(s, to, 4)
	first := a.take(4)
	a.done(first...)
	p.wantSet("a member alone", first, before)
	b := p.member(to, "shared")
	p.sharing(a, b, 4)
	all := p.spread(s, to, n)
	first, second := p.takeShared(a, b, n)
	p.wantSet("two members of a group", slices.Concat(first, second), all)
	if len(first) == 0 || len(second) == 0 {
		p.errorf("members read %d and %d messages, want both to share", len(first), len(second))
	}
	a.idle()
	b.idle()
	p.wantSet("a group of its own", p.member(to, "alone").take(4+n), slices.Concat(before, all))
}

// spread sends n messages to four partitions in turn.
func (p *probe) spread(s *sender, to string, n int) (ids []msg.ID) {
	p.r.Helper()
	for i := range n {
		m := s.next(to, "")
		m.Partition = int32(i % 4)
		s.sent(m)
		ids = append(ids, m.ID)
	}
	return ids
}

func (p *probe) member(to, group string) *receiver {
	p.r.Helper()
	spec := p.consumerSpec(to)
	spec.Group = to + "-" + group
	return p.receiverWith(spec)
}

// sharing waits until two members hold the partitions between them.
func (p *probe) sharing(a, b *receiver, partitions int) {
	p.r.Helper()
	p.until("two members share the partitions", func() bool {
		a.idle()
		b.idle()
		return a.holds() > 0 && b.holds() > 0 && a.holds()+b.holds() == partitions
	})
}

// idle is a poll that brings nothing.
func (r *receiver) idle() {
	r.p.r.Helper()
	if early := r.some(1); len(early) > 0 {
		r.p.fatalf("received %v, want nothing yet", deliveredIDs(early))
	}
}

func (p *probe) takeShared(a, b *receiver, n int) (first, second []broker.Delivery) {
	p.r.Helper()
	p.until("everything was read", func() bool {
		first = append(first, a.some(n)...)
		second = append(second, b.some(n)...)
		return len(first)+len(second) >= n
	})
	return first, second
}

// noGroups: consumers compete whatever group they name.
func noGroups(p *probe) {
	const n = 6
	to := p.declare(broker.Destination{})
	a, b := p.member(to, "one"), p.member(to, "two")
	want := idsOf(p.sender().send(to, n))
	first, second := p.takeShared(a, b, n)
	p.wantSet("two consumers of a queue", slices.Concat(first, second), want)
	a.none(quiet)
	b.none(quiet)
}

// offsetCommit: the next member reads on from the position that was committed.
func offsetCommit(p *probe) {
	to := p.declare(broker.Destination{})
	want := idsOf(p.sender().send(to, 5))
	first := p.receiver(to)
	got := first.take(5)
	first.settled(broker.Commit, 0, got[2])
	p.must(first.Close(p.ctx), "close")
	if d := p.depth(to, to+"-g"); d.Committed-d.Start != 3 {
		p.errorf("committed position %d of a log from %d, want 3 after it", d.Committed, d.Start)
	}
	p.wantIDs("after position 3", p.receiver(to).take(2), want[3:])
}

// autoCommit commits what was marked, and only that.
func autoCommit(p *probe) {
	const interval = 500 * time.Millisecond
	to := p.declare(broker.Destination{})
	want := idsOf(p.sender().send(to, 5))
	spec := p.consumerSpec(to)
	spec.AutoCommit = interval
	r := p.receiverWith(spec)
	got := r.take(5)
	r.settled(broker.Mark, 0, got[:3]...)
	p.until("the marked positions are committed", func() bool {
		d := p.depth(to, spec.Group)
		return d.Committed-d.Start == 3
	})
	r.Abandon()
	p.wantIDs("after the position that was marked", p.receiver(to).take(2), want[3:])
}

// seek replays: the same offsets carry the same messages.
func seek(p *probe) {
	to := p.declare(broker.Destination{})
	want := idsOf(p.sender().send(to, 5))
	r := p.receiver(to)
	got := r.take(5)
	r.done(got...)
	p.must(r.Seek(p.ctx, 0, got[1].Token.Offset), "seek")
	again := r.take(4)
	p.wantIDs("replayed from offset 1", again, want[1:])
	if again[0].Token.Offset != got[1].Token.Offset {
		p.errorf("replayed %v at offset %d, first read at %d", again[0].ID, again[0].Token.Offset, got[1].Token.Offset)
	}
}

func pauseConsumer(p *probe) {
	to := p.declare(broker.Destination{})
	s := p.sender()
	r := p.receiver(to)
	s.send(to, 1)
	r.done(r.take(1)...)
	p.must(r.Pause(p.ctx), "pause")
	r.none(quiet) // what was already under way
	want := idsOf(s.send(to, 2))
	r.none(quiet)
	p.must(r.Resume(p.ctx), "resume")
	p.wantIDs("after a resume", r.take(2), want)
}
