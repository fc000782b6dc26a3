// SPDX-License-Identifier: Apache-2.0

package runner

import (
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/seed-720a3c77/harness/broker"
	"github.com/seed-720a3c77/harness/contract"
	"github.com/seed-720a3c77/harness/effects"
	"github.com/seed-720a3c77/harness/faults"
	"github.com/seed-720a3c77/harness/workloads"
)

// Where says what a plan is for.
type Where struct {
	// Virtual time and the in-memory engine, or a real broker.
	Virtual bool
	// Processes: workers can be processes of their own.
	Processes bool
	// Nonce makes names unique: destinations are called h-NONCE-NAME.
	Nonce uint32
	// Faults is the catalogue that the timeline may name.
	Faults []faults.Kind
	// Rig is what there is to break beside workers; nil while no broker was looked at.
	Rig *faults.Rig
	// Scale is that of a run to be repeated; 0 finds one.
	Scale float64
}

// Plan is a workload mapped to a profile. It is data and may be read by many.
type Plan struct {
	Spec    *workloads.Spec
	Profile contract.Profile
	Where   Where
	// Scale is what durations of a second and more were multiplied with.
	Scale    float64
	Topology broker.Topology
	// Names maps the workload's destination names to the run-unique ones.
	Names     map[string]string
	Producers []ProducerPlan
	Groups    []GroupPlan
	Chains    []chain
	// Patience is how long a drain waits while nothing moves; Limit bounds it.
	Patience, Limit time.Duration
	// Settled is how long the load waits for a group that has its partitions, to the
	// millisecond; 0 is until the next look.
	Settled time.Duration
	// faults counts those of the timeline.
	faults int
	// Notes say what was mapped in a way that a reader should know.
	Notes []string
}

// ProducerPlan is one producer; its place in the plan is the producer number of its ids.
type ProducerPlan struct {
	workloads.Produce
	Name string
	To   string // run-unique
	Spec broker.ProducerSpec
	// Sent is when its messages are sent, since the load began; nil is at its rate.
	Sent []time.Duration
}

// GroupPlan is one subscription with its workers.
type GroupPlan struct {
	workloads.Consume
	From    string // run-unique
	Workers int
	Batch   int
	Lease   time.Duration
	Takes   time.Duration
	Renew   time.Duration
	Spec    broker.ConsumerSpec
	Failure failurePlan
	// leased: the workload asked for the lease.
	leased bool
}

// NewPlan maps a workload to a profile. The error is a *NotApplicable where the profile
// cannot show it.
func NewPlan(spec *workloads.Spec, profile contract.Profile, where Where) (*Plan, error) {
	p := &Plan{Spec: spec, Profile: profile, Where: where, Names: map[string]string{}}
	if err := p.applicable(); err != nil {
		return nil, err
	}
	if err := p.fit(); err != nil {
		return nil, err
	}
	p.topology()
	p.producers()
	for i := range spec.Consume {
		p.group(&spec.Consume[i])
	}
	p.patience()
	return p, p.timeline()
}

func (p *Plan) fidelity() string {
	if p.Where.Virtual {
		return "virtual"
	}
	return "real"
}

func (p *Plan) name(plain string) string { return fmt.Sprintf("h-%08x-%s", p.Where.Nonce, plain) }

func (p *Plan) topology() {
	for _, name := range slices.Sorted(maps.Keys(p.Spec.Topology)) {
		d := p.Spec.Topology[name]
		p.Names[name] = p.name(name)
		for _, queue := range d.FanOut {
			p.Names[queue] = p.name(queue)
		}
		p.destination(name, d)
	}
}

func (p *Plan) destination(name string, d workloads.Destination) {
	if len(d.FanOut) > 0 {
		exchange := broker.Destination{Name: p.Names[name], Kind: broker.Exchange, Bindings: map[string]string{}}
		for _, queue := range d.FanOut {
			p.Topology.Destinations = append(p.Topology.Destinations, broker.Destination{Name: p.Names[queue]})
			exchange.Bindings[p.Names[queue]] = ""
		}
		p.Topology.Destinations = append(p.Topology.Destinations, exchange)
		return
	}
	made := broker.Destination{Name: p.Names[name], FIFO: d.FIFO, Native: d.Native}
	if p.Profile.Can.Has(contract.Partitions) {
		made.Partitions = d.Partitions
	}
	if p.Profile.Can.Has(contract.Lease) && d.Lease > 0 {
		made.Lease = p.Profile.Lease.Fit(p.scaled(d.Lease))
	}
	if p.Profile.Can.Has(contract.DeadLetter) {
		made.MaxDeliveries = d.MaxDeliveries
	}
	if d.DeadLetter != "" && (p.Profile.Can.Has(contract.DeadLetter) || p.Profile.Can.Has(contract.Reject)) {
		made.DeadLetter = p.name(d.DeadLetter)
	}
	p.Topology.Destinations = append(p.Topology.Destinations, made)
}

