// SPDX-License-Identifier: Apache-2.0

package foreign

import (
	"fmt"
	"slices"
	"strconv"
	"time"

	"github.com/seed-720a3c77/harness/contract"
	"github.com/seed-720a3c77/harness/history"
	"github.com/seed-720a3c77/harness/msg"
)

const (
	// maxLine bounds a line of a text format.
	maxLine = 1 << 20
	// maxIDs bounds the ids, producers and positions that are remembered.
	maxIDs = 1 << 24
	// maxGap bounds how many ids in a row may be missing: more is damage of a number.
	maxGap = 1 << 17
	// maxProducers bounds the producers of a run, its partitions and its faults.
	maxProducers = 1 << 12
	// maxSessions bounds its sessions.
	maxSessions = 1 << 14
	// maxTexts bounds the answers of which the words are kept.
	maxTexts = 1 << 16
)

// run is a history that is being told.
type run struct {
	recording *history.Recording
	header    history.Header
	segments  map[string]*segment
	producers map[string]uint32
	ops       map[uint32]uint32 // publishes and deliveries so far, by session
	skipped   map[string]int    // lines passed over, by input
	names     [history.Tables]map[string]uint32
	inferred  int   // events that no line tells by itself
	full      error // too much was seen
}

// segment keeps time from going back.
type segment struct {
	*history.Segment
	last int64
}

// group is the subscription of every imported run.
const group = "group"

func newRun(recording *history.Recording, format string) *run {
	h := recording.Header()
	h.Workload, h.Engine, h.Provider = h.Run, format, "imported"
	h.Fidelity, h.Clock, h.Tool = "real", "wall", "imported"
	return &run{recording: recording, header: h, segments: map[string]*segment{}, producers: map[string]uint32{}, ops: map[uint32]uint32{}, skipped: map[string]int{}}
}

// add appends an event to the segment of a task.
func (r *run) add(task string, at int64, e history.Event) error {
	if r.full != nil {
		return r.full
	}
	s := r.segments[task]
	if s == nil {
		made, err := r.recording.Segment(task)
		if err != nil {
			return err
		}
		s = &segment{Segment: made}
		r.segments[task] = s
	}
	s.last = max(s.last, at)
	e.T = s.last
	s.Append(&e)
	return nil
}

// infer counts an event that no line tells by itself: few lines could stand for many.
func (r *run) infer() error {
	if r.inferred++; r.inferred > maxIDs {
		return fmt.Errorf("more than %d messages that are not told one by one", maxIDs)
	}
	return nil
}

func (r *run) note(format string, args ...any) {
	r.header.Notes = append(r.header.Notes, fmt.Sprintf(format, args...))
}

// skip counts a line that is none of the tool's.
func (r *run) skip(input string) { r.skipped[input]++ }

// noteSkipped says how many lines were passed over.
func (r *run) noteSkipped() {
	var names []string
	for name := range r.skipped {
		names = append(names, name)
	}
	slices.Sort(names)
	for _, name := range names {
		r.note("%s: %d lines that are no records were passed over", name, r.skipped[name])
	}
}

// producer is the number of a producer of a destination, by its name.
func (r *run) producer(name, to string) (uint32, error) {
	n, known := r.producers[name]
	if known {
		return n, nil
	}
	if len(r.producers) >= maxProducers {
		return 0, fmt.Errorf("more than %d producers", maxProducers)
	}
	n = uint32(len(r.producers))
	r.producers[name] = n
	r.header.Producers = append(r.header.Producers, history.Producer{Name: name, To: to})
	return n, nil
}

// destination adds one with its subscription, once.
func (r *run) destination(name string) {
	if slices.ContainsFunc(r.header.Destinations, func(d history.Destination) bool { return d.Name == name }) {
		return
	}
	r.header.Destinations = append(r.header.Destinations, history.Destination{Name: name, Broker: name})
	r.header.Subscriptions = append(r.header.Subscriptions, history.Subscription{
		Name: group, From: name, Published: []string{name}, Settle: "after-handler", Effect: "none"})
}

// name interns a text of which there may be no more than a limit.
func (r *run) name(table history.Table, text string, limit int) (ref uint32, fits bool) {
	if ref, known := r.names[table][text]; known {
		return ref, true
	}
	if len(r.names[table]) >= limit {
		return 0, false
	}
	if r.names[table] == nil {
		r.names[table] = map[string]uint32{}
	}
	ref = r.recording.Intern(table, text)
	r.names[table][text] = ref
	return ref, true
}

