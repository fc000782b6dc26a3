// SPDX-License-Identifier: Apache-2.0

package foreign

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/seed-720a3c77/harness/contract"
	"github.com/seed-720a3c77/harness/history"
	"github.com/seed-720a3c77/harness/msg"
)

// This file reads workload.log of redpanda's chaos tests: thread, microseconds since the
// line before, command and arguments, apart by tabs. A thread says in its first line which
// node of the workload it belongs to and what it does:
//
//	producing   msg|send [key|partition] id, ok [offset], err, time; cmt and brt end transactions
//	consuming   read partition offset node id, commit partition offset, ok, err
//	streaming   read offset node partition id: an input; tx, cmt, brt, ok, err
//	consuming   seen offset by node partition id: an output, and the input that it is of
//
// An error or a timeout is unknown. An output that is seen is an effect of its input,
// whatever its transaction was told. Thread -1 is the orchestrator and tells of faults.

// redpanda is a run of several nodes.
type redpanda struct {
	*run
	begun  map[uint32]uint64 // sends begun so far, by producer
	inputs map[msg.ID]handled
	holder map[msg.ID]uint32 // session of the latest read of an input
	front  map[int64]int64   // the highest output offset seen, by partition
	faults int
	last   int64
	effect bool
	lost   uint32 // reads that somebody must have made and did not record
}

// redpandaThread is one thread of one node.
type redpandaThread struct {
	*redpanda
	task     string
	node     string
	role     string
	session  uint32
	sessions int
	send     *redpandaSend
	reads    map[uint32]handled // the latest by place
	input    *msg.ID
	ending   string // cmt or brt, waiting for its answer
	commit   *redpandaCommit
}

type redpandaSend struct {
	id    msg.ID
	op    uint32
	place uint32
	txn   bool
}

type redpandaCommit struct {
	place uint32
	off   int64
}

const topic = "topic"

func readRedpanda(r *run, inputs []Input) error {
	p := &redpanda{run: r, begun: map[uint32]uint64{}, inputs: map[msg.ID]handled{}, holder: map[msg.ID]uint32{}, front: map[int64]int64{}}
	r.header.Profile = log("redpanda")
	r.header.Claims = []contract.Claim{contract.AtLeastOnce}
	r.destination(topic)
	for _, in := range inputs {
		if err := p.file(in); err != nil {
			return err
		}
	}
	if p.effect {
		r.header.Subscriptions[0].Effect = "transactional"
		r.header.Claims = append(r.header.Claims, contract.EffectivelyOnce)
	}
	r.noteSkipped()
	if p.lost > 0 {
		r.note("%d outputs have inputs of which no read is recorded", p.lost)
		if err := r.add("end", p.last, history.Event{Kind: history.Dropped, N: p.lost}); err != nil {
			return err
		}
	}
	return r.drained(p.last, "nobody recorded that everything was read")
}

func (p *redpanda) file(in Input) error {
	f := &redpandaFile{redpanda: p, name: in.Name, threads: map[string]*redpandaThread{}}
	if err := p.eachLine(in, f.line); err != nil {
		return err
	}
	return f.ended()
}

// redpandaFile is the log of one node.
type redpandaFile struct {
	*redpanda
	name    string
	threads map[string]*redpandaThread
	begun   bool
	at      int64
}

// line tells what a thread did. The first line counts from an epoch, the others from the
// one before.
func (f *redpandaFile) line(line []byte) error {
	field := strings.Split(string(line), "\t")
	if len(field) < 3 {
		return fmt.Errorf("want thread, microseconds and command, found %q", short(line))
	}
	step, err := strconv.ParseInt(field[1], 10, 64)
	if err != nil || step < 0 || f.begun && step > 1<<50 || f.at > 1<<61 {
		return fmt.Errorf("want microseconds since the line before, found %q", field[1])
	}
	if f.begun || step < 1e12 {
		f.at += step * 1000
	}
	f.begun = true
	f.last = max(f.last, f.at)
	return f.tell(field[0], field[2], field[3:])
}

// ended closes the sessions of a file.
func (f *redpandaFile) ended() error {
	for _, number := range slices.Sorted(maps.Keys(f.threads)) {
		t := f.threads[number]
		e := history.Event{Kind: history.SessionClose, Session: t.session, Text: f.text("the log ends")}
		if err := f.add(t.task, f.at, e); err != nil {
			return err
		}
	}
	return nil
}

// short is the beginning of a line, for an error.
func short(line []byte) string { return string(line[:min(len(line), 60)]) }

func (f *redpandaFile) tell(number, command string, args []string) error {
	if number == "-1" || command == "event" {
		return f.event(f.name, f.at, args)
	}
	t := f.threads[number]
	if t == nil {
		if len(f.threads) >= maxProducers {
			return fmt.Errorf("more than %d threads", maxProducers)
		}
		t = &redpandaThread{redpanda: f.redpanda, task: f.name + " " + number, node: f.name, reads: map[uint32]handled{}}
		f.threads[number] = t
	}
	return t.do(f.at, command, args)
}

