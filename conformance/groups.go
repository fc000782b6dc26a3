// SPDX-License-Identifier: Apache-2.0

package conformance

import (
	"math"
	"slices"

	"github.com/seed-720a3c77/harness/contract"
	"github.com/seed-720a3c77/harness/contract/profiles"
	"github.com/seed-720a3c77/harness/history"
	"github.com/seed-720a3c77/harness/msg"
)

// judgeGroups is the kind "fifo-groups": sends to and receives from a FIFO queue with
// message groups. Rows are [time, "send", outcome, [group, number]] and [time, "recv",
// outcome, [[group, number], ...]]. Only receives whose messages were deleted are recorded
// as ok; one without an answer is no receive. Each send counts as done in its instant.
func judgeGroups(c *Case, rules Rules) (Figures, error) {
	rows, err := c.rows()
	if err != nil {
		return nil, err
	}
	p, err := profiles.Named("sqs-fifo")
	if err != nil {
		return nil, err
	}
	begun, err := begin(queueHeader(c.ID, p))
	if err != nil {
		return nil, err
	}
	t := &groupTelling{telling: begun, ids: map[string]msg.ID{}}
	for _, r := range rows {
		t.row(r)
	}
	t.drained()
	found, _, err := rules.find(t.telling)
	if err != nil {
		return nil, err
	}
	return t.figures(found), nil
}

type groupTelling struct {
	*telling
	ids                 map[string]msg.ID
	committed, inFlight int
	received            []msg.ID
}

func (t *groupTelling) id(pair row) msg.ID {
	name := word(pair.at(0)) + "\x00" + word(pair.at(1))
	id, known := t.ids[name]
	if !known {
		id = msg.ID{Seq: uint64(len(t.ids))}
		t.ids[name], t.values[id] = id, []any(pair)
	}
	return id
}

func (t *groupTelling) row(r row) {
	t.at(int64(math.Round(r.number(0) * ways)))
	class := classes[r.text(2)]
	switch {
	case r.text(1) == "send":
		pair := r.list(3)
		t.published(t.session("producer"), t.id(pair), t.place("q", ""), t.key(word(pair.at(0))), class)
		switch class {
		case contract.OK:
			t.committed++
		case contract.Unknown:
			t.inFlight++
		}
	case r.text(1) == "recv" && class == contract.OK:
		t.receive(r.list(3))
	}
}

// receive is one answer: its messages come at once, and are deleted.
func (t *groupTelling) receive(batch row) {
	session := t.session("consumer")
	at := t.now + 1
	var ops []uint32
	for i := range batch {
		pair := batch.list(i)
		t.now = at - 1
		ops = append(ops, t.delivered(session, t.id(pair), history.Event{Place: t.place("q", ""), Off: -1, Key: t.key(word(pair.at(0))), Until: at + ways}))
		if !slices.Contains(t.received, t.id(pair)) {
			t.received = append(t.received, t.id(pair))
		}
	}
	for i, op := range ops {
		id := t.id(batch.list(i))
		t.worked(session, op, id)
		t.settled(session, op, id, history.VerbAck, contract.OK)
	}
}

func (t *groupTelling) figures(found findings) Figures {
	disorder := []any{}
	for _, row := range []string{"order-group", "order-key"} {
		for _, id := range found[row] {
			if group := row0(t.values[id]); !slices.Contains(disorder, group) {
				disorder = append(disorder, group)
			}
		}
	}
	f := Figures{
		"lost": t.valuesOf(found, "lost-undelivered"), "disorder": disorder,
		"duplicates": once(t.valuesOf(found, "duplicate-after-ack", "duplicate-unexplained", "premature-redelivery", "dedup-violation")),
		"unexpected": t.valuesOf(found, "from-nowhere", "phantom"),
		"committed":  t.committed, "in_flight": t.inFlight, "unknown": t.inFlight, "received": len(t.received),
	}
	f["valid"] = empty(f["lost"]) && empty(f["disorder"]) && empty(f["duplicates"])
	return f
}

// once keeps the first of equal values.
func once(values []any) []any {
	seen := map[string]bool{}
	return slices.DeleteFunc(values, func(v any) bool {
		name := word(v)
		again := seen[name]
		seen[name] = true
		return again
	})
}

// row0 is the group of a [group, number].
func row0(v any) any {
	pair, _ := v.([]any)
	return row(pair).at(0)
}
