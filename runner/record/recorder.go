// SPDX-License-Identifier: Apache-2.0

package record

import (
	"context"
	"strconv"
	"sync"

	"github.com/seed-720a3c77/harness/broker"
	"github.com/seed-720a3c77/harness/clock"
	"github.com/seed-720a3c77/harness/contract"
	"github.com/seed-720a3c77/harness/history"
	"github.com/seed-720a3c77/harness/msg"
)

// Recorder records one run. Its methods may be called concurrently.
type Recorder struct {
	recording *history.Recording
	clock     clock.Clock
	profile   contract.Profile
	// plain maps a run-unique destination name back to the workload's.
	plain map[string]string

	mu     sync.Mutex // guards what follows; never held across a wait
	places map[place]uint32
	latest struct { // looked up: mostly the next one is the same
		place
		ref uint32
	}
	keys    map[string]uint32
	session uint32
}

type place struct {
	destination string
	partition   int32
}

// whole stands for a destination without a partition.
const whole int32 = -1

// New makes a recorder. plain maps run-unique destination names to those of the workload.
func New(recording *history.Recording, clk clock.Clock, profile contract.Profile, plain map[string]string) *Recorder {
	return &Recorder{
		recording: recording, clock: clk, profile: profile, plain: plain,
		places: map[place]uint32{}, keys: map[string]uint32{},
	}
}

// Task begins the segment of a task.
func (r *Recorder) Task(name string) (*Task, error) {
	sharing := history.Shared
	if _, virtual := r.clock.(*clock.Virtual); virtual {
		sharing = history.Owned
	}
	segment, err := r.recording.Segment(name, sharing)
	if err != nil {
		return nil, err
	}
	return &Task{Recorder: r, segment: segment}, nil
}

// Place is the number of a destination or of one partition of it.
func (r *Recorder) Place(destination string, partition int32) uint32 {
	key := place{destination, partition}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.latest.place == key && r.latest.ref > 0 {
		return r.latest.ref
	}
	ref, known := r.places[key]
	if !known {
		ref = r.newPlace(key)
	}
	r.latest.place, r.latest.ref = key, ref
	return ref
}

func (r *Recorder) newPlace(key place) uint32 {
	text := r.plainName(key.destination) + "|"
	if key.partition >= 0 {
		text += strconv.Itoa(int(key.partition))
	}
	ref := r.recording.Intern(history.Places, text)
	r.places[key] = ref
	return ref
}

func (r *Recorder) plainName(destination string) string {
	if name, ok := r.plain[destination]; ok {
		return name
	}
	return destination
}

