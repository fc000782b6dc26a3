// SPDX-License-Identifier: Apache-2.0

package runner

import (
	"fmt"
	"strings"
	"time"

	"github.com/seed-720a3c77/harness/faults"
	"github.com/seed-720a3c77/harness/history"
	"github.com/seed-720a3c77/harness/internal/suggest"
	"github.com/seed-720a3c77/harness/msg"
	"github.com/seed-720a3c77/harness/workloads"
)

// chain is a step with its own trigger and the steps that come after it.
type chain []step

// step is one fault of the timeline, ready to happen.
type step struct {
	number  int // of the fault, from 1; 0 for a repair
	kind    faults.Kind
	fault   faults.Fault
	trigger trigger
	target  string
	text    string
}

// trigger is a time, or a point that a worker reaches.
type trigger struct {
	at, after time.Duration
	timed     bool
	worker    string // GROUP or GROUP/N; "" is any
	point     string
	n         int
	id        *msg.ID
}

func (p *Plan) timeline() error {
	for _, s := range p.Spec.Timeline {
		made, err := p.step(s)
		if err != nil {
			return err
		}
		if workloads.HasKey(s.Node, "after") && len(p.Chains) > 0 {
			last := len(p.Chains) - 1
			p.Chains[last] = append(p.Chains[last], made)
			continue
		}
		p.Chains = append(p.Chains, chain{made})
	}
	return nil
}

func (p *Plan) step(s workloads.Step) (step, error) {
	kind, err := p.kind(s)
	if err != nil {
		return step{}, err
	}
	place := faults.Place{Profile: p.Profile, Virtual: p.Where.Virtual, Process: p.inProcess(s.Target)}
	if why := kind.Unable(place); why != "" {
		return step{}, inapplicable("%s: %s", s.Do, why)
	}
	if err := p.target(s); err != nil {
		return step{}, err
	}
	fault, err := kind.New(s.Target, func(into any) error { return workloads.DecodeStep(s, into) })
	if err != nil {
		return step{}, err
	}
	number := 0
	if len(kind.Repairs) == 0 {
		number = len(p.Faults()) + 1
	}
	return step{number: number, kind: kind, fault: fault, trigger: p.trigger(s), target: s.Target, text: describe(s)}, nil
}

func (p *Plan) kind(s workloads.Step) (faults.Kind, error) {
	var names []string
	for _, kind := range p.Where.Faults {
		if kind.Name == s.Do {
			return kind, nil
		}
		names = append(names, kind.Name)
	}
	return faults.Kind{}, &workloads.LineError{File: p.Spec.Name, Line: s.Line, Text: suggest.Unknown("fault", s.Do, names)}
}

// target checks that the group exists; a worker's number may be one that a step starts.
func (p *Plan) target(s workloads.Step) error {
	group, _, _ := strings.Cut(s.Target, "/")
	var names []string
	for _, c := range p.Spec.Consume {
		if c.Group == group {
			return nil
		}
		names = append(names, c.Group)
	}
	return &workloads.LineError{File: p.Spec.Name, Line: s.Line, Text: suggest.Unknown("target", s.Target, names)}
}

// inProcess tells whether the workers that a step is for are processes of their own.
func (p *Plan) inProcess(target string) bool {
	group, _, _ := strings.Cut(target, "/")
	for i := range p.Groups {
		if p.Groups[i].Group == group {
			return p.Groups[i].inProcess()
		}
	}
	return false
}

// trigger keeps its times: they are measured against the load, which is never scaled.
func (p *Plan) trigger(s workloads.Step) trigger {
	t := trigger{at: s.Trigger.At.Std(), after: s.Trigger.After.Std(), timed: s.Trigger.Timed, worker: s.Trigger.Worker, point: s.Trigger.Point, n: max(s.Trigger.N, 1)}
	if id, err := msg.ParseID(s.Trigger.ID); err == nil {
		t.id = &id
	}
	if t.point == "mid-batch" {
		t.n = p.midBatch(t)
	}
	return t
}

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

func describe(s workloads.Step) string {
	text := s.Do
	if s.Target != "" {
		text += " " + s.Target
	}
	switch {
	case s.Trigger.Point != "" && s.Trigger.N > 0:
		text += fmt.Sprintf(" at %s %d", s.Trigger.Point, s.Trigger.N)
	case s.Trigger.Point != "":
		text += " at " + s.Trigger.Point
	case s.Trigger.After > 0:
		text += fmt.Sprintf(" %s later", s.Trigger.After)
	default:
		text += fmt.Sprintf(" at %s", s.Trigger.At)
	}
	return text
}

// Faults describes the faults of the timeline for the manifest; repairs are not among them.
func (p *Plan) Faults() []history.Fault {
	var all []history.Fault
	for _, c := range p.Chains {
		for _, s := range c {
			if s.number > 0 {
				all = append(all, history.Fault{Name: s.kind.Name, Target: s.target, Text: s.text})
			}
		}
	}
	return all
}
