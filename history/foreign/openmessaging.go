// SPDX-License-Identifier: Apache-2.0

package foreign

import (
	"bytes"
	"fmt"
	"strconv"
	"strings"

	"github.com/seed-720a3c77/harness/contract"
	"github.com/seed-720a3c77/harness/history"
	"github.com/seed-720a3c77/harness/msg"
)

// This file reads history files of openmessaging-chaos, apart by tabs:
//
//	client  enqueue|dequeue  REQUEST   value  key  ms  extra
//	client  enqueue|dequeue  RESPONSE  SUCCESS|FAILURE|UNKNOWN  value  key  ms  took  extra  end to end
//	fault   name  start|end  ms
//
// A failure is unknown: the drivers call everything one that is not a success. What was
// dequeued counts as done, whoever was told of its enqueue; a delivered message whose
// enqueue is unknown is recovered, no duplicate.
type openMessaging struct {
	*run
	base   int64
	any    bool
	ids    map[string]msg.ID
	acked  map[msg.ID]bool // enqueued and not yet dequeued
	out    map[msg.ID]bool // dequeued
	open   map[string]uint32
	faults map[string]uint32 // the latest of each name
	last   int64
}

func readOpenMessaging(r *run, inputs []Input) error {
	o := &openMessaging{run: r, ids: map[string]msg.ID{}, acked: map[msg.ID]bool{}, out: map[msg.ID]bool{}, open: map[string]uint32{}, faults: map[string]uint32{}}
	r.header.Profile = queue("openmessaging")
	r.header.Claims = []contract.Claim{contract.AtLeastOnce, contract.AtMostOnce}
	r.destination("queue")
	for _, in := range inputs {
		if err := r.eachLine(in, o.line); err != nil {
			return err
		}
	}
	r.noteSkipped()
	why := ""
	if len(o.acked) > 0 {
		why = "some of what was enqueued had not been dequeued"
	}
	return r.drained(o.last, why)
}

func (o *openMessaging) line(line []byte) error {
	if len(bytes.TrimSpace(line)) == 0 {
		return nil
	}
	field := strings.Split(string(line), "\t")
	switch {
	case field[0] == "fault":
		return o.fault(field)
	case len(field) > 2 && field[1] != "enqueue" && field[1] != "dequeue":
		return fmt.Errorf("%q is no operation of a queue: want enqueue or dequeue", short([]byte(field[1])))
	case len(field) >= 6 && field[2] == "REQUEST":
		return o.request(field)
	case len(field) >= 7 && field[2] == "RESPONSE":
		return o.response(field)
	}
	return fmt.Errorf("want a request, a response or a fault, found %d fields", len(field))
}

func (o *openMessaging) at(text string) (int64, error) {
	ms, err := strconv.ParseInt(text, 10, 64)
	if err != nil || ms < 0 || ms > 1<<43 {
		return 0, fmt.Errorf("time %q", text)
	}
	if !o.any {
		o.any, o.base = true, ms
	}
	at := max(0, ms-o.base) * 1e6
	o.last = max(o.last, at)
	return at, nil
}

// id is the message that a value stands for: all values are of one producer.
func (o *openMessaging) id(value string) (msg.ID, error) {
	id, known := o.ids[value]
	if known {
		return id, nil
	}
	if len(o.ids) >= maxIDs {
		return id, fmt.Errorf("more than %d values to remember", maxIDs)
	}
	producer, err := o.producer("openmessaging", "queue")
	id = msg.ID{Producer: producer, Seq: uint64(len(o.ids))}
	o.ids[value] = id
	return id, err
}

// task of a client; all producers share a segment, so that their ids have one order.
func task(client string) string { return "client " + client }

func (o *openMessaging) request(field []string) error {
	at, err := o.at(field[5])
	if err != nil || field[1] != "enqueue" {
		return err
	}
	id, err := o.id(field[3])
	if err != nil {
		return err
	}
	session := o.session("client "+field[0], "queue")
	op := o.next(session)
	o.open[field[0]+"\x00"+field[3]] = op
	return o.started(task(field[0]), at, session, op, id, o.place("queue", ""), o.keyOf(field[4]))
}

func (o *openMessaging) keyOf(text string) uint32 {
	if text == "" || text == "null" {
		return 0
	}
	return o.key(text)
}

func (o *openMessaging) response(field []string) error {
	at, err := o.at(field[6])
	if err != nil {
		return err
	}
	session := o.session("client "+field[0], "queue")
	if field[1] == "enqueue" {
		return o.enqueued(at, session, field)
	}
	if field[3] != "SUCCESS" || field[4] == "null" {
		return o.add(task(field[0]), at, history.Event{Kind: history.Receive, Session: session, Class: contract.OK})
	}
	id, err := o.id(field[4])
	if err != nil {
		return err
	}
	delete(o.acked, id)
	o.out[id] = true
	place := o.place("queue", "")
	op, err := o.handled(task(field[0]), at, session, id, history.Event{Place: place, Off: -1, Key: o.keyOf(field[5])})
	if err != nil {
		return err
	}
	return o.settle(task(field[0]), at, session, op, id, place, -1, history.VerbAck, contract.OK, "")
}

func (o *openMessaging) enqueued(at int64, session uint32, field []string) error {
	name := field[0] + "\x00" + field[4]
	op, begun := o.open[name]
	if !begun {
		return fmt.Errorf("an answer to %q that was not asked for", field[4])
	}
	delete(o.open, name)
	id, err := o.id(field[4])
	if err != nil {
		return err
	}
	class := contract.Unknown
	if field[3] == "SUCCESS" {
		class = contract.OK
		if !o.out[id] {
			o.acked[id] = true
		}
	}
	return o.answer(task(field[0]), at, session, op, id, o.place("queue", ""), -1, class, "")
}

func (o *openMessaging) fault(field []string) error {
	if len(field) < 4 {
		return fmt.Errorf("a fault with %d fields", len(field))
	}
	at, err := o.at(field[3])
	if err != nil {
		return err
	}
	if field[2] == "start" {
		if len(o.header.Faults) >= maxProducers {
			return fmt.Errorf("more than %d faults", maxProducers)
		}
		o.header.Faults = append(o.header.Faults, history.Fault{Name: field[1], Text: strings.Join(field, " ")})
		o.faults[field[1]] = uint32(len(o.header.Faults))
		return o.add("faults", at, history.Event{Kind: history.FaultActive, Op: o.faults[field[1]], Text: o.text(field[1])})
	}
	number, begun := o.faults[field[1]]
	if !begun {
		return nil
	}
	return o.add("faults", at, history.Event{Kind: history.FaultHealed, Op: number, Text: o.text(field[1])})
}
