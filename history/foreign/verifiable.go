// SPDX-License-Identifier: Apache-2.0

package foreign

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"

	"github.com/seed-720a3c77/harness/contract"
	"github.com/seed-720a3c77/harness/msg"
)

// This file reads what Kafka's VerifiableProducer and VerifiableConsumer print: one JSON
// object a line, with lines of a logger in between and perhaps a last one that was cut.
//
// A producer tells no start of a send: sends begin in the order of their values, and a
// value that is never mentioned is unknown, as is every error. A consumer tells ids only
// when it is verbose; otherwise offsets are joined with those that producers were told.

// verifiableLine is every field that one of the lines may have.
type verifiableLine struct {
	Timestamp  whole              `json:"timestamp"`
	Name       string             `json:"name"`
	Value      *word              `json:"value"`
	Topic      string             `json:"topic"`
	Partition  whole              `json:"partition"`
	Offset     whole              `json:"offset"`
	Exception  string             `json:"exception"`
	Message    string             `json:"message"`
	Sent       whole              `json:"sent"`
	Partitions []verifiableRange  `json:"partitions"`
	Offsets    []verifiableCommit `json:"offsets"`
	Success    *bool              `json:"success"`
	Error      string             `json:"error"`
	Fault      string             `json:"fault"`
}

type verifiableRange struct {
	Topic     string `json:"topic"`
	Partition whole  `json:"partition"`
	Count     *whole `json:"count"`
	MinOffset whole  `json:"minOffset"`
	MaxOffset whole  `json:"maxOffset"`
}

type verifiableCommit struct {
	Topic     string `json:"topic"`
	Partition whole  `json:"partition"`
	Offset    whole  `json:"offset"`
	Error     string `json:"error"`
}

// verifiable is a run of these tools.
type verifiable struct {
	*run
	base      int64 // ms of the first line
	last      int64
	producers bool              // some input is of a producer
	verbose   map[string]bool   // inputs that tell ids
	writers   int               // inputs that tell of sends
	tellers   map[msg.ID]int    // which of them told of a send's end, where there are several
	begun     map[uint32]uint64 // sends begun so far, by producer
	stored    map[stand]msg.ID  // what producers were told, where a consumer needs it
	acked     map[uint32]int64  // the highest acked offset by place
	read      map[uint32]int64  // the highest read offset by place
}

// stand is one position of a log.
type stand struct {
	place  uint32
	offset int64
}

func readVerifiable(r *run, inputs []Input) error {
	v := &verifiable{run: r, verbose: map[string]bool{}, begun: map[uint32]uint64{}, stored: map[stand]msg.ID{}, acked: map[uint32]int64{}, read: map[uint32]int64{},
		tellers: map[msg.ID]int{}}
	r.header.Profile = log("kafka")
	r.header.Claims = []contract.Claim{contract.AtLeastOnce}
	if err := v.survey(inputs); err != nil {
		return err
	}
	for i, in := range inputs {
		if err := v.each(in, v.produced(in.Name, i)); err != nil {
			return err
		}
	}
	for _, in := range inputs {
		if err := v.consume(in); err != nil {
			return err
		}
	}
	if err := v.faults(inputs); err != nil {
		return err
	}
	r.noteSkipped()
	return r.drained((v.last-v.base)*1e6, v.left())
}

// each calls do for every record of an input. A line may have words of a logger before the
// object and more than one object; what is none is passed over.
func (v *verifiable) each(in Input, do func(*verifiableLine) error) error {
	return v.eachLine(in, func(line []byte) error {
		start := bytes.IndexByte(line, '{')
		if start < 0 {
			return nil
		}
		decoder := json.NewDecoder(bytes.NewReader(line[start:]))
		for {
			var l verifiableLine
			if decoder.Decode(&l) != nil || l.Name == "" {
				return nil //nolint:nilerr // the line ends, or is of something else
			}
			if err := do(&l); err != nil {
				return err
			}
		}
	})
}

// survey finds out when the run began and who tells what.
func (v *verifiable) survey(inputs []Input) error {
	v.base = 1<<63 - 1
	for _, in := range inputs {
		records, writes := false, 0
		err := v.each(in, func(l *verifiableLine) error {
			records = true
			v.base, v.last = min(v.base, int64(l.Timestamp)), max(v.last, int64(l.Timestamp))
			if strings.HasPrefix(l.Name, "producer_send") {
				v.producers, writes = true, 1
			}
			v.verbose[in.Name] = v.verbose[in.Name] || l.Name == "record_data"
			return nil
		})
		if err != nil {
			return err
		}
		v.writers += writes
		if !records {
			return fmt.Errorf("%s: no record of a verifiable producer or consumer", in.Name)
		}
	}
	if v.last-v.base > 1<<43 || v.base < 0 {
		return fmt.Errorf("times from %d to %d ms make no run", v.base, v.last)
	}
	for _, in := range inputs {
		if err := v.eachLine(in, func(line []byte) error { v.count(in.Name, line); return nil }); err != nil {
			return err
		}
	}
	return nil
}

