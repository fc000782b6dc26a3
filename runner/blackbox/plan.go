// SPDX-License-Identifier: Apache-2.0

package blackbox

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/seed-720a3c77/harness/broker"
	"github.com/seed-720a3c77/harness/contract"
	"github.com/seed-720a3c77/harness/history"
	"github.com/seed-720a3c77/harness/msg"
)

// ErrCannot: the engine cannot do what the options ask for.
var ErrCannot = errors.New("not applicable")

// The names of a run's destinations in its history.
const (
	source  = "work"
	buried  = "work-dead"
	program = "consumer"
)

// Plan is a run, fitted to an engine's profile, with run-unique names.
type Plan struct {
	Options
	Profile contract.Profile
	Nonce   uint32
	// Run is the run's part of every name and id.
	Run string
	// Destination is the queue or topic, DeadLetter its dead-letter queue ("" for none),
	// Group the consumer group.
	Destination, DeadLetter, Group string
	Topology                       broker.Topology
	Notes                          []string

	letters *letters
	ids     map[string]uint64 // as the program names them
	strikes []strike
	again   map[int][]int // after the n-th message, these are published once more
	// held is the longest that a message stays with a worker that died.
	held time.Duration
}

// NewPlan fits options to a profile. The error wraps ErrCannot where the engine cannot do it.
func NewPlan(o Options, profile contract.Profile, nonce uint32) (*Plan, error) {
	if err := o.Check(); err != nil {
		return nil, err
	}
	p := &Plan{Options: o, Profile: profile, Nonce: nonce, Run: fmt.Sprintf("%08x", nonce)}
	p.Destination, p.Group = "h-"+p.Run+"-"+source, "h-"+p.Run+"-"+program
	if err := p.topology(); err != nil {
		return nil, err
	}
	if err := p.name(); err != nil {
		return nil, err
	}
	p.schedule()
	p.wait()
	return p, nil
}

func (p *Plan) topology() error {
	d := broker.Destination{Name: p.Destination}
	if p.Profile.Can.Has(contract.Partitions) {
		d.Partitions = p.Partitions
	}
	if p.Lease > 0 && !p.Profile.Can.Has(contract.Lease) {
		return fmt.Errorf("%w: lease: %s has none that can be set", ErrCannot, p.Profile.Name)
	}
	if p.Lease > 0 {
		if d.Lease = p.Profile.Lease.Fit(p.Lease); d.Lease != p.Lease {
			p.note("the lease is %s instead of %s: %s can be set no finer", d.Lease, p.Lease, p.Profile.Lease.Name)
		}
		p.Lease = d.Lease
	}
	if p.MaxDeliveries > 0 && !p.Profile.Can.Has(contract.DeadLetter) {
		return fmt.Errorf("%w: max-deliveries: %s moves nothing to a dead-letter queue by itself", ErrCannot, p.Profile.Name)
	}
	if p.MaxDeliveries > 0 {
		p.DeadLetter = "h-" + p.Run + "-" + buried
		d.MaxDeliveries, d.DeadLetter = p.MaxDeliveries, p.DeadLetter
		p.Topology.Destinations = append(p.Topology.Destinations, broker.Destination{Name: p.DeadLetter})
	}
	p.Topology.Destinations = append(p.Topology.Destinations, d)
	return nil
}

// name gives every message its id and refuses two of one.
func (p *Plan) name() (err error) {
	if p.letters, err = newLetters(&p.Options, p.Run); err != nil {
		return err
	}
	p.ids = make(map[string]uint64, p.Messages)
	for n := range p.Messages {
		letter, _, err := p.letters.write(n)
		if err != nil {
			return err
		}
		if other, taken := p.ids[letter.ID]; taken {
			return fmt.Errorf("id-path: messages %d and %d have the same id %q: let the body-template use {{.ID}} or {{.N}}", other, n, letter.ID)
		}
		p.ids[letter.ID] = uint64(n)
	}
	return nil
}

