// SPDX-License-Identifier: Apache-2.0

package conformance

import (
	"fmt"

	"github.com/seed-720a3c77/harness/contract"
	"github.com/seed-720a3c77/harness/history"
	"github.com/seed-720a3c77/harness/msg"
)

// telling writes a native history in memory, event by event. Each event is one nanosecond
// after the one before unless at moves the clock.
type telling struct {
	recording *history.Recording
	segment   *history.Segment
	now       int64
	ops       map[uint32]uint32 // publishes and deliveries so far, by session
	values    map[msg.ID]any    // what stands for an id in the case
}

// begin starts a history of one queue or topic, named after the case's.
func begin(h history.Header) (*telling, error) {
	t := &telling{recording: history.NewMemory(h), ops: map[uint32]uint32{}, values: map[msg.ID]any{}}
	var err error
	t.segment, err = t.recording.Segment("case")
	return t, err
}

// queueHeader is a run with one destination that one subscription reads.
func queueHeader(name string, p contract.Profile) history.Header {
	return history.Header{
		Run: name, Workload: name, Profile: p, Fidelity: "real", Clock: "wall",
		Destinations:  []history.Destination{{Name: "q", Broker: "q"}},
		Subscriptions: []history.Subscription{{Name: "g", From: "q", Published: []string{"q"}, Settle: "after-handler", Effect: "none"}},
		Producers:     []history.Producer{{Name: "p0", To: "q"}},
	}
}

// run ends the history.
func (t *telling) run() (*history.Run, error) {
	if err := t.recording.Close(); err != nil {
		return nil, err
	}
	return t.recording.Run(), nil
}

// at moves the clock forward to an instant; it never goes back.
func (t *telling) at(ns int64) { t.now = max(t.now, ns-1) }

func (t *telling) add(e history.Event) {
	t.now++
	e.T = t.now
	t.segment.Append(&e)
}

func (t *telling) session(name string) uint32 {
	return t.recording.Intern(history.Sessions, name+"|g|q|1")
}

func (t *telling) place(destination, partition string) uint32 {
	return t.recording.Intern(history.Places, destination+"|"+partition)
}

func (t *telling) key(text string) uint32 { return t.recording.Intern(history.Keys, text) }

func (t *telling) text(text string) uint32 { return t.recording.Intern(history.Texts, text) }

// next numbers what a session does.
func (t *telling) next(session uint32) uint32 {
	t.ops[session]++
	return t.ops[session]
}

// sent begins a publish; answered ends the one of the same number.
func (t *telling) sent(session uint32, id msg.ID, place, key uint32) (op uint32) {
	op = t.next(session)
	t.add(history.Event{Kind: history.PublishStart, Producer: id.Producer, Seq: id.Seq, Attempt: 1, Session: session, Place: place, Key: key, Op: op})
	return op
}

func (t *telling) answered(session, op uint32, id msg.ID, place uint32, off int64, class contract.Class) {
	answer := map[contract.Class]contract.Answer{contract.OK: contract.Acked, contract.Rejected: contract.Refused, contract.Unknown: contract.Timeout}[class]
	t.add(history.Event{Kind: history.PublishAnswer, Producer: id.Producer, Seq: id.Seq, Attempt: 1, Session: session, Op: op, Place: place, Off: off,
		Answer: answer, Class: class})
}

// published is a publish with its answer.
func (t *telling) published(session uint32, id msg.ID, place, key uint32, class contract.Class) {
	op := t.sent(session, id, place, key)
	t.answered(session, op, id, place, -1, class)
}

// delivered hands a message out; what the event says beyond that is in it already.
func (t *telling) delivered(session uint32, id msg.ID, e history.Event) (op uint32) {
	op = t.next(session)
	e.Kind, e.Producer, e.Seq, e.Session, e.Op = history.Delivery, id.Producer, id.Seq, session, op
	t.add(e)
	return op
}

// of is an event about a delivery.
func (t *telling) of(kind history.Kind, session, op uint32, id msg.ID, change func(*history.Event)) {
	e := history.Event{Kind: kind, Producer: id.Producer, Seq: id.Seq, Session: session, Op: op, Off: -1}
	if change != nil {
		change(&e)
	}
	t.add(e)
}

// worked is a handler that ends well.
func (t *telling) worked(session, op uint32, id msg.ID) {
	t.of(history.HandlerStart, session, op, id, nil)
	t.of(history.HandlerEnd, session, op, id, nil)
}

// settled is a settlement with its answer.
func (t *telling) settled(session, op uint32, id msg.ID, verb uint8, class contract.Class) {
	t.of(history.SettleStart, session, op, id, func(e *history.Event) { e.Verb = verb })
	t.of(history.SettleAnswer, session, op, id, func(e *history.Event) { e.Verb, e.Class = verb, class })
}

// drained ends a run of which nothing is left.
func (t *telling) drained() { t.add(history.Event{Kind: history.Drained, Class: contract.OK}) }

// value is what an id stands for; one that nobody named is written as it is.
func (t *telling) value(id msg.ID) any {
	if v, named := t.values[id]; named {
		return v
	}
	return fmt.Sprint(id)
}

// valuesOf lists what the ids of a finding stand for, in the order found.
func (t *telling) valuesOf(f findings, rows ...string) []any {
	all := []any{}
	for _, row := range rows {
		for _, id := range f[row] {
			all = append(all, t.value(id))
		}
	}
	return all
}
