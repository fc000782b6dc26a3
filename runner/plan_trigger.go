// SPDX-License-Identifier: Apache-2.0

package runner

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/seed-720a3c77/harness/broker"
	"github.com/seed-720a3c77/harness/faults"
	"github.com/seed-720a3c77/harness/internal/suggest"
	"github.com/seed-720a3c77/harness/msg"
	"github.com/seed-720a3c77/harness/workloads"
)

// trigger is a time, a point that a worker reaches, a call of the port, or what becomes
// of another fault.
type trigger struct {
	at, after time.Duration
	timed     bool
	// jitter bounds how much later the step is, by the seed.
	jitter time.Duration
	worker string // GROUP or GROUP/N; "" is any
	point  string
	n      int
	id     *msg.ID
	// call is of the n-th such call.
	call *faults.Match
	// fault and state: a kind, or a kind and its target, that became active or healed.
	fault, state string
}

// The states of a fault that a step can wait for.
const (
	stateActive = "active"
	stateHealed = "healed"
)

// The points that a client is told of by the broker.
const (
	pointAssign = "assign"
	pointRevoke = "revoke"
)

// notices maps them.
func noticeOf(kind broker.NoticeKind) string {
	switch kind {
	case broker.Assigned:
		return pointAssign
	case broker.Revoked, broker.Lost:
		return pointRevoke
	}
	return ""
}

// trigger keeps its times: they are measured against the load, which is never scaled.
func (p *Plan) trigger(s workloads.Step) (trigger, error) {
	w := s.Trigger
	t := trigger{
		at: w.At.Std(), after: w.After.Std(), timed: w.Timed && !w.Following, worker: w.Worker, point: w.Point,
		n: max(w.N, 1), fault: w.Fault, state: w.State,
	}
	if id, err := msg.ParseID(w.ID); err == nil {
		t.id = &id
	}
	if t.point == "mid-batch" {
		t.n = p.midBatch(t)
	}
	return t, errors.Join(p.callTrigger(s, &t), p.faultTrigger(s, &t), p.portTrigger(s, &t))
}

func (p *Plan) callTrigger(s workloads.Step, t *trigger) error {
	w := s.Trigger
	if w.Operation == "" {
		return nil
	}
	t.call = &faults.Match{Operation: w.Operation, By: w.By, To: w.To, ID: w.ID, Key: w.Key}
	if err := t.call.Check(); err != nil {
		return p.atLine(s, err)
	}
	if why := t.call.Unable(&p.Profile); why != "" {
		return inapplicable("%s: it waits for a call: %s", s.Do, why)
	}
	if t.call.To != "" {
		if err := p.known(s, "destination", t.call.To, p.stored()); err != nil {
			return err
		}
		t.call.To = p.Names[t.call.To]
	}
	if t.call.By == "" {
		return nil
	}
	return p.known(s, "client", t.call.By, p.clients())
}

func (p *Plan) faultTrigger(s workloads.Step, t *trigger) error {
	if t.fault == "" {
		return nil
	}
	if t.state == "" {
		t.state = stateActive
	}
	name, _, _ := strings.Cut(t.fault, " ")
	if !slices.Contains(p.used(), name) {
		return &workloads.LineError{File: p.Spec.Name, Line: s.Line, Text: suggest.Unknown("fault", name, p.used())}
	}
	return nil
}

// portTrigger: what happens at the port of a process is not seen here.
func (p *Plan) portTrigger(s workloads.Step, t *trigger) error {
	if !t.atPort() {
		return nil
	}
	var clients []string
	switch {
	case t.call != nil && t.call.By != "":
		clients = []string{t.call.By}
	case t.call != nil && t.call.Operation == faults.Publish:
		return nil
	case t.worker != "":
		clients = []string{t.worker}
	}
	return p.reachesCalls(s.Do, clients)
}

// atPort: it is seen at the port and not by the worker.
func (t *trigger) atPort() bool {
	return t.call != nil || t.point == pointAssign || t.point == pointRevoke
}

// waits tells whether it waits for something else than its time.
func (t *trigger) waits() bool { return t.point != "" || t.call != nil || t.fault != "" }

// midBatch keeps "the n-th of a batch" where the engine's batches are smaller than asked.
func (p *Plan) midBatch(t trigger) int {
	for i, g := range p.Groups {
		asked := p.Spec.Consume[i].Batch
		if t.matches(g.Group) && asked > g.Batch {
			n := max(1, t.n*g.Batch/asked)
			p.note("the fault comes at the %s message of a batch of %d", ordinal(n), g.Batch)
			return n
		}
	}
	return t.n
}

func ordinal(n int) string {
	if n == 1 {
		return "first"
	}
	return fmt.Sprintf("%d.", n)
}

// matches tells whether a worker (or its group) is meant.
func (t *trigger) matches(worker string) bool {
	return t.worker == "" || worker == t.worker || strings.HasPrefix(worker, t.worker+"/")
}

// reached tells whether a worker at a point is what the trigger waits for.
func (t *trigger) reached(worker, point string, n int, id msg.ID) bool {
	return t.point == point && t.n == n && t.matches(worker) && (t.id == nil || *t.id == id)
}

// became tells whether a change of a fault is what the trigger waits for.
func (t *trigger) became(kind, target, state string) bool {
	return t.state == state && (t.fault == kind || t.fault == kind+" "+target)
}

// watches tells whether some step may wait for a worker at a point.
func (p *Plan) watches(worker, point string, n int, id msg.ID) bool {
	for _, c := range p.Chains {
		for i := range c {
			if c[i].trigger.reached(worker, point, n, id) {
				return true
			}
		}
	}
	return false
}

func describe(s workloads.Step, label string) string {
	text := s.Do
	for _, word := range []string{s.Target, label} {
		if word != "" {
			text += " " + word
		}
	}
	w := s.Trigger
	switch {
	case w.Operation != "":
		text += fmt.Sprintf(" at the %d. %s", max(w.N, 1), w.Operation)
	case w.Fault != "":
		text += fmt.Sprintf(" when %s is %s", w.Fault, w.State)
	case w.Point != "" && w.N > 0:
		text += fmt.Sprintf(" at %s %d", w.Point, w.N)
	case w.Point != "":
		text += " at " + w.Point
	case w.Following:
		text += fmt.Sprintf(" %s later", w.After)
	default:
		text += fmt.Sprintf(" at %s", w.At)
	}
	if s.For > 0 {
		text += fmt.Sprintf(" for %s", s.For)
	}
	return text
}
