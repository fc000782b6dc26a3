// SPDX-License-Identifier: Apache-2.0

package runner

import (
	"errors"
	"fmt"
	"time"

	"github.com/seed-720a3c77/harness/faults"
	"github.com/seed-720a3c77/harness/history"
	"github.com/seed-720a3c77/harness/internal/suggest"
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
	// lasts is how long after it came due the fault heals; 0 is until something else heals it.
	lasts time.Duration
}

// maxRepeats bounds how often a chain is repeated.
const maxRepeats = 1000

func (p *Plan) timeline() error {
	var written [][]workloads.Step
	for _, s := range p.Spec.Timeline {
		if last := len(written) - 1; s.Trigger.Following && last >= 0 {
			written[last] = append(written[last], s)
			continue
		}
		written = append(written, []workloads.Step{s})
	}
	for _, steps := range written {
		if err := p.chains(steps); err != nil {
			return err
		}
	}
	return p.ends()
}

// chains makes a chain, and its repetitions: at their own times, or one after the other
// where each waits for something.
func (p *Plan) chains(steps []workloads.Step) error {
	repeat, times := steps[0].Repeat, 1
	switch {
	case repeat.Times > 0:
		times = repeat.Times
	case repeat.Every > 0:
		times = max(1, int(repeat.For/repeat.Every))
	}
	if times > maxRepeats {
		return &workloads.LineError{File: p.Spec.Name, Line: steps[0].Line, Text: fmt.Sprintf("repeated %d times; at most %d", times, maxRepeats)}
	}
	for i := range times {
		made, err := p.chain(steps)
		if err != nil {
			return err
		}
		made[0].trigger.jitter = repeat.Jitter.Std()
		if made[0].trigger.timed {
			made[0].trigger.at += time.Duration(i) * repeat.Every.Std()
		} else if i > 0 {
			last := len(p.Chains) - 1
			p.Chains[last] = append(p.Chains[last], made...)
			continue
		}
		p.Chains = append(p.Chains, made)
	}
	return nil
}

func (p *Plan) chain(steps []workloads.Step) (chain, error) {
	var made chain
	for _, s := range steps {
		one, err := p.step(s)
		if err != nil {
			return nil, err
		}
		if len(one.kind.Repairs) == 0 && one.kind.Aim != faults.AtFault {
			p.faults++
			one.number = p.faults
		}
		made = append(made, one)
	}
	return made, nil
}

func (p *Plan) step(s workloads.Step) (step, error) {
	kind, err := p.kind(s)
	if err != nil {
		return step{}, err
	}
	if why := kind.Unable(p.place(s.Target)); why != "" {
		return step{}, inapplicable("%s: %s", s.Do, why)
	}
	if err := p.aim(s, kind.Aim); err != nil {
		return step{}, err
	}
	fault, err := kind.New(s.Target, func(into any) error { return workloads.DecodeStep(s, into) })
	if err != nil {
		return step{}, p.atLine(s, err)
	}
	label, err := p.mentioned(s, kind, fault)
	if err != nil {
		return step{}, err
	}
	if kind.Refuses != nil {
		if why := kind.Refuses(fault, p.place(s.Target)); why != "" {
			return step{}, inapplicable("%s: %s", s.Do, why)
		}
	}
	when, err := p.trigger(s)
	return step{kind: kind, fault: fault, trigger: when, target: called(s.Target, label, kind.Aim), text: describe(s, label), lasts: s.For.Std()}, err
}

// called is what a target is called in the history.
func called(target, label string, at faults.Aim) string {
	switch {
	case target != "":
		return target
	case at == faults.AtNode:
		return "broker"
	}
	return label
}

// place is where a step would happen.
func (p *Plan) place(target string) faults.Place {
	return faults.Place{Profile: p.Profile, Virtual: p.Where.Virtual, Process: p.inProcess(target), Rig: p.Where.Rig}
}

// atLine names the line of a step, if the error does not yet.
func (p *Plan) atLine(s workloads.Step, err error) error {
	if at := new(workloads.LineError); errors.As(err, &at) {
		return err
	}
	return &workloads.LineError{File: p.Spec.Name, Line: s.Line, Text: s.Do + ": " + err.Error()}
}

func (p *Plan) kind(s workloads.Step) (faults.Kind, error) {
	var names []string
	for _, kind := range p.Where.Faults {
		if kind.Name == s.Do {
			return kind, nil
		}
		names = append(names, kind.Name)
	}
	return faults.Kind{}, p.atLine(s, &workloads.LineError{File: p.Spec.Name, Line: s.Line, Text: suggest.Unknown("fault", s.Do, names)})
}

// ends refuses a fault that nothing would heal before the run could end.
func (p *Plan) ends() error {
	for _, c := range p.Chains {
		for _, s := range c {
			if s.kind.NeedsEnd && s.lasts == 0 && !p.repairedLater(s) {
				return &workloads.LineError{File: p.Spec.Name, Text: fmt.Sprintf("%s wants an end: for: a time, or a step that does heal", s.text)}
			}
		}
	}
	return nil
}

// repairedLater tells whether the timeline itself repairs a fault.
func (p *Plan) repairedLater(broken step) bool {
	for _, c := range p.Chains {
		for _, s := range c {
			if s.target == broken.target && repairs(s.kind, broken.kind) || s.mends(broken) {
				return true
			}
		}
	}
	return false
}

func repairs(repair, broken faults.Kind) bool {
	for _, name := range repair.Repairs {
		if name == broken.Name {
			return true
		}
	}
	return false
}

// mends tells whether a step heals a fault of another.
func (s *step) mends(broken step) bool {
	if s.kind.Aim != faults.AtFault || s.kind.Mentions == nil {
		return false
	}
	for _, name := range s.kind.Mentions(s.fault).Faults {
		if name == broken.kind.Name && (s.target == name || s.target == broken.target) {
			return true
		}
	}
	return false
}

// Faults describes the faults of the timeline for the manifest; repairs are not among them.
func (p *Plan) Faults() []history.Fault {
	all := make([]history.Fault, p.faults)
	for _, c := range p.Chains {
		for _, s := range c {
			if s.number > 0 {
				all[s.number-1] = history.Fault{Name: s.kind.Name, Target: s.target, Text: s.text}
			}
		}
	}
	return all
}
