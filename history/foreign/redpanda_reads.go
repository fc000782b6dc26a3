// SPDX-License-Identifier: Apache-2.0

package foreign

import (
	"fmt"
	"strconv"

	"github.com/seed-720a3c77/harness/contract"
	"github.com/seed-720a3c77/harness/history"
	"github.com/seed-720a3c77/harness/msg"
)

// read is a record that a consumer got, or an input that a streaming thread took.
func (t *redpandaThread) read(at int64, args []string) error {
	order := [4]int{0, 1, 2, 3} // partition, offset, node, id
	if t.role != "consuming" {
		order = [4]int{2, 0, 1, 3}
	}
	if len(args) < 4 {
		return fmt.Errorf("read wants 4 arguments, found %d", len(args))
	}
	partition, err := number(args, order[0])
	if err != nil {
		return err
	}
	off, err := number(args, order[1])
	if err != nil {
		return err
	}
	seq, err := number(args, order[3])
	if err != nil {
		return err
	}
	id, err := t.id(args[order[2]], seq)
	if err != nil {
		return err
	}
	if t.role == "consuming" {
		return t.consume(at, id, partition, off)
	}
	return t.take(at, id, partition, off)
}

func (t *redpandaThread) consume(at int64, id msg.ID, partition, off int64) error {
	place := t.partition(topic, partition)
	op, err := t.handled(t.task, at, t.session, id, history.Event{Place: place, Off: off})
	t.reads[place] = handled{op, id}
	return err
}

// take begins the work on an input.
func (t *redpandaThread) take(at int64, id msg.ID, partition, off int64) error {
	if len(t.inputs) >= maxIDs {
		return fmt.Errorf("more than %d inputs to remember", maxIDs)
	}
	t.effect = true
	op := t.next(t.session)
	t.input, t.inputs[id], t.holder[id] = &id, handled{op, id}, t.session
	e := history.Event{Kind: history.Delivery, Producer: id.Producer, Seq: id.Seq, Session: t.session, Op: op, Place: t.partition(topic, partition), Off: off}
	if err := t.add(t.task, at, e); err != nil {
		return err
	}
	return t.about(at, history.HandlerStart, 0)
}

// done ends the work on an input. What it made of it is known once it is seen.
func (t *redpandaThread) done(at int64, flag history.Flag) error {
	err := t.about(at, history.HandlerEnd, flag)
	t.input, t.ending = nil, ""
	return err
}

// about is an event of the input that the thread works on.
func (t *redpandaThread) about(at int64, kind history.Kind, flag history.Flag) error {
	held := t.inputs[*t.input]
	return t.add(t.task, at, history.Event{Kind: kind, Producer: held.id.Producer, Seq: held.id.Seq, Session: t.session, Op: held.op, Off: -1, Flags: flag})
}

// seen is an output: offset, by, node, partition and id of its input. Every consumer sees
// every output; the first time counts.
func (t *redpandaThread) seen(at int64, args []string) error {
	if len(args) < 5 {
		return nil // how long it took until a message was seen
	}
	off, err := number(args, 0)
	if err != nil {
		return err
	}
	seq, err := number(args, 4)
	if err != nil {
		return err
	}
	if front, any := t.front[0]; any && off <= front {
		return nil
	}
	t.front[0] = off
	id, err := t.id(args[2], seq)
	if err != nil {
		return err
	}
	held, taken := t.inputs[id]
	if !taken {
		return t.unread(at, id, args[3])
	}
	return t.output(at, t.holder[id], held)
}

// output is an effect that was seen.
func (t *redpandaThread) output(at int64, session uint32, held handled) error {
	return t.add(t.task, at, history.Event{Kind: history.EffectResult, Class: contract.OK, Producer: held.id.Producer, Seq: held.id.Seq, Session: session, Op: held.op, Off: -1})
}

// unread is an output of an input that nobody is known to have read: the log of the thread
// that did is not there, or was cut.
func (t *redpandaThread) unread(at int64, id msg.ID, partition string) error {
	if _, err := strconv.ParseUint(partition, 10, 31); err != nil {
		return fmt.Errorf("partition %q", partition)
	}
	t.effect = true
	session := t.run.session("unrecorded", topic)
	op := t.next(session)
	e := history.Event{Kind: history.Delivery, Producer: id.Producer, Seq: id.Seq, Session: session, Op: op, Place: t.place(topic, partition), Off: -1}
	if err := t.add(t.task, at, e); err != nil {
		return err
	}
	t.inputs[id], t.holder[id] = handled{op, id}, session
	t.lost++
	return t.output(at, session, handled{op, id})
}

func (t *redpandaThread) commits(args []string) error {
	partition, err := number(args, 0)
	if err != nil {
		return err
	}
	off, err := number(args, 1)
	if err != nil {
		return err
	}
	t.commit = &redpandaCommit{t.partition(topic, partition), off}
	return nil
}

func (t *redpandaThread) answerCommit(at int64, class contract.Class) error {
	c := t.commit
	t.commit = nil
	latest, any := t.reads[c.place]
	if !any {
		return nil
	}
	return t.settle(t.task, at, t.session, latest.op, latest.id, c.place, c.off, history.VerbCommit, class, "")
}

// moved is what the client said of its assignment.
func (t *redpandaThread) moved(at int64, args []string) error {
	if len(args) < 2 {
		return nil
	}
	partition, err := number(args, 1)
	if err != nil {
		return nil //nolint:nilerr // something else was logged
	}
	e := history.Event{Session: t.session, Place: t.partition(topic, partition), Off: -1}
	switch args[0] {
	case "assign":
		e.Kind = history.Assign
	case "revoke":
		e.Kind = history.Revoke
	case "lost":
		e.Kind, e.Flags = history.Revoke, history.Lost
	default:
		return nil
	}
	return t.add(t.task, at, e)
}
