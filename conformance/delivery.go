// SPDX-License-Identifier: Apache-2.0

package conformance

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/seed-720a3c77/harness/contract"
	"github.com/seed-720a3c77/harness/history"
	"github.com/seed-720a3c77/harness/msg"
)

// judgeDelivery is the kind "delivery": what was acked must be consumed, by the check of
// Kafka's system tests. acked, consumed and found_in_log are ranges ("0-5 7"). Duplicates
// fail only where idempotence is claimed. Fewer than 100 missing ones may be truncated, if
// that is tolerated and none of them is in the data files.
func judgeDelivery(c *Case, rules Rules) (Figures, error) {
	var acked, consumed []span
	for name, into := range map[string]*[]span{"acked": &acked, "consumed": &consumed} {
		var err error
		if *into, err = c.spans(name); err != nil {
			return nil, err
		}
	}
	t, err := tellBag(c.ID)
	if err != nil {
		return nil, err
	}
	for _, s := range acked {
		for n := s.from; n <= s.to; n++ {
			t.put("producer", float64(n))
			t.done("producer", float64(n), contract.OK)
		}
	}
	for _, s := range consumed {
		for n := s.from; n <= s.to; n++ {
			if len(t.in[strconv.FormatInt(n, 10)]) == 0 {
				t.put("producer", float64(n)) // never acked
			}
			t.take(float64(n))
		}
	}
	f, err := t.judge(rules)
	if err != nil {
		return nil, err
	}
	return c.validDelivery(f["lost"].([]any), f["duplicated"].([]any), f["recovered"].([]any))
}

// maxTruncated is from how many missing messages on truncation is no excuse.
const maxTruncated = 100

func (c *Case) validDelivery(missing, duplicates, recovered []any) (Figures, error) {
	var tolerate bool
	if err := c.field("tolerate_truncation", &tolerate); err != nil {
		return nil, err
	}
	found, err := c.spans("found_in_log")
	if err != nil {
		return nil, err
	}
	_, looked := c.fields["found_in_log"]
	stored := func(v any) bool {
		n, _ := v.(float64)
		return slices.ContainsFunc(found, func(s span) bool { return int64(n) >= s.from && int64(n) <= s.to })
	}
	truncated := tolerate && looked && len(missing) < maxTruncated && !slices.ContainsFunc(missing, stored)
	valid := len(missing) == 0 || truncated
	if len(duplicates) > 0 && c.idempotent() {
		valid = false
	}
	return Figures{"valid": valid, "missing": len(missing), "duplicates": len(duplicates), "unacked_consumed": len(recovered)}, nil
}

// idempotent tells whether the case claims idempotence, however it spells it.
func (c *Case) idempotent() bool {
	for name, raw := range c.fields {
		if strings.HasPrefix(name, "idempoten") && string(raw) == "true" {
			return true
		}
	}
	var opt map[string]any
	_ = c.field("opt", &opt) // none is fine
	return opt["idempotence"] == true || opt["idempotent"] == true
}

// span is a range of numbers, both ends in it.
type span struct{ from, to int64 }

// spans reads ranges from a field: "0-5 7"; a field that is not there has none.
func (c *Case) spans(name string) ([]span, error) {
	var text string
	if err := c.field(name, &text); err != nil {
		return nil, err
	}
	var all []span
	for one := range strings.FieldsSeq(strings.ReplaceAll(text, ",", " ")) {
		s, err := parseSpan(one)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		all = append(all, s)
	}
	return all, nil
}

func parseSpan(text string) (span, error) {
	from, to, ranged := strings.Cut(text, "-")
	if !ranged {
		to = from
	}
	a, err1 := strconv.ParseInt(from, 10, 64)
	b, err2 := strconv.ParseInt(to, 10, 64)
	if err1 != nil || err2 != nil || a < 0 || b < a || b-a > maxSpan {
		return span{}, fmt.Errorf("%w: range %q", errShape, text)
	}
	return span{a, b}, nil
}

// judgeEOS is the kind "eos": every input position has at most one committed output. Rows
// are ["in", partition, offset], ["tx", n, outcome] and ["out", offset, [input partition,
// input offset]]; an output that was seen counts whatever its transaction was told.
func judgeEOS(c *Case, rules Rules) (Figures, error) {
	rows, err := c.rows()
	if err != nil {
		return nil, err
	}
	h := queueHeader(c.ID, bag())
	h.Subscriptions[0].Effect = "plain"
	t, err := begin(h)
	if err != nil {
		return nil, err
	}
	e := eosTelling{telling: t, ops: map[msg.ID]uint32{}, outputs: map[msg.ID][]any{}}
	for _, r := range rows {
		e.row(r)
	}
	found, _, err := rules.find(t)
	if err != nil {
		return nil, err
	}
	twice := []any{}
	for _, id := range unique(found["effect-duplicates"]) {
		twice = append(twice, []any{t.value(id), e.outputs[id]})
	}
	return Figures{"processed_twice": twice, "valid": len(twice) == 0}, nil
}

type eosTelling struct {
	*telling
	ops     map[msg.ID]uint32 // the latest delivery
	outputs map[msg.ID][]any
}

func (t *eosTelling) row(r row) {
	switch r.text(0) {
	case "in":
		t.read(r.at(1), r.at(2))
	case "out":
		input := r.list(2)
		id := t.id(input.at(0), input.at(1))
		if t.ops[id] == 0 {
			t.read(input.at(0), input.at(1))
		}
		if slices.ContainsFunc(t.outputs[id], func(seen any) bool { return word(seen) == word(r.at(1)) }) {
			return // the same output, seen again
		}
		t.outputs[id] = append(t.outputs[id], r.at(1))
		t.of(history.EffectIntent, t.session("worker"), t.ops[id], id, nil)
		t.of(history.EffectResult, t.session("worker"), t.ops[id], id, func(e *history.Event) { e.Class = contract.OK })
	}
}

func (t *eosTelling) id(partition, offset any) msg.ID {
	p, _ := partition.(float64)
	o, _ := offset.(float64)
	id := msg.ID{Producer: uint32(p), Seq: uint64(o)}
	t.values[id] = []any{partition, offset}
	return id
}

func (t *eosTelling) read(partition, offset any) {
	id := t.id(partition, offset)
	if t.ops[id] == 0 {
		t.published(t.session("upstream"), id, t.place("q", ""), 0, contract.OK)
	}
	t.ops[id] = t.delivered(t.session("worker"), id, history.Event{Place: t.place("q", ""), Off: -1})
	t.of(history.HandlerStart, t.session("worker"), t.ops[id], id, nil)
}

func unique(ids []msg.ID) []msg.ID {
	sorted := slices.SortedFunc(slices.Values(ids), msg.ID.Compare)
	return slices.Compact(sorted)
}