func (r *run) session(name, destination string) uint32 {
	ref, fits := r.name(history.Sessions, name+"|"+group+"|"+destination+"|1", maxSessions)
	if !fits {
		r.full = fmt.Errorf("more than %d sessions", maxSessions)
	}
	return ref
}

func (r *run) place(destination, partition string) uint32 {
	ref, fits := r.name(history.Places, destination+"|"+partition, maxProducers)
	if !fits {
		r.full = fmt.Errorf("more than %d partitions", maxProducers)
	}
	return ref
}

func (r *run) partition(destination string, partition int64) uint32 {
	return r.place(destination, strconv.FormatInt(partition, 10))
}

// text is empty once there are too many.
func (r *run) text(text string) uint32 {
	ref, _ := r.name(history.Texts, text, maxTexts)
	return ref
}

func (r *run) key(text string) uint32 { return r.recording.Intern(history.Keys, text) }

func (r *run) next(session uint32) uint32 {
	r.ops[session]++
	return r.ops[session]
}

// started begins a publish; answer ends it.
func (r *run) started(task string, at int64, session, op uint32, id msg.ID, place, key uint32) error {
	return r.add(task, at, history.Event{Kind: history.PublishStart, Producer: id.Producer, Seq: id.Seq, Attempt: 1, Session: session, Place: place, Key: key, Op: op})
}

func (r *run) answer(task string, at int64, session, op uint32, id msg.ID, place uint32, off int64, class contract.Class, text string) error {
	e := history.Event{Kind: history.PublishAnswer, Producer: id.Producer, Seq: id.Seq, Attempt: 1, Session: session, Op: op, Place: place, Off: off, Class: class, Answer: answers[class]}
	if text != "" {
		e.Text = r.text(text)
	}
	return r.add(task, at, e)
}

// answers are what stands for a class where the tool tells no more.
var answers = map[contract.Class]contract.Answer{contract.OK: contract.Acked, contract.Rejected: contract.Refused, contract.Unknown: contract.Timeout}

// handled is a delivery that is worked on and done at once.
func (r *run) handled(task string, at int64, session uint32, id msg.ID, e history.Event) (op uint32, err error) {
	op = r.next(session)
	e.Kind, e.Producer, e.Seq, e.Session, e.Op = history.Delivery, id.Producer, id.Seq, session, op
	if err := r.add(task, at, e); err != nil || e.Has(history.Foreign) {
		return op, err
	}
	for _, kind := range []history.Kind{history.HandlerStart, history.HandlerEnd} {
		done := history.Event{Kind: kind, Producer: id.Producer, Seq: id.Seq, Session: session, Op: op, Place: e.Place, Off: -1}
		if err := r.add(task, at, done); err != nil {
			return op, err
		}
	}
	return op, nil
}

func (r *run) settle(task string, at int64, session, op uint32, id msg.ID, place uint32, off int64, verb uint8, class contract.Class, text string) error {
	e := history.Event{Kind: history.SettleStart, Producer: id.Producer, Seq: id.Seq, Session: session, Op: op, Place: place, Off: off, Verb: verb}
	if err := r.add(task, at, e); err != nil {
		return err
	}
	e.Kind, e.Class = history.SettleAnswer, class
	if text != "" {
		e.Text = r.text(text)
	}
	return r.add(task, at, e)
}

// drained ends a run: why is "" where all that was acked is known to have been read.
func (r *run) drained(at int64, why string) error {
	e := history.Event{Kind: history.Drained, Class: contract.OK}
	if why != "" {
		e.Class, e.Text = contract.Unknown, r.text(why)
	}
	return r.add("end", at, e)
}

// log is the profile of a log whose client is not known: what its tool promises.
func log(product string) contract.Profile {
	return contract.Profile{
		Name: product + "-imported", Product: product, Model: contract.Log, Nodes: 1,
		Can:   contract.Can(contract.Partitions, contract.Groups, contract.OffsetCommit, contract.Confirms),
		Order: contract.OrderPartition, Return: contract.PlaceOriginal, Stale: contract.StaleRefused,
		Session: contract.Hold{Name: "session timeout", Default: 30 * time.Second},
		Publish: contract.OK, Settle: contract.OK, TakeOver: 10 * time.Second, Tolerance: time.Second,
	}
}

// queue is the profile of a queue of which nothing is known but that it keeps what it took.
func queue(product string) contract.Profile {
	return contract.Profile{
		Name: product + "-imported", Product: product, Model: contract.LeaseQueue, Nodes: 1,
		Can: contract.Can(contract.Acks, contract.Confirms), Order: contract.OrderNone,
		Publish: contract.OK, Settle: contract.OK, Tolerance: time.Second,
	}
}