// message is the n-th, as it is handed to the producer.
func (p *Plan) message(n int, attempt uint16, intended time.Duration) (*msg.Message, error) {
	letter, body, err := p.letters.write(n)
	if err != nil {
		return nil, err
	}
	m := &msg.Message{
		To: p.Destination, ID: msg.ID{Seq: uint64(n)}, Attempt: attempt, Intended: intended, Key: letter.Key,
		Partition: msg.AnyPartition, Body: body,
	}
	if p.IDHeader != "" {
		m.Headers = map[string]string{p.IDHeader: letter.ID}
	}
	if attempt > 1 && p.Profile.Can.Has(contract.Deduplication) {
		m.Dedup = fmt.Sprintf("%s/%d", letter.ID, attempt) // else the broker would swallow the copy
	}
	return m, nil
}

func (p *Plan) note(format string, args ...any) {
	p.Notes = append(p.Notes, fmt.Sprintf(format, args...))
}

// wait sets what follows from the profile: a freeze outlasts what holds a message, and the
// drain is patient beyond everything that can.
func (p *Plan) wait() {
	held := max(p.Lease, p.Session)
	switch {
	case held > 0:
	case p.Profile.Model == contract.LeaseQueue:
		held = p.Profile.Lease.Default
	case p.Profile.Model == contract.Log:
		held = longestSession
	}
	late := p.Profile.Lease.Tick + p.Profile.TakeOver + p.Profile.Tolerance
	p.held = held + late
	if p.FreezeFor == 0 {
		p.FreezeFor = p.held
	}
	for i := range p.strikes {
		switch s := &p.strikes[i]; {
		case s.last > 0:
		case s.do == doFreeze:
			s.last = p.FreezeFor
		case s.do == doLose:
			s.last = p.LoseFor
		}
	}
	if p.Patience == 0 {
		p.Patience = p.held + drainPatience
	}
}

// BreaksLinks tells whether a fault is on the link of a worker.
func (p *Plan) BreaksLinks() bool {
	return slices.ContainsFunc(p.strikes, func(s strike) bool { return s.do == doLose })
}

// longestSession is the default session timeout of the Java client, and with it of many.
// https://kafka.apache.org/documentation/#consumerconfigs_session.timeout.ms
const longestSession = 45 * time.Second

// drainPatience is added for a program to start again and to connect.
const drainPatience = 10 * time.Second

// Header is the manifest of the run, as far as the plan knows it.
func (p *Plan) Header() history.Header {
	h := history.Header{
		Nonce: p.Nonce, Workload: "verify", About: "A consumer as a black box: " + strings.Join(p.Command, " "),
		Profile: p.Profile, Fidelity: "real", Clock: "wall", Seed: p.Seed, Notes: p.Notes, Claims: []contract.Claim{p.Claim},
		Subscriptions: []history.Subscription{{
			Name: program, From: source, Published: []string{source}, Effect: p.Effects, Lease: p.Lease, Opaque: true,
		}},
		Producers: []history.Producer{{Name: producer, To: source, Count: p.Messages, Rate: p.Rate}},
	}
	work := history.Destination{Name: source, Broker: p.Destination, Lease: p.Lease, MaxDeliveries: p.MaxDeliveries}
	if p.Profile.Can.Has(contract.Partitions) {
		work.Partitions = p.Partitions
	}
	if p.DeadLetter != "" {
		work.DeadLetter = buried
		h.Destinations = append(h.Destinations, history.Destination{Name: buried, Broker: p.DeadLetter, DeadLetterOf: source})
	}
	h.Destinations = append(h.Destinations, work)
	for _, s := range p.strikes {
		h.Faults = append(h.Faults, history.Fault{Name: s.do, Target: WorkerName(s.worker), Text: s.String()})
	}
	return h
}

// Queues are the names of what a run declares, and removes in the end.
func (p *Plan) Queues() []string {
	var names []string
	for _, d := range p.Topology.Destinations {
		names = append(names, d.Name)
	}
	return names
}

// plain maps run-unique names to those of the history.
func (p *Plan) plain() map[string]string {
	names := map[string]string{p.Destination: source, p.Group: program}
	if p.DeadLetter != "" {
		names[p.DeadLetter] = buried
	}
	return names
}
