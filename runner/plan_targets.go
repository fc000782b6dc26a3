// SPDX-License-Identifier: Apache-2.0

package runner

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/seed-720a3c77/harness/broker"
	"github.com/seed-720a3c77/harness/faults"
	"github.com/seed-720a3c77/harness/internal/suggest"
	"github.com/seed-720a3c77/harness/workloads"
)

// aim checks that what a step is aimed at exists.
func (p *Plan) aim(s workloads.Step, at faults.Aim) error {
	switch at {
	case faults.AtWorker:
		return p.known(s, "target", s.Target, p.groups())
	case faults.AtNode:
		return p.node(s)
	case faults.AtLink:
		return p.known(s, "target", s.Target, append(p.clients(), faults.Everybody, faults.AllProducers))
	case faults.AtStored:
		return p.known(s, "destination", s.Target, p.stored())
	case faults.AtCalls:
		if s.Target != "" {
			return &workloads.LineError{File: p.Spec.Name, Line: s.Line, Text: s.Do + " takes no target; by: says whose calls, to: where"}
		}
	}
	return nil
}

// known refuses a name that is none of those; a worker's number may be one that a step
// starts.
func (p *Plan) known(s workloads.Step, what, name string, names []string) error {
	group, _, _ := strings.Cut(name, "/")
	if slices.Contains(names, group) {
		return nil
	}
	return &workloads.LineError{File: p.Spec.Name, Line: s.Line, Text: suggest.Unknown(what, name, names)}
}

func (p *Plan) groups() (names []string) {
	for _, c := range p.Spec.Consume {
		names = append(names, c.Group)
	}
	return names
}

// clients are producers and groups.
func (p *Plan) clients() []string {
	names := p.groups()
	for _, made := range p.Producers {
		names = append(names, made.Name)
	}
	return names
}

func (p *Plan) stored() (names []string) {
	for name := range p.Names {
		names = append(names, name)
	}
	return names
}

// node checks the number of a node, where the nodes are known; the model stands for one.
func (p *Plan) node(s workloads.Step) error {
	n, err := NodeNumber(s.Target)
	if err != nil {
		return p.atLine(s, err)
	}
	rig := p.Where.Rig
	if rig == nil {
		return nil
	}
	there := len(rig.Nodes)
	if p.Where.Virtual {
		there = 1
	}
	if n > there {
		return inapplicable("%s: there is no node %d, the broker has %d", s.Do, n, there)
	}
	return nil
}

// NodeNumber reads the target of a fault of a broker: "", broker or broker/N, from 1.
func NodeNumber(target string) (int, error) {
	word, number, numbered := strings.Cut(target, "/")
	n, err := strconv.Atoi(number)
	switch {
	case target == "" || target == "broker":
		return 1, nil
	case word != "broker" || !numbered || err != nil || n < 1:
		return 0, errorUnknown("node", target, []string{"broker", "broker/1", "broker/2"})
	}
	return n, nil
}

// mentioned checks the names that a fault refers to, and returns what it is called.
func (p *Plan) mentioned(s workloads.Step, kind faults.Kind, fault faults.Fault) (string, error) {
	if kind.Mentions == nil {
		return "", nil
	}
	m := kind.Mentions(fault)
	for _, name := range m.Clients {
		if err := p.known(s, "client", name, p.clients()); err != nil {
			return "", err
		}
	}
	for _, name := range m.Destinations {
		if err := p.known(s, "destination", name, p.stored()); err != nil {
			return "", err
		}
	}
	for _, name := range m.Faults {
		if err := p.known(s, "fault", name, p.used()); err != nil {
			return "", err
		}
	}
	if kind.Aim == faults.AtCalls {
		return m.Label, p.strikesCalls(s.Do, m)
	}
	return m.Label, nil
}

// used are the faults that the timeline names.
func (p *Plan) used() (names []string) {
	for _, s := range p.Spec.Timeline {
		names = append(names, s.Do)
	}
	return names
}

// strikesCalls: a request fault is counted at one port. Processes have one each.
func (p *Plan) strikesCalls(what string, m faults.Mentioned) error {
	apart := slices.ContainsFunc(m.Clients, p.inProcess)
	switch {
	case len(m.Clients) == 0 || apart && m.Across:
		return p.reachesCalls(what, m.Clients)
	case apart && p.only(m.Clients[0]) == "":
		return inapplicable("%s: the workers of %s are processes, and each counts its own calls; name one of them with by:", what, m.Clients[0])
	}
	return nil
}

// reachesCalls: the port of a worker in a process of its own is in that process.
func (p *Plan) reachesCalls(what string, clients []string) error {
	if len(clients) == 0 {
		clients = p.groups()
	}
	for _, name := range clients {
		if p.inProcess(name) {
			return inapplicable("%s: the calls of %s are made in a process of its own, out of reach; name others with by:", what, name)
		}
	}
	return nil
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

// made is a destination as it was declared.
func (p *Plan) made(name string) (broker.Destination, error) {
	for _, d := range p.Topology.Destinations {
		if d.Name == p.Names[name] {
			return d, nil
		}
	}
	return broker.Destination{}, fmt.Errorf("%w: destination %s", faults.ErrNoTarget, name)
}

// Clients are the names that the specs of producers and of the workers at the start begin
// with.
func (p *Plan) Clients() (producers, workers []string) {
	for _, made := range p.Producers {
		producers = append(producers, made.Name)
	}
	for _, g := range p.Groups {
		for n := range g.Workers {
			workers = append(workers, g.Group+"/"+strconv.Itoa(n))
		}
	}
	return producers, workers
}

// LinkTargets are the clients whose links the timeline breaks, as its steps name them.
func (p *Plan) LinkTargets() []string {
	var all []string
	for _, c := range p.Chains {
		for _, s := range c {
			if s.kind.Aim == faults.AtLink && !slices.Contains(all, s.target) {
				all = append(all, s.target)
			}
		}
	}
	return all
}

// callers tells whether the timeline needs to be at the port.
func (p *Plan) callers() bool {
	return p.callTriggers() || p.anyStep(func(s *step) bool { return s.kind.Aim == faults.AtCalls })
}

// callTriggers tells whether a step waits for what is seen at the port.
func (p *Plan) callTriggers() bool {
	return p.anyStep(func(s *step) bool { return s.trigger.atPort() })
}

func (p *Plan) anyStep(is func(*step) bool) bool {
	for _, c := range p.Chains {
		if slices.ContainsFunc(c, func(s step) bool { return is(&s) }) {
			return true
		}
	}
	return false
}
