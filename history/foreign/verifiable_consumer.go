// SPDX-License-Identifier: Apache-2.0

package foreign

import (
	"fmt"
	"strings"

	"github.com/seed-720a3c77/harness/contract"
	"github.com/seed-720a3c77/harness/history"
	"github.com/seed-720a3c77/harness/msg"
)

// verifiableConsumer is one process: a session from each start to its end.
type verifiableConsumer struct {
	*verifiable
	task     string
	topic    string
	sessions int
	session  uint32
	gen      uint32
	open     bool
	told     bool // ids, in this input
	last     int64
	latest   map[uint32]handled // the latest delivery by place
}

type handled struct {
	op uint32
	id msg.ID
}

func (v *verifiable) consume(in Input) error {
	c := &verifiableConsumer{verifiable: v, task: in.Name, told: v.verbose[in.Name], latest: map[uint32]handled{}}
	if err := v.each(in, c.line); err != nil {
		return err
	}
	if !c.open {
		return nil
	}
	c.open = false
	return v.add(c.task, c.last, history.Event{Kind: history.SessionClose, Session: c.session, Flags: history.Crashed, Text: v.text("no shutdown was recorded")})
}

func (c *verifiableConsumer) line(l *verifiableLine) error {
	at := c.at(l)
	c.last = max(c.last, at)
	switch l.Name {
	case "partitions_assigned":
		return c.assigned(at, l)
	case "partitions_revoked":
		return c.moved(at, history.Revoke, l)
	case "records_consumed":
		return c.consumed(at, l)
	case "record_data":
		return c.record(at, l)
	case "offsets_committed":
		return c.committed(at, l)
	case "shutdown_complete":
		if !c.open {
			return nil
		}
		c.open = false
		return c.add(c.task, at, history.Event{Kind: history.SessionClose, Session: c.session, Text: c.text("left")})
	}
	return nil
}

// begin opens a session at the first thing that a process does.
func (c *verifiableConsumer) begin(at int64, topic string) error {
	if c.open {
		return nil
	}
	c.open, c.topic = true, topic
	c.sessions++
	c.destination(topic)
	c.session = c.run.session(fmt.Sprintf("%s/%d", c.task, c.sessions), topic)
	clear(c.latest)
	return c.add(c.task, at, history.Event{Kind: history.SessionOpen, Session: c.session})
}

func (c *verifiableConsumer) assigned(at int64, l *verifiableLine) error {
	c.gen++
	return c.moved(at, history.Assign, l)
}

func (c *verifiableConsumer) moved(at int64, kind history.Kind, l *verifiableLine) error {
	for _, p := range l.Partitions {
		if err := c.begin(at, p.Topic); err != nil {
			return err
		}
		e := history.Event{Kind: kind, Session: c.session, Place: c.partition(p.Topic, int64(p.Partition)), Gen: c.gen, Off: -1}
		if err := c.add(c.task, at, e); err != nil {
			return err
		}
	}
	return nil
}

// consumed is one poll. What it says of its whole is not what it says of its partitions: a
// bound on the messages trims the latter, which is what was handed out.
func (c *verifiableConsumer) consumed(at int64, l *verifiableLine) error {
	for _, p := range l.Partitions {
		if err := c.begin(at, p.Topic); err != nil {
			return err
		}
		place := c.partition(p.Topic, int64(p.Partition))
		c.read[place] = max(c.read[place], int64(p.MaxOffset))
		if c.told {
			continue
		}
		if p.MinOffset < 0 || p.MaxOffset-p.MinOffset >= maxGap {
			return fmt.Errorf("a poll of offsets %d to %d", p.MinOffset, p.MaxOffset)
		}
		if err := c.span(at, place, &p); err != nil {
			return err
		}
	}
	return nil
}

// span is what one poll read of a partition. Where that was fewer records than offsets, some
// of these hold none: the marks of transactions, and what a compaction took.
func (c *verifiableConsumer) span(at int64, place uint32, p *verifiableRange) error {
	holes := int64(0)
	if p.Count != nil {
		holes = int64(p.MaxOffset-p.MinOffset) + 1 - int64(*p.Count)
	}
	for off := int64(p.MinOffset); off <= int64(p.MaxOffset); off++ {
		if _, known := c.stored[stand{place, off}]; !known && holes > 0 {
			holes--
			continue
		}
		if err := c.offset(at, place, off); err != nil {
			return err
		}
	}
	return nil
}

// offset is a record of which only the position is told. One that no producer was told of
// may be an unknown send, or none of this run.
func (c *verifiableConsumer) offset(at int64, place uint32, off int64) error {
	id, known := c.stored[stand{place, off}]
	if err := c.infer(); err != nil {
		return err
	}
	e := history.Event{Place: place, Off: off, Gen: c.gen}
	if !known {
		e.Flags = history.Foreign
	}
	return c.deliver(at, id, e)
}

// record is a record with its value.
func (c *verifiableConsumer) record(at int64, l *verifiableLine) error {
	if err := c.begin(at, l.Topic); err != nil {
		return err
	}
	place := c.partition(l.Topic, int64(l.Partition))
	c.read[place] = max(c.read[place], int64(l.Offset))
	e := history.Event{Place: place, Off: int64(l.Offset), Gen: c.gen}
	name, seq, is := parseValue(l.Value)
	producer, known := c.run.producers[sender(name, l.Topic)]
	if !is || c.verifiable.producers && !known {
		e.Flags = history.Foreign // of another run
		return c.deliver(at, msg.ID{}, e)
	}
	if c.verifiable.producers {
		return c.deliver(at, msg.ID{Producer: producer, Seq: seq}, e)
	}
	return c.unrecorded(at, name, seq, e)
}

// unrecorded is a record of which no producer's log is there: its send is unknown.
func (c *verifiableConsumer) unrecorded(at int64, name string, seq uint64, e history.Event) error {
	producer, err := c.producer(sender(name, c.topic), c.topic)
	if err != nil {
		return err
	}
	if err := c.verifiable.begin("sends", at, producer, c.topic, seq); err != nil {
		return err
	}
	return c.deliver(at, msg.ID{Producer: producer, Seq: seq}, e)
}

func (c *verifiableConsumer) deliver(at int64, id msg.ID, e history.Event) error {
	op, err := c.handled(c.task, at, c.session, id, e)
	if !e.Has(history.Foreign) {
		c.latest[e.Place] = handled{op, id}
	}
	return err
}

func (c *verifiableConsumer) committed(at int64, l *verifiableLine) error {
	for _, o := range l.Offsets {
		place := c.partition(o.Topic, int64(o.Partition))
		latest, any := c.latest[place]
		if !c.open || !any {
			continue // nothing was read of it that the commit could be about
		}
		class, why := contract.OK, o.Error
		if why == "" {
			why = l.Error
		}
		if l.Success != nil && !*l.Success || o.Error != "" {
			class = commitClass(why)
		} else {
			why = ""
		}
		if err := c.settle(c.task, at, c.session, latest.op, latest.id, place, int64(o.Offset), history.VerbCommit, class, why); err != nil {
			return err
		}
	}
	return nil
}

// commitClass tells refusals from what may have been applied.
func commitClass(text string) contract.Class {
	plain := strings.ToLower(strings.ReplaceAll(text, "_", ""))
	for _, refusal := range []string{"rebalanceinprogress", "illegalgeneration", "unknownmember", "fenced", "commitfailed"} {
		if strings.Contains(plain, refusal) {
			return contract.Rejected
		}
	}
	return contract.Unknown
}