// event is what the orchestrator says of a fault.
func (p *redpanda) event(input string, at int64, args []string) error {
	name := strings.Join(args, " ")
	kind := history.NoKind
	switch {
	case strings.HasPrefix(name, "injecting"):
		p.faults++
		p.header.Faults = append(p.header.Faults, history.Fault{Name: "injected", Target: input, Text: name})
		kind = history.FaultRequested
	case strings.HasPrefix(name, "injected"):
		if p.faults == 0 {
			p.faults++
			p.header.Faults = append(p.header.Faults, history.Fault{Name: "injected", Target: input, Text: name})
		}
		kind = history.FaultActive
	case strings.HasPrefix(name, "healed"):
		kind = history.FaultHealed
	}
	if kind == history.NoKind || p.faults == 0 || len(p.header.Faults) > maxProducers {
		return nil
	}
	return p.add(input, at, history.Event{Kind: kind, Op: uint32(p.faults), Text: p.text("injected " + input)})
}

func (t *redpandaThread) do(at int64, command string, args []string) error {
	switch command {
	case "started":
		return t.started(at, args)
	case "msg", "send":
		return t.sends(at, args)
	case "ok":
		return t.ok(at, args)
	case "err", "time":
		return t.failed(at, command)
	case "cmt", "brt":
		t.ending = command
		return t.txn(at)
	case "read":
		return t.read(at, args)
	case "seen":
		return t.seen(at, args)
	case "commit":
		return t.commits(args)
	case "log":
		return t.moved(at, args)
	case "violation":
		t.note("the tool itself found: %s", strings.Join(args, " "))
		return nil
	case "constructing":
		return t.again(at)
	case "constructed", "tx", "delta", "poll", "ack", "tick":
		return nil
	}
	return fmt.Errorf("unknown command %q", command)
}

func (t *redpandaThread) started(at int64, args []string) error {
	if len(args) > 0 {
		t.node = args[0]
	}
	if len(args) > 1 {
		t.role = args[1]
	}
	return t.open(at)
}

func (t *redpandaThread) open(at int64) error {
	t.sessions++
	t.session = t.run.session(fmt.Sprintf("%s/%d", t.task, t.sessions), topic)
	return t.add(t.task, at, history.Event{Kind: history.SessionOpen, Session: t.session})
}

// again is a thread that makes itself a new client: what the old one waited for stays open.
func (t *redpandaThread) again(at int64) error {
	if t.session == 0 || t.next(t.session) == 1 {
		return nil // its first
	}
	e := history.Event{Kind: history.SessionClose, Session: t.session, Text: t.text("a new client was made")}
	if err := t.add(t.task, at, e); err != nil {
		return err
	}
	t.send, t.commit, t.input, t.ending = nil, nil, nil, ""
	clear(t.reads)
	return t.open(at)
}

// number reads the argument at i from the end (-1 is the last).
func number(args []string, i int) (int64, error) {
	if i < 0 {
		i += len(args)
	}
	if i < 0 || i >= len(args) {
		return 0, fmt.Errorf("want %d arguments, found %d", i+1, len(args))
	}
	n, err := strconv.ParseInt(args[i], 10, 63)
	if err != nil || n < 0 {
		return 0, fmt.Errorf("want a number, found %q", args[i])
	}
	return n, nil
}

func (t *redpandaThread) id(node string, seq int64) (msg.ID, error) {
	producer, err := t.producer(node, topic)
	return msg.ID{Producer: producer, Seq: uint64(seq)}, err
}

// sends begins a publish: its id is the last argument, a key or a partition may be first.
func (t *redpandaThread) sends(at int64, args []string) error {
	seq, err := number(args, -1)
	if err != nil {
		return err
	}
	id, err := t.id(t.node, seq)
	if err != nil {
		return err
	}
	place, key := t.place(topic, ""), uint32(0)
	if len(args) > 1 {
		if partition, err := number(args, 0); err == nil && t.role == "producing" {
			place = t.partition(topic, partition)
		} else {
			key = t.key(args[0])
		}
	}
	t.send = &redpandaSend{id: id, op: t.next(t.session), place: place}
	return t.run.started(t.task, at, t.session, t.send.op, id, place, key)
}

// txn opens the transaction that a producer's send was in: it is known as one when it ends.
func (t *redpandaThread) txn(at int64) error {
	if t.input != nil {
		return t.about(at, history.EffectIntent, 0)
	}
	if t.send != nil {
		t.send.txn = true
	}
	return nil
}

// ok is the answer to whatever the thread waits for.
func (t *redpandaThread) ok(at int64, args []string) error {
	switch {
	case t.commit != nil:
		return t.answerCommit(at, contract.OK)
	case t.input != nil && t.ending == "cmt":
		return t.done(at, 0)
	case t.input != nil:
		return t.done(at, history.Failed)
	case t.send == nil:
		return nil
	}
	off := int64(-1)
	if len(args) > 0 {
		var err error
		if off, err = number(args, 0); err != nil {
			return err
		}
	}
	class := contract.OK
	if t.ending == "brt" {
		class = contract.Rejected
	}
	return t.answerSend(at, off, class, "")
}

func (t *redpandaThread) answerSend(at, off int64, class contract.Class, why string) error {
	s := t.send
	t.send, t.ending = nil, ""
	place := s.place
	if off >= 0 && place == t.place(topic, "") {
		place = t.partition(topic, 0)
	}
	return t.answer(t.task, at, t.session, s.op, s.id, place, off, class, why)
}

// failed is an error or a timeout: whatever the thread waits for is unknown.
func (t *redpandaThread) failed(at int64, command string) error {
	switch {
	case t.commit != nil:
		return t.answerCommit(at, contract.Unknown)
	case t.input != nil:
		return t.done(at, history.Failed)
	case t.send == nil:
		return nil
	}
	return t.answerSend(at, -1, contract.Unknown, command)
}
