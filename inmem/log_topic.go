// SPDX-License-Identifier: Apache-2.0

package inmem

import (
	"fmt"

	"github.com/seed-720a3c77/harness/broker"
	"github.com/seed-720a3c77/harness/msg"
)

// logs is the log model: topics of append-only partitions. Reading never removes; each
// group has a committed position of its own, kept here and not with its members.
type logs struct {
	m            *Machine
	topics       map[string]*topic
	transactions map[string]*transaction // by transactional id
}

type topic struct {
	logs       *logs
	name       string
	partitions []*partition
	groups     map[string]*group
	removed    bool
}

// partition is an append-only sequence of records with dense offsets.
type partition struct {
	topic     *topic
	index     int32
	records   records
	isolation isolation
	gap       *gap
	// claims are the consumers that read here now.
	claims []*claim
}

func newLogs(m *Machine) *logs {
	return &logs{m: m, topics: map[string]*topic{}, transactions: map[string]*transaction{}}
}

func (l *logs) check(d *broker.Destination) error {
	if d.DeadLetter != "" {
		return unsupported("dead-letter")
	}
	return nil
}

func (l *logs) declare(d broker.Destination) {
	t := &topic{logs: l, name: d.Name, groups: map[string]*group{}}
	for i := range max(1, d.Partitions) {
		t.partitions = append(t.partitions, &partition{topic: t, index: int32(i)})
	}
	l.topics[d.Name] = t
}

func (l *logs) has(name string) bool { return l.topics[name] != nil }

// remove deletes a topic under its consumers, who hear of it at their next receive.
func (l *logs) remove(name string) {
	t := l.topics[name]
	t.removed = true
	delete(l.topics, name)
	for _, p := range t.partitions {
		for _, c := range p.claims {
			c.of.wake()
		}
	}
}

// purge truncates every partition to its end; offsets go on.
func (l *logs) purge(name string) {
	for _, p := range l.topics[name].partitions {
		p.records.truncate(p.records.end)
	}
}

func (l *logs) depth(name, group string) broker.Depth {
	d := broker.Depth{Ready: broker.Unmeasured, InFlight: broker.Unmeasured, Delayed: broker.Unmeasured}
	t := l.topics[name]
	g := t.groups[group]
	for i, p := range t.partitions {
		d.Start += p.records.start
		d.End += p.records.end
		committed := p.records.start
		if g != nil && g.committed[i] >= 0 {
			committed = g.committed[i]
		}
		d.Committed += committed
		d.Stable += p.stable()
	}
	return d
}

func (l *logs) publish(p *producer, number uint64, one *msg.Message) (broker.Receipt, error) {
	t := l.topics[one.To]
	if t == nil {
		return broker.Receipt{Offset: -1}, refused("publish", "KError 3", notFound(one.To))
	}
	if p.transaction != nil {
		if err := p.transaction.admits(p, number, one.ID); err != nil {
			return broker.Receipt{Offset: -1}, err
		}
	}
	if p.recent != nil {
		if receipt, again := p.recent.find(number); again && !l.m.strikes(RetryStored, one.ID) {
			l.m.tell(OracleEvent{Kind: Swallowed, ID: one.ID, Where: t.name, Session: p.session, Partition: receipt.Partition, Offset: receipt.Offset})
			return receipt, nil
		}
	}
	to, err := t.route(p, one)
	if err != nil {
		return broker.Receipt{Offset: -1}, err
	}
	receipt := broker.Receipt{Partition: to.index, Offset: to.place(p.writer.payload(one), p.session)}
	if p.recent != nil {
		p.recent.keep(number, receipt)
	}
	if p.transaction != nil {
		p.transaction.stored(to, receipt.Offset)
	}
	return receipt, nil
}

// route is the partitioner: a pinned partition, the hash of the key, or each in turn.
func (t *topic) route(p *producer, one *msg.Message) (*partition, error) {
	n := len(t.partitions)
	switch {
	case one.Partition >= 0 && int(one.Partition) < n:
		return t.partitions[one.Partition], nil
	case one.Partition != msg.AnyPartition:
		return nil, refused("publish", "KError 3", fmt.Errorf("partition %d of %d", one.Partition, n))
	case n == 1:
		return t.partitions[0], nil
	case one.Key == "":
		p.keyless++
		return t.partitions[int(p.keyless-1)%n], nil
	default:
		return t.partitions[keyPartition(one.Key, n)], nil
	}
}

// keyPartition is the hash partitioner of sarama: FNV-1a, as a signed number, without its sign.
func keyPartition(key string, n int) int {
	hash := uint32(2166136261)
	for i := range len(key) {
		hash = (hash ^ uint32(key[i])) * 16777619
	}
	i := int32(hash) % int32(n)
	if i < 0 {
		i = -i
	}
	return int(i)
}

// append stores a record, wakes who waits for it, and returns its offset.
func (p *partition) append(record payload, from Session) int64 {
	offset := p.records.append(record)
	p.topic.logs.m.tell(OracleEvent{Kind: Stored, ID: record.id, Where: p.topic.name, Session: from, Partition: p.index, Offset: offset})
	p.wake()
	return offset
}

// wake tells who waits here that there may be something.
func (p *partition) wake() {
	for _, c := range p.claims {
		if c.open {
			c.of.arrived()
			c.of.wake()
		}
	}
}
