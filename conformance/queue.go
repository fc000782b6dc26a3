// SPDX-License-Identifier: Apache-2.0

package conformance

import (
	"fmt"
	"slices"

	"github.com/seed-720a3c77/harness/contract"
	"github.com/seed-720a3c77/harness/history"
	"github.com/seed-720a3c77/harness/msg"
)

// This file has the kinds "queue", "unordered-queue" and "set": what goes in comes out.
// Rows are [process, type, f, value]; in a queue's the same value may go in several times.
// The source does not tell a failed enqueue from one without an answer: both may come out.

// bag is a queue that promises nothing but to keep what it took.
func bag() contract.Profile {
	return contract.Profile{Name: "bag", Model: contract.LeaseQueue, Order: contract.OrderNone, Publish: contract.OK, Settle: contract.OK}
}

// bagTelling writes what went into a bag and what came out of it.
type bagTelling struct {
	*telling
	open map[string][]msg.ID // sent and not answered, by process and value
	in   map[string][]msg.ID // sent so far, by value: those that were taken out, those that were acked, the rest
	out  map[string]int      // taken out so far, by value
	op   map[msg.ID]uint32
	next uint64
}

func tellBag(name string) (*bagTelling, error) {
	t, err := begin(queueHeader(name, bag()))
	return &bagTelling{telling: t, open: map[string][]msg.ID{}, in: map[string][]msg.ID{}, out: map[string]int{}, op: map[msg.ID]uint32{}}, err
}

func (t *bagTelling) id(value any) msg.ID {
	id := msg.ID{Seq: t.next}
	t.next++
	t.values[id] = value
	return id
}

// put begins to put a value in.
func (t *bagTelling) put(process string, value any) {
	id, name := t.id(value), process+"\x00"+word(value)
	t.op[id] = t.sent(t.session("in"), id, t.place("q", ""), 0)
	t.open[name] = append(t.open[name], id)
	t.in[word(value)] = append(t.in[word(value)], id)
}

// done is the answer; only a good one says anything.
func (t *bagTelling) done(process string, value any, class contract.Class) {
	name := process + "\x00" + word(value)
	if len(t.open[name]) == 0 {
		t.put(process, value) // its beginning was not recorded
	}
	id := t.open[name][0]
	t.open[name] = t.open[name][1:]
	if class != contract.OK {
		return
	}
	t.answered(t.session("in"), t.op[id], id, t.place("q", ""), -1, class)
	left := t.in[word(value)][min(t.out[word(value)], len(t.in[word(value)])):]
	if i := slices.Index(left, id); i >= 0 {
		copy(left[1:i+1], left[:i])
		left[0] = id
	}
}

// take takes a value out: one that was put in and is still there if there is one, else the
// last once more, else one from nowhere.
func (t *bagTelling) take(value any) {
	name := word(value)
	n, ids := t.out[name], t.in[name]
	t.out[name]++
	var id msg.ID
	switch {
	case n < len(ids):
		id = ids[n]
	case len(ids) > 0:
		id = ids[len(ids)-1]
	default:
		id = t.id(value)
	}
	session := t.session("out")
	op := t.delivered(session, id, history.Event{Place: t.place("q", ""), Off: -1})
	t.worked(session, op, id)
	t.settled(session, op, id, history.VerbAck, contract.OK)
}

// judgeQueue is the kind "queue": whatever was taken comes out, in any order and at any
// time, before the end; a multiset. Duplicates are told and are no error.
func judgeQueue(c *Case, rules Rules) (Figures, error) {
	rows, err := c.rows()
	if err != nil {
		return nil, err
	}
	t, err := tellBag(c.ID)
	if err != nil {
		return nil, err
	}
	var out []any
	for _, r := range rows {
		switch f := r.text(2); {
		case f == "enqueue":
			t.enqueue(r)
		case f == "dequeue" && r.text(1) == "ok":
			out = append(out, r.at(3))
		case f == "drain" && r.text(1) == "ok":
			out = append(out, r.list(3)...)
		}
	}
	for _, value := range out {
		t.take(value)
	}
	f, err := t.judge(rules)
	if err != nil {
		return nil, err
	}
	f["ok"] = len(out) - len(f["unexpected"].([]any)) - len(f["duplicated"].([]any))
	f["valid"] = empty(f["lost"]) && empty(f["unexpected"])
	return f, nil
}

func (t *bagTelling) enqueue(r row) {
	process := word(r.at(0))
	if r.text(1) == "invoke" {
		t.put(process, r.at(3))
		return
	}
	t.done(process, r.at(3), classes[r.text(1)])
}

// judge ends the telling and names what was found.
func (t *bagTelling) judge(rules Rules) (Figures, error) {
	t.drained()
	found, result, err := rules.find(t.telling)
	if err != nil {
		return nil, err
	}
	return Figures{
		"lost":       t.valuesOf(found, "lost-undelivered"),
		"recovered":  t.valuesOf(found, "recovered"),
		"duplicated": t.valuesOf(found, "duplicate-after-ack", "duplicate-unexplained", "stored-twice"),
		"unexpected": t.valuesOf(found, "from-nowhere"),
		"attempts":   result.Counts["published"], "acked": result.Counts["acked"],
	}, nil
}

// judgeUnordered is the kind "unordered-queue": everything that comes out was put in
// before, and once.
func judgeUnordered(c *Case, rules Rules) (Figures, error) {
	rows, err := c.rows()
	if err != nil {
		return nil, err
	}
	t, err := tellBag(c.ID)
	if err != nil {
		return nil, err
	}
	for _, r := range rows {
		switch f := r.text(2); {
		case f == "enqueue":
			t.enqueue(r)
		case f == "dequeue" && r.text(1) == "ok":
			t.take(r.at(3))
		}
	}
	f, err := t.judge(rules)
	if err != nil {
		return nil, err
	}
	f["valid"] = empty(f["unexpected"]) && empty(f["duplicated"])
	return f, nil
}

// judgeSet is the kind "set": adds, and one last read of all that is there.
func judgeSet(c *Case, rules Rules) (Figures, error) {
	rows, err := c.rows()
	if err != nil {
		return nil, err
	}
	t, err := tellBag(c.ID)
	if err != nil {
		return nil, err
	}
	var read row
	seen := false
	for _, r := range rows {
		switch f := r.text(2); {
		case f == "add" && r.text(1) == "invoke":
			t.put(word(r.at(0)), r.at(3))
		case f == "add":
			t.done(word(r.at(0)), r.at(3), classes[r.text(1)])
		case f == "read" && r.text(1) == "ok":
			read, seen = r.list(3), true
		}
	}
	if !seen {
		return Figures{"valid": "unknown", "error": "never read"}, nil
	}
	return t.readOnce(read, rules)
}

// readOnce takes out each element of the last read.
func (t *bagTelling) readOnce(read row, rules Rules) (Figures, error) {
	once := map[string]bool{}
	ok := []any{}
	for _, value := range read {
		if name := word(value); !once[name] {
			once[name] = true
			if len(t.in[name]) > 0 {
				ok = append(ok, value)
			}
			t.take(value)
		}
	}
	f, err := t.judge(rules)
	if err != nil {
		return nil, fmt.Errorf("set: %w", err)
	}
	f["ok"] = ok
	f["valid"] = empty(f["lost"]) && empty(f["unexpected"])
	return f, nil
}