func (r *Recorder) key(text string) uint32 {
	if text == "" {
		return 0
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if ref, ok := r.keys[text]; ok {
		return ref
	}
	ref := r.recording.Intern(history.Keys, text)
	r.keys[text] = ref
	return ref
}

func (r *Recorder) text(text string) uint32 {
	if text == "" {
		return 0
	}
	return r.recording.Intern(history.Texts, text)
}

// newSession names a session: name, group, destination, and how often this name was
// opened, so that a restarted worker is another session.
func (r *Recorder) newSession(name, group, destination string) string {
	r.mu.Lock()
	r.session++
	n := r.session
	r.mu.Unlock()
	return name + "|" + group + "|" + r.plainName(destination) + "|" + strconv.Itoa(int(n))
}

// partitionOf is the partition of a token, or none on queues.
func (r *Recorder) partitionOf(t *broker.Token) int32 {
	if r.profile.Model == contract.Log {
		return t.Partition
	}
	return whole
}

func (r *Recorder) offsetOf(t *broker.Token) int64 {
	if r.profile.Model == contract.Log {
		return t.Offset
	}
	return -1
}

func (r *Recorder) now() int64 { return int64(r.clock.Now()) }

// Task records what one task does.
type Task struct {
	*Recorder
	segment *history.Segment
}

// Phase records that a phase of the run began.
func (t *Task) Phase(name string) {
	t.segment.Append(&history.Event{T: t.now(), Kind: history.Phase, Text: t.text(name)})
}

// Drained records how the drain ended; why is "" when nothing is left.
func (t *Task) Drained(why string) {
	e := history.Event{T: t.now(), Kind: history.Drained, Class: contract.OK, Text: t.text(why)}
	if why != "" {
		e.Class = contract.Unknown
	}
	t.segment.Append(&e)
}

// Interrupted records that the run was stopped from outside.
func (t *Task) Interrupted() {
	t.segment.Append(&history.Event{T: t.now(), Kind: history.Interrupted})
}

// Fault records a state of a fault: kind is one of the four kinds of fault events,
// number counts the faults of the workload from 1.
func (t *Task) Fault(kind history.Kind, number int, text string) {
	t.segment.Append(&history.Event{T: t.now(), Kind: kind, Op: uint32(number), Text: t.text(text)})
}

// Worker records that a worker's task began or, with ended, that it did; crashed says how.
func (t *Task) Worker(name string, ended, crashed bool) {
	e := history.Event{T: t.now(), Kind: history.WorkerStart, Text: t.text(name)}
	if ended {
		e.Kind = history.WorkerEnd
	}
	if crashed {
		e.Flags |= history.Crashed
	}
	t.segment.Append(&e)
}

// Vanished records the end of a session that another process had, and that died with it.
func (t *Task) Vanished(session string) {
	t.segment.Append(&history.Event{
		T: t.now(), Kind: history.SessionClose, Session: t.recording.Intern(history.Sessions, session),
		Flags: history.Crashed, Text: t.text("killed"),
	})
}

// Decision records what the application did about a bad answer.
func (t *Task) Decision(m *msg.Message, what string) {
	t.segment.Append(&history.Event{T: t.now(), Kind: history.Decision, Producer: m.ID.Producer, Seq: m.ID.Seq, Attempt: m.Attempt, Text: t.text(what)})
}

// Depth records a sample of a destination, on a log as seen by a group.
func (t *Task) Depth(destination, group string, d broker.Depth) {
	e := history.Event{T: t.now(), Place: t.Place(destination, whole), D: int64(d.Took)}
	if t.profile.Model == contract.Log {
		e.Kind, e.Session = history.DepthLog, t.recording.Intern(history.Sessions, "|"+group+"|"+t.plainName(destination)+"|0")
		e.Seq, e.Off, e.Until = uint64(d.Committed), d.End, d.Stable
	} else {
		e.Kind = history.DepthQueue
		e.Seq, e.Off, e.Until = uint64(d.Ready), d.InFlight, d.Delayed
	}
	t.segment.Append(&e)
}

// Audit records a message that was found stored at the end.
func (t *Task) Audit(d *broker.Delivery) {
	t.segment.Append(&history.Event{
		T: t.now(), Kind: history.Audit, Producer: d.ID.Producer, Seq: d.ID.Seq,
		Place: t.Place(d.Source, t.partitionOf(&d.Token)), Off: t.offsetOf(&d.Token), N: uint32(d.Count), Flags: flagsOf(d),
	})
}

// AuditEnd records that a destination was read to its end; why is "" if it was.
func (t *Task) AuditEnd(destination string, found int, why string) {
	e := history.Event{T: t.now(), Kind: history.AuditEnd, Place: t.Place(destination, whole), N: uint32(found), Class: contract.OK, Text: t.text(why)}
	if why != "" {
		e.Class = contract.Unknown
	}
	t.segment.Append(&e)
}

// EffectFound records what a store of effects holds of a message at the end; session is
// that of EffectsOf.
func (t *Task) EffectFound(session uint32, id msg.ID, count int) {
	t.segment.Append(&history.Event{
		T: t.now(), Kind: history.EffectFound, Producer: id.Producer, Seq: id.Seq, Session: session, N: uint32(count),
	})
}

// EffectsRead records that the store of a session was read to its end, and how many ids it
// had; why is "" if it was.
func (t *Task) EffectsRead(session uint32, ids int, why string) {
	e := history.Event{T: t.now(), Kind: history.EffectsRead, Session: session, N: uint32(ids), Class: contract.OK, Text: t.text(why)}
	if why != "" {
		e.Class = contract.Unknown
	}
	t.segment.Append(&e)
}

// EffectsOf is the session that stands for the store of a group.
func (t *Task) EffectsOf(group, from string) uint32 {
	return t.recording.Intern(history.Sessions, t.newSession("store", group, from))
}

// Overrun records a call that outlived its deadline.
func (t *Task) Overrun(ctx context.Context, call string, by int64) {
	t.segment.Append(&history.Event{T: t.now(), Kind: history.CallOverrun, D: by, Text: t.text(call)})
}
