// SPDX-License-Identifier: Apache-2.0

package foreign

import (
	"errors"
	"fmt"
	"io"
	"strconv"

	"github.com/seed-720a3c77/harness/contract"
	"github.com/seed-720a3c77/harness/history"
	"github.com/seed-720a3c77/harness/msg"
)

// This file reads Jepsen's history.edn: one map a line or a vector of maps, of the kafka
// workload (send, poll, txn, assign, subscribe) or of a queue (enqueue, dequeue, drain).
//
// An operation of the kafka workload is a transaction: what it sent and read counts as one.
// :info is unknown for all of it. Keys are partitions of one log, values the messages of
// their key. Nobody of these histories is in a group, so that the rules of a whole log
// judge them, and nothing is owed to anybody.

// jepsen is a history that is being read.
type jepsen struct {
	*run
	ids       map[string]msg.ID
	keys      map[string]uint32
	processes map[string]*jepsenProcess
	queue     bool
	decided   bool
	numbers   uint32 // of operations
	nemesis   nemesis
	unread    map[msg.ID]bool
	read      map[msg.ID]bool
	emptied   bool // a drain went well and nothing was put in since
	untold    int  // dequeues without an answer
	last      int64
}

// jepsenProcess is one client; after a crash Jepsen gives it another number.
type jepsenProcess struct {
	task    string
	session uint32
	began   int64
	invoked bool
	touched map[uint32]bool
	puts    map[string]uint32 // enqueues that have no answer yet
}

// jepsenOp is one line.
type jepsenOp struct {
	at        int64
	process   string
	class     contract.Class // Unclassed: an invocation
	f         string
	value     any
	rebalance []any
	failure   string
}

func readJepsen(r *run, inputs []Input) error {
	j := &jepsen{run: r, ids: map[string]msg.ID{}, keys: map[string]uint32{}, processes: map[string]*jepsenProcess{}, unread: map[msg.ID]bool{}, read: map[msg.ID]bool{}}
	for _, in := range inputs {
		if err := j.file(in); err != nil {
			return fmt.Errorf("%s: %w", in.Name, err)
		}
	}
	if !j.decided {
		return errors.New("no operation of a kafka or queue workload")
	}
	r.noteSkipped()
	return r.drained(j.last, j.left())
}

func (j *jepsen) file(in Input) error {
	if _, err := in.Seek(0, io.SeekStart); err != nil {
		return err
	}
	forms := newEDN(in)
	for index := int64(0); ; index++ {
		form, err := forms.next()
		switch {
		case errors.Is(err, io.EOF):
			return nil
		case errors.Is(err, io.ErrUnexpectedEOF) && j.decided:
			j.skip(in.Name) // a last line that was cut
			return nil
		case err != nil:
			return err
		}
		o, is := form.(object)
		if !is {
			return fmt.Errorf("line %d: want a map for each operation", forms.line)
		}
		if err := j.op(o, index); err != nil {
			return fmt.Errorf("line %d: %w", forms.line, err)
		}
	}
}

// left says why something may still be there, "" for nothing: everything was read, or a
// drain went well after the last enqueue and nobody may have taken what was not told.
func (j *jepsen) left() string {
	switch {
	case len(j.unread) == 0, j.emptied && j.untold == 0:
		return ""
	case j.untold > 0:
		return fmt.Sprintf("%d acked values were not read, and %d dequeues have no answer", len(j.unread), j.untold)
	}
	return fmt.Sprintf("%d acked values were not read", len(j.unread))
}

// types are the kinds of line that end an operation.
var types = map[keyword]contract.Class{"ok": contract.OK, "fail": contract.Rejected, "info": contract.Unknown}

func (j *jepsen) op(o object, index int64) error {
	op := jepsenOp{at: index * 1000, process: ednText(o.get("process")), value: o.get("value"), failure: ednText(o.get("error"))}
	if at, told := o.get("time").(int64); told && at >= 0 && at < 1<<61 {
		op.at = at
	}
	op.rebalance, _ = o.get("rebalance-log").([]any)
	kind, _ := o.get("type").(keyword)
	op.class = types[kind]
	f, _ := o.get("f").(keyword)
	op.f = string(f)
	j.last = max(j.last, op.at)
	if o.get("process") == keyword("nemesis") {
		return j.strike(&op)
	}
	if err := j.decide(op.f); err != nil || !j.decided {
		return err
	}
	if j.queue {
		return j.queueOp(&op)
	}
	return j.logOp(&op)
}

// decide finds out from the first operation which workload it is.
func (j *jepsen) decide(f string) error {
	if j.decided {
		return nil
	}
	switch f {
	case "send", "poll", "txn", "assign", "subscribe":
		j.header.Profile = log("jepsen")
		j.header.Destinations = []history.Destination{{Name: "log", Broker: "log"}}
	case "enqueue", "dequeue", "drain":
		j.queue = true
		j.header.Profile = queue("jepsen")
		j.destination("queue")
	default:
		return nil
	}
	j.decided = true
	j.header.Claims = []contract.Claim{contract.AtLeastOnce}
	return nil
}

func (j *jepsen) process(name string) (*jepsenProcess, error) {
	p := j.processes[name]
	if p == nil {
		if len(j.processes) >= maxSessions {
			return nil, fmt.Errorf("more than %d processes", maxSessions)
		}
		// All of them share a segment: the history has one order.
		p = &jepsenProcess{task: "processes", touched: map[uint32]bool{}, puts: map[string]uint32{}}
		destination := "log"
		if j.queue {
			destination = "queue"
		}
		p.session = j.session("process "+name, destination)
		j.processes[name] = p
	}
	return p, nil
}

// id is the message that a value of a key stands for.
func (j *jepsen) id(key string, value any) (msg.ID, error) {
	name := key + "\x00" + ednText(value)
	id, known := j.ids[name]
	if known {
		return id, nil
	}
	if len(j.ids) >= maxIDs {
		return id, fmt.Errorf("more than %d values to remember", maxIDs)
	}
	number, known := j.keys[key]
	if !known {
		number = uint32(len(j.keys))
		j.keys[key] = number
	}
	id = msg.ID{Producer: number, Seq: uint64(len(j.ids))}
	j.ids[name] = id
	return id, nil
}

// ednText is how a value is told from others.
func ednText(v any) string {
	switch v := v.(type) {
	case nil:
		return ""
	case string:
		return v
	case keyword:
		return string(v)
	case symbol:
		return string(v)
	case int64:
		return strconv.FormatInt(v, 10)
	}
	return fmt.Sprint(v)
}