// count notes a line without a record.
func (v *verifiable) count(input string, line []byte) {
	var l verifiableLine
	start := bytes.IndexByte(line, '{')
	if len(bytes.TrimSpace(line)) > 0 && (start < 0 || json.NewDecoder(bytes.NewReader(line[start:])).Decode(&l) != nil || l.Name == "") {
		v.skip(input)
	}
}

func (v *verifiable) at(l *verifiableLine) int64 { return max(0, int64(l.Timestamp)-v.base) * 1e6 }

// parseValue reads a value: "7.12" is the thirteenth of the producer with the prefix 7. One
// that is no number is somebody else's.
func parseValue(value *word) (producer string, seq uint64, own bool) {
	if value == nil {
		return "", 0, false
	}
	number := string(*value)
	if i := strings.LastIndexByte(number, '.'); i >= 0 {
		producer, number = number[:i], number[i+1:]
	}
	seq, err := strconv.ParseUint(number, 10, 63)
	return producer, seq, err == nil
}

// sender is the producer with a prefix, which may be none, on a topic.
func sender(prefix, topic string) string {
	if prefix == "" {
		return topic
	}
	return prefix + " to " + topic
}

// produced tells what producers of an input said.
func (v *verifiable) produced(task string, input int) func(*verifiableLine) error {
	own := map[uint32]bool{}
	return func(l *verifiableLine) error {
		switch l.Name {
		case "producer_send_success", "producer_send_error":
		case "tool_data":
			return v.sent(task, l, own)
		default:
			return nil
		}
		name, seq, is := parseValue(l.Value)
		if !is {
			return nil
		}
		producer, err := v.producer(sender(name, l.Topic), l.Topic)
		if err != nil {
			return err
		}
		id := msg.ID{Producer: producer, Seq: seq}
		if err := v.once(id, input, *l.Value); err != nil {
			return err
		}
		own[producer] = true
		v.destination(l.Topic)
		if err := v.begin(task, v.at(l), id.Producer, l.Topic, id.Seq); err != nil {
			return err
		}
		return v.answered(task, l, id)
	}
}

// once refuses two inputs that tell of the same send: whose record a consumer read could
// not be told.
func (v *verifiable) once(id msg.ID, input int, value word) error {
	if v.writers < 2 {
		return nil
	}
	before, told := v.tellers[id]
	switch {
	case told && before != input:
		return fmt.Errorf("value %q was sent by the producer of another file too: they need a --value-prefix each", short([]byte(value)))
	case len(v.tellers) >= maxIDs:
		return fmt.Errorf("more than %d sends to tell apart", maxIDs)
	}
	v.tellers[id] = input
	return nil
}

// begin starts every send up to a value that has not begun.
func (v *verifiable) begin(task string, at int64, producer uint32, topic string, seq uint64) error {
	if seq >= v.begun[producer]+maxGap {
		return fmt.Errorf("value %d after %d", seq, v.begun[producer])
	}
	session := v.session(fmt.Sprint("producer ", producer), topic)
	for ; v.begun[producer] <= seq; v.begun[producer]++ {
		next := v.begun[producer]
		if err := v.infer(); err != nil {
			return err
		}
		if err := v.started(task, at, session, uint32(next+1), msg.ID{Producer: producer, Seq: next}, v.place(topic, ""), 0); err != nil {
			return err
		}
	}
	return nil
}

func (v *verifiable) answered(task string, l *verifiableLine, id msg.ID) error {
	session, op := v.session(fmt.Sprint("producer ", id.Producer), l.Topic), uint32(id.Seq+1)
	if l.Name == "producer_send_error" {
		return v.answer(task, v.at(l), session, op, id, v.place(l.Topic, ""), -1, contract.Unknown, l.Exception+": "+l.Message)
	}
	place, offset := v.partition(l.Topic, int64(l.Partition)), int64(l.Offset)
	v.acked[place] = max(v.acked[place], offset)
	if len(v.verbose) > 0 && !v.allVerbose() {
		if len(v.stored) >= maxIDs {
			return fmt.Errorf("more than %d positions to remember", maxIDs)
		}
		v.stored[stand{place, offset}] = id
	}
	return v.answer(task, v.at(l), session, op, id, place, offset, contract.OK, "")
}

func (v *verifiable) allVerbose() bool {
	for _, told := range v.verbose {
		if !told {
			return false
		}
	}
	return true
}

// sent is the tool's own count at its end: what was sent and never answered is unknown.
func (v *verifiable) sent(task string, l *verifiableLine, own map[uint32]bool) error {
	if len(own) != 1 || l.Sent <= 0 {
		return nil
	}
	for producer := range own {
		if uint64(l.Sent) > v.begun[producer] {
			return v.begin(task, v.at(l), producer, v.header.Producers[producer].To, uint64(l.Sent)-1)
		}
	}
	return nil
}

// left says what was acked and not read, "" for nothing.
func (v *verifiable) left() string {
	for place, acked := range v.acked {
		read, any := v.read[place]
		if !any || read < acked {
			return "the consumers stopped before the last acked offset"
		}
	}
	return ""
}
