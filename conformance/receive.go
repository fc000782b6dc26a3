// SPDX-License-Identifier: Apache-2.0

package conformance

import (
	"fmt"
	"strings"

	"github.com/seed-720a3c77/harness/checkers"
	"github.com/seed-720a3c77/harness/contract"
	"github.com/seed-720a3c77/harness/history"
	"github.com/seed-720a3c77/harness/msg"
)

// judgeReceive is the kind "receive-rle": one publisher and one consumer of a RabbitMQ
// queue under chaos. recv is the order of what was received in ranges, those with a star
// flagged as redelivered; confirmed is how many publishes were confirmed, lost_ids those of
// them that never came. What was neither is unknown. Order is judged twice, with the flag
// as an excuse and without: what comes late is out of order, a duplicate is not.
func judgeReceive(c *Case, rules Rules) (Figures, error) {
	r, err := c.received()
	if err != nil {
		return nil, err
	}
	excused, result, err := r.judge(rules, true)
	if err != nil {
		return nil, err
	}
	strict, _, err := r.judge(rules, false)
	if err != nil {
		return nil, err
	}
	lost := len(excused["lost-undelivered"])
	late := []any{}
	for _, id := range strict["order-partition"] {
		late = append(late, id.Seq)
	}
	var said []string
	if lost > 0 {
		said = append(said, "LOST MESSAGES")
	}
	if len(late) > 0 {
		said = append(said, "OUT OF ORDER MESSAGES")
	}
	if len(said) == 0 {
		said = []string{"OK"}
	}
	deliveries := result.Counts["deliveries"]
	again := result.Counts["redelivered"] + result.Counts["stored-twice"]
	return Figures{
		"received": deliveries, "unique": deliveries - again, "duplicates": again, "lost": lost,
		"unknown_undelivered": r.holes(), "recovered": len(excused["recovered"]),
		"out_of_order_strict": late, "out_of_order_excluding_redelivered": len(excused["order-partition"]),
		"source_verdict": strings.Join(said, " + "),
	}, nil
}

// receipt is what was published and received.
type receipt struct {
	spans     []span
	flagged   []bool
	lost      []span
	confirmed int64
	highest   int64
}

func (c *Case) received() (*receipt, error) {
	r := &receipt{}
	var text string
	var lost [][2]int64
	for name, into := range map[string]any{"recv": &text, "lost_ids": &lost, "confirmed": &r.confirmed} {
		if err := c.field(name, into); err != nil {
			return nil, err
		}
	}
	for one := range strings.FieldsSeq(text) {
		plain, flagged := strings.CutSuffix(one, "*")
		s, err := parseSpan(plain)
		if err != nil {
			return nil, fmt.Errorf("recv: %w", err)
		}
		r.spans, r.flagged = append(r.spans, s), append(r.flagged, flagged)
		r.highest = max(r.highest, s.to)
	}
	for _, l := range lost {
		if l[0] < 0 || l[1] < l[0] || l[1]-l[0] > maxSpan {
			return nil, fmt.Errorf("lost_ids: %w: %v", errShape, l)
		}
		r.lost = append(r.lost, span{l[0], l[1]})
		r.highest = max(r.highest, l[1])
	}
	if r.highest > maxSpan {
		return nil, fmt.Errorf("%w: id %d", errShape, r.highest)
	}
	return r, nil
}

// marks of every id: received, received without the flag the first time, received behind
// a higher one, lost.
type marks struct{ received, plainly, late, lost []bool }

func (r *receipt) marks() marks {
	m := marks{make([]bool, r.highest+1), make([]bool, r.highest+1), make([]bool, r.highest+1), make([]bool, r.highest+1)}
	highest := int64(-1)
	for i, s := range r.spans {
		for n := s.from; n <= s.to; n++ {
			m.plainly[n] = m.plainly[n] || !m.received[n] && !r.flagged[i]
			m.late[n] = m.late[n] || !m.received[n] && n < highest
			m.received[n] = true
			highest = max(highest, n)
		}
	}
	for _, s := range r.lost {
		for n := s.from; n <= s.to; n++ {
			m.lost[n] = true
		}
	}
	return m
}

// unconfirmed picks so many of those received: first what came plainly and in order, of
// which nothing is asked.
func (m *marks) unconfirmed(left int64) []bool {
	picked := make([]bool, len(m.received))
	pick := func(may func(n int) bool) {
		for n := 0; n < len(picked) && left > 0; n++ {
			if m.received[n] && !picked[n] && may(n) {
				picked[n] = true
				left--
			}
		}
	}
	pick(func(n int) bool { return m.plainly[n] && !m.late[n] })
	pick(func(n int) bool { return m.plainly[n] })
	pick(func(int) bool { return true })
	return picked
}

// holes are the ids that were neither received nor confirmed.
func (r *receipt) holes() []any {
	m := r.marks()
	holes := []any{}
	for n := int64(1); n <= r.highest; n++ {
		from := n
		for n <= r.highest && !m.received[n] && !m.lost[n] {
			n++
		}
		if n > from {
			holes = append(holes, []any{from, n - 1})
		}
	}
	return holes
}

// judge tells the run and has it judged.
func (r *receipt) judge(rules Rules, excused bool) (findings, checkers.Result, error) {
	p := pushed()
	t, err := begin(queueHeader("receive", p))
	if err != nil {
		return nil, checkers.Result{}, err
	}
	r.publish(t)
	session := t.session("consumer")
	for i, s := range r.spans {
		for n := s.from; n <= s.to; n++ {
			id, e := msg.ID{Seq: uint64(n)}, history.Event{Place: t.place("q", ""), Off: -1}
			if r.flagged[i] && excused {
				e.Flags = history.Redelivered
			}
			op := t.delivered(session, id, e)
			t.worked(session, op, id)
			t.settled(session, op, id, history.VerbAck, contract.AcceptedOnly)
		}
	}
	t.drained()
	return rules.find(t)
}

// publish sends every id. How many of those received were never confirmed is known, which
// ones is not.
func (r *receipt) publish(t *telling) {
	m := r.marks()
	left := -r.confirmed
	for n := range m.received {
		if m.received[n] || m.lost[n] {
			left++
		}
	}
	unconfirmed := m.unconfirmed(left)
	session, place := t.session("producer"), t.place("q", "")
	for n := int64(1); n <= r.highest; n++ {
		class := contract.OK
		if unconfirmed[n] || !m.received[n] && !m.lost[n] {
			class = contract.Unknown
		}
		t.published(session, msg.ID{Seq: uint64(n)}, place, 0, class)
	}
}
