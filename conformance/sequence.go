// SPDX-License-Identifier: Apache-2.0

package conformance

import (
	"fmt"
	"slices"

	"github.com/seed-720a3c77/harness/contract"
	"github.com/seed-720a3c77/harness/history"
	"github.com/seed-720a3c77/harness/msg"
)

// maxSpan bounds how many messages one row may stand for.
const maxSpan = 1 << 22

// pushed is a push queue whose redelivered flag is evidence.
func pushed() contract.Profile {
	return contract.Profile{Name: "pushed", Model: contract.PushQueue, Order: contract.OrderQueue, Publish: contract.OK, Settle: contract.AcceptedOnly, FlagTrusted: true}
}

// judgeSequence is the kind "seq": numbered streams over one queue, by the message model of
// a RabbitMQ test tool. Rows are ["sent", stream, from(, to)] and ["recv", stream, number(,
// redelivered)]; opt tells what is checked: order, dup, loss. A number that is lower than
// the one received before is out of order unless it is redelivered, also as a duplicate,
// which is why that rule is here and the others are native. What was sent behind the last
// that came is a remainder, no loss.
func judgeSequence(c *Case, rules Rules) (Figures, error) {
	rows, err := c.rows()
	if err != nil {
		return nil, err
	}
	opt := map[string]bool{}
	if err := c.field("opt", &opt); err != nil {
		return nil, err
	}
	t, err := tellStreams(c.ID)
	if err != nil {
		return nil, err
	}
	for _, r := range rows {
		if err := t.row(r); err != nil {
			return nil, err
		}
	}
	t.drained()
	found, _, err := rules.find(t.telling)
	if err != nil {
		return nil, err
	}
	return t.figures(found, opt, rules), nil
}

type streamTelling struct {
	*telling
	streams  []string
	numbered map[string]any // a stream as the case writes it
	last     map[string]int64
	sentAll  map[msg.ID]bool
	received map[string]int64 // the highest by stream
	disorder []any
}

func tellStreams(name string) (*streamTelling, error) {
	t, err := begin(queueHeader(name, pushed()))
	return &streamTelling{telling: t, numbered: map[string]any{}, last: map[string]int64{}, sentAll: map[msg.ID]bool{}, received: map[string]int64{}}, err
}

func (t *streamTelling) id(stream any, number int64) msg.ID {
	name := word(stream)
	i := slices.Index(t.streams, name)
	if i < 0 {
		i = len(t.streams)
		t.streams = append(t.streams, name)
		t.numbered[name] = stream
	}
	return msg.ID{Producer: uint32(i), Seq: uint64(number)}
}

func (t *streamTelling) row(r row) error {
	from, err := r.whole(2)
	if err != nil {
		return err
	}
	if r.text(0) == "recv" {
		t.receive(r.at(1), from, r.flag(3))
		return nil
	}
	to := from
	if r.at(3) != nil {
		if to, err = r.whole(3); err != nil {
			return err
		}
	}
	if from < 0 || to-from > maxSpan {
		return fmt.Errorf("%w: %d to %d", errShape, from, to)
	}
	for n := from; n <= to; n++ {
		t.publish(t.id(r.at(1), n))
	}
	return nil
}

func (t *streamTelling) publish(id msg.ID) {
	t.sentAll[id] = true
	t.published(t.session(fmt.Sprint("p", id.Producer)), id, t.place("q", ""), 0, contract.OK)
}

func (t *streamTelling) receive(stream any, number int64, redelivered bool) {
	id, name := t.id(stream, number), word(stream)
	if before, seen := t.last[name]; seen && before > number && !redelivered {
		t.disorder = append(t.disorder, []any{"Ordering", stream, number, before})
	}
	if highest, seen := t.received[name]; !seen || number > highest {
		t.received[name] = number
	}
	t.last[name] = number
	if !t.sentAll[id] {
		t.publish(id)
	}
	e := history.Event{Place: t.place("q", ""), Off: -1}
	if redelivered {
		e.Flags = history.Redelivered
	}
	session := t.session("consumer")
	op := t.delivered(session, id, e)
	t.worked(session, op, id)
	t.settled(session, op, id, history.VerbAck, contract.AcceptedOnly)
}

func (t *streamTelling) figures(found findings, opt map[string]bool, rules Rules) Figures {
	violations := []any{}
	if opt["order"] && rules.has("seq:ordering") {
		violations = append(violations, t.disorder...)
	}
	if opt["dup"] {
		for _, id := range found["unflagged-redelivery"] {
			violations = append(violations, []any{"NonRedeliveredDuplicate", t.stream(id), id.Seq})
		}
	}
	remainder := map[string]int{}
	if opt["loss"] {
		violations = append(violations, t.missing(found["lost-undelivered"], remainder)...)
	}
	return Figures{"violations": violations, "remainder": remainder}
}

func (t *streamTelling) stream(id msg.ID) any { return t.numbered[t.streams[id.Producer]] }

// missing gathers lost numbers into spans, and counts those behind the last that came.
func (t *streamTelling) missing(lost []msg.ID, remainder map[string]int) (spans []any) {
	slices.SortFunc(lost, msg.ID.Compare)
	for i := 0; i < len(lost); i++ {
		id := lost[i]
		name := t.streams[id.Producer]
		if highest, seen := t.received[name]; !seen || int64(id.Seq) > highest {
			remainder[name]++
			continue
		}
		end := i
		for end+1 < len(lost) && lost[end+1] == (msg.ID{Producer: id.Producer, Seq: lost[end].Seq + 1}) && int64(lost[end+1].Seq) <= t.received[name] {
			end++
		}
		spans = append(spans, []any{"Missing", t.stream(id), id.Seq, lost[end].Seq})
		i = end
	}
	return spans
}
