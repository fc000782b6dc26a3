// SPDX-License-Identifier: Apache-2.0

package foreign

import (
	"fmt"
	"slices"

	"github.com/seed-720a3c77/harness/contract"
	"github.com/seed-720a3c77/harness/history"
)

// logOp is an operation of the kafka workload.
func (j *jepsen) logOp(op *jepsenOp) error {
	p, err := j.process(op.process)
	if err != nil {
		return err
	}
	if op.class == contract.Unclassed {
		p.began, p.invoked = op.at, true
		return nil
	}
	defer func() { p.invoked = false }()
	switch op.f {
	case "assign", "subscribe":
		if op.class == contract.Rejected {
			return nil
		}
		return j.assign(p, op)
	case "send", "poll", "txn":
		return j.transaction(p, op)
	}
	return nil
}

// assign takes away what a process no longer has.
func (j *jepsen) assign(p *jepsenProcess, op *jepsenOp) error {
	keys, _ := op.value.([]any)
	kept := map[uint32]bool{}
	for _, key := range keys {
		kept[j.place("log", ednText(key))] = true
	}
	for _, place := range sortedPlaces(p.touched) {
		if !kept[place] {
			if err := j.add(p.task, op.at, history.Event{Kind: history.Revoke, Session: p.session, Place: place}); err != nil {
				return err
			}
		}
	}
	return nil
}

func sortedPlaces(places map[uint32]bool) (all []uint32) {
	for place := range places {
		all = append(all, place)
	}
	slices.Sort(all)
	return all
}

// transaction writes an operation at its end: what happened in it has no times of its own.
func (j *jepsen) transaction(p *jepsenProcess, op *jepsenOp) error {
	j.numbers++
	number := j.numbers
	begin := history.Event{Kind: history.TxnBegin, Session: p.session, Op: number}
	if p.invoked {
		begin.D = op.at - p.began
	}
	if err := j.add(p.task, op.at, begin); err != nil {
		return err
	}
	for _, key := range rebalanced(op.rebalance) {
		e := history.Event{Kind: history.Revoke, Session: p.session, Place: j.place("log", key)}
		if err := j.add(p.task, op.at, e); err != nil {
			return err
		}
	}
	micro, _ := op.value.([]any)
	for _, m := range micro {
		if err := j.micro(p, op, m); err != nil {
			return err
		}
	}
	end := history.Event{Kind: history.TxnCommit, Session: p.session, Op: number, Class: op.class, Answer: answers[op.class]}
	if op.failure != "" {
		end.Text = j.text(op.failure)
	}
	return j.add(p.task, op.at, end)
}

// rebalanced are the keys that moved inside an operation.
func rebalanced(log []any) (keys []string) {
	for _, entry := range log {
		o, _ := entry.(object)
		moved, _ := o.get("keys").([]any)
		for _, key := range moved {
			keys = append(keys, ednText(key))
		}
	}
	return keys
}

// micro is one send or poll of an operation.
func (j *jepsen) micro(p *jepsenProcess, op *jepsenOp, m any) error {
	part, _ := m.([]any)
	if len(part) == 0 {
		return fmt.Errorf("want [:send ...] or [:poll ...], found %v", m)
	}
	switch {
	case part[0] == keyword("send") && len(part) == 3:
		return j.send(p, op, ednText(part[1]), part[2])
	case part[0] == keyword("poll") && len(part) == 2:
		read, _ := part[1].(object)
		for _, of := range read {
			pairs, _ := of.value.([]any)
			for _, one := range pairs {
				if err := j.poll(p, op, ednText(of.key), one); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// send is a value, or [offset value] where the offset is told.
func (j *jepsen) send(p *jepsenProcess, op *jepsenOp, key string, value any) error {
	off := int64(-1)
	if told, is := value.([]any); is && len(told) == 2 {
		off, value = offsetOf(told[0]), told[1]
	}
	id, err := j.id(key, value)
	if err != nil {
		return err
	}
	place := j.place("log", key)
	p.touched[place] = true
	number := j.next(p.session)
	if err := j.started(p.task, op.at, p.session, number, id, place, 0); err != nil {
		return err
	}
	if op.class == contract.OK && !j.read[id] {
		j.unread[id] = true
	}
	return j.answer(p.task, op.at, p.session, number, id, place, off, op.class, op.failure)
}

func (j *jepsen) poll(p *jepsenProcess, op *jepsenOp, key string, one any) error {
	told, _ := one.([]any)
	if len(told) != 2 {
		return fmt.Errorf("want [offset value], found %v", one)
	}
	id, err := j.id(key, told[1])
	if err != nil {
		return err
	}
	if op.class == contract.OK {
		j.read[id] = true
		delete(j.unread, id)
	}
	place := j.place("log", key)
	p.touched[place] = true
	e := history.Event{Kind: history.Delivery, Producer: id.Producer, Seq: id.Seq, Session: p.session, Op: j.next(p.session), Place: place, Off: offsetOf(told[0])}
	return j.add(p.task, op.at, e)
}

// offsetOf is an offset that was told, or -1.
func offsetOf(v any) int64 {
	if n, told := v.(int64); told && n >= 0 {
		return n
	}
	return -1
}

// queueOp is an operation of a queue workload.
func (j *jepsen) queueOp(op *jepsenOp) error {
	p, err := j.process(op.process)
	if err != nil {
		return err
	}
	if op.f == "enqueue" {
		j.emptied = false
		return j.enqueue(p, op)
	}
	switch op.class {
	case contract.Unknown:
		j.untold++
		return j.taken(p, op)
	case contract.OK:
		return j.taken(p, op)
	}
	return nil
}

// taken is what came out. Of an operation without an answer that is what it had got by then,
// of which nobody knows whether it was acked.
func (j *jepsen) taken(p *jepsenProcess, op *jepsenOp) error {
	values := []any{op.value}
	if op.f == "drain" {
		values, _ = op.value.([]any)
		j.emptied = j.emptied || op.class == contract.OK
	}
	for _, value := range values {
		if value == nil {
			continue // nothing was there
		}
		if err := j.dequeue(p, op, value); err != nil {
			return err
		}
	}
	return nil
}

func (j *jepsen) enqueue(p *jepsenProcess, op *jepsenOp) error {
	id, err := j.id("", op.value)
	if err != nil {
		return err
	}
	if err := j.queueProducer(); err != nil {
		return err
	}
	name, place := ednText(op.value), j.place("queue", "")
	number, begun := p.puts[name]
	if op.class == contract.Unclassed || !begun {
		number = j.next(p.session)
		p.puts[name] = number
		if err := j.started(p.task, op.at, p.session, number, id, place, 0); err != nil || op.class == contract.Unclassed {
			return err
		}
	}
	delete(p.puts, name)
	if op.class == contract.OK && !j.read[id] {
		j.unread[id] = true
	}
	return j.answer(p.task, op.at, p.session, number, id, place, -1, op.class, op.failure)
}

func (j *jepsen) queueProducer() error {
	_, err := j.producer("jepsen", "queue")
	return err
}

func (j *jepsen) dequeue(p *jepsenProcess, op *jepsenOp, value any) error {
	id, err := j.id("", value)
	if err != nil {
		return err
	}
	j.read[id] = true
	delete(j.unread, id)
	place := j.place("queue", "")
	number, err := j.handled(p.task, op.at, p.session, id, history.Event{Place: place, Off: -1})
	if err != nil {
		return err
	}
	return j.settle(p.task, op.at, p.session, number, id, place, -1, history.VerbAck, op.class, op.failure)
}