func (p *Plan) producers() {
	for _, produce := range p.Spec.Produce {
		for range max(produce.Producers, 1) {
			name := fmt.Sprintf("p%d", len(p.Producers))
			p.Producers = append(p.Producers, ProducerPlan{
				Produce: produce, Name: name, To: p.Names[produce.To],
				Spec: broker.ProducerSpec{
					Name: name, Run: p.Where.Nonce, Acks: produce.Acks, NoConfirms: produce.Confirms == "off",
					Mandatory: produce.Mandatory, Idempotent: produce.Idempotent, Retries: produce.Retries,
					InFlight: produce.InFlight, Linger: produce.Linger.Std(), Timeout: p.scaled(produce.Timeout),
				},
			})
		}
	}
}

func (p *Plan) group(c *workloads.Consume) {
	d := p.Spec.Topology[c.From]
	g := GroupPlan{
		Consume: *c, From: p.Names[c.From], Workers: max(c.Workers, 1), Batch: p.batch(c.Batch),
		Takes: p.scaled(c.Handler.Takes), Renew: p.scaled(c.Settle.Renew), Failure: p.failure(c, d),
	}
	if p.Profile.Can.Has(contract.Lease) {
		g.Lease = p.Profile.Lease.Default
		if g.leased = d.Lease > 0 || p.Profile.Model == contract.LeaseQueue; d.Lease > 0 {
			g.Lease = p.Profile.Lease.Fit(p.scaled(d.Lease))
		}
	}
	g.Spec = broker.ConsumerSpec{
		Run: p.Where.Nonce, From: g.From, Start: broker.Start(start(c.Start)), Batch: g.Batch, Prefetch: c.Prefetch,
		Session: p.Profile.Session.Fit(p.scaled(c.Session)), Strategy: c.Strategy,
	}
	if g.inProcess() && p.Where.Virtual {
		g.RunIn = ""
		p.note("on virtual time a worker is killed and frozen outright without a process of its own")
	}
	if p.Profile.Can.Has(contract.Groups) {
		g.Spec.Group = p.name(c.Group)
	}
	if c.Settle.When == "auto" {
		g.Spec.AutoCommit = p.scaled(c.Settle.Every)
	}
	p.Groups = append(p.Groups, g)
}

func start(word string) string {
	if word == "earliest" {
		return ""
	}
	return word
}

// batch is what one receive may return on this profile.
func (p *Plan) batch(asked int) int {
	if asked == 0 {
		asked = 10
	}
	if most := p.Profile.BatchMax; most > 0 && asked > most {
		p.note("%s receives at most %d messages at once, not %d", p.Profile.Name, most, asked)
		return most
	}
	return asked
}

func (p *Plan) note(format string, args ...any) {
	text := fmt.Sprintf(format, args...)
	if !slices.Contains(p.Notes, text) {
		p.Notes = append(p.Notes, text)
	}
}

// processStart is how long a worker in a process of its own may take until it has opened
// its client on a busy machine.
const processStart = 10 * time.Second

// patience outlasts everything that may still hold a message back.
func (p *Plan) patience() {
	longest := p.Profile.Session.Fit(0)
	for _, g := range p.Groups {
		longest = max(longest, g.held(), g.slowest(), g.Spec.AutoCommit, g.Failure.delay, g.Spec.Session)
		if g.inProcess() {
			longest = max(longest, processStart)
		}
	}
	p.Patience = longest + p.Profile.Lease.Tick + p.Profile.TakeOver + p.Profile.Tolerance + 2*time.Second
	p.Limit = p.scaled(p.Spec.Drain.Limit)
	if p.Limit == 0 {
		p.Limit = 2*p.Patience + 2*time.Minute
	}
}

// EffectMode is how the group's effects are guarded; plain unless the workload says so.
func (g *GroupPlan) EffectMode() effects.Mode {
	if g.Effect.Mode == "" {
		return effects.Plain
	}
	return effects.Mode(g.Effect.Mode)
}

// held is how long a message of this group may stay with a worker that says nothing
// more. A queue's own default may be half an hour and says nothing about this workload.
func (g *GroupPlan) held() time.Duration {
	if g.leased {
		return g.Lease
	}
	return 0
}
