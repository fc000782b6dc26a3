// SPDX-License-Identifier: Apache-2.0

package runner

import (
	"maps"
	"slices"
	"strconv"
	"time"

	"github.com/seed-720a3c77/harness/history"
)

// Header is the manifest of a run of this plan, as far as the plan knows it: the caller
// adds the run's name, the engine, seed, settings, host and command.
func (p *Plan) Header() history.Header {
	h := history.Header{
		Nonce: p.Where.Nonce, Workload: p.Spec.Name, Variant: p.Spec.Variant, About: p.Spec.About, Spec: p.Spec.Source,
		Profile: p.Profile, Fidelity: p.fidelity(), Clock: "virtual",
		Destinations: p.Destinations(), Subscriptions: p.Subscriptions(), Producers: p.ProducerHeads(),
		Claims: p.Spec.Claimed(), Thresholds: p.Spec.Budgeted(p.Profile.Name, p.fidelity()), Expectations: p.Spec.Expected(), Faults: p.Faults(), Scale: p.Scale, Notes: p.Notes,
	}
	if !p.Where.Virtual {
		h.Clock = "wall"
	}
	return h
}

// Subscriptions describes the groups for the manifest.
func (p *Plan) Subscriptions() []history.Subscription {
	var all []history.Subscription
	for _, g := range p.Groups {
		s := history.Subscription{
			Name: g.Group, From: g.Consume.From, Settle: g.Settle.When, Effect: string(g.EffectMode()),
			Batch: g.Batch, Prefetch: g.Prefetch, Lease: g.Lease, Latest: g.Start == "latest", Published: p.published(g.Consume.From),
		}
		all = append(all, s)
	}
	return all
}

// published are the destinations whose messages a destination gets from producers.
func (p *Plan) published(from string) []string {
	var all []string
	for _, produce := range p.Spec.Produce {
		reaches := produce.To == from || slices.Contains(p.Spec.Topology[produce.To].FanOut, from)
		if reaches && !slices.Contains(all, produce.To) {
			all = append(all, produce.To)
		}
	}
	return all
}

// Destinations describes the topology for the manifest.
func (p *Plan) Destinations() []history.Destination {
	var all []history.Destination
	for _, made := range p.Topology.Destinations {
		name := p.plain(made.Name)
		d := p.Spec.Topology[name]
		all = append(all, history.Destination{
			Name: name, Broker: made.Name, Partitions: made.Partitions, Lease: made.Lease,
			MaxDeliveries: d.MaxDeliveries, DeadLetter: d.DeadLetter, DeadLetterOf: p.deadLetterOf(name),
			SingleActive: d.Native["x-single-active-consumer"] == "true", TTL: p.ttl(d.Native),
		})
	}
	return all
}

// ttl reads a time to live as RabbitMQ has it, in milliseconds, or SQS, in seconds where the
// broker holds to it; 0 is none.
func (p *Plan) ttl(native map[string]string) time.Duration {
	value, unit := native["x-message-ttl"], time.Millisecond
	if p.Profile.Retention {
		value, unit = native["MessageRetentionPeriod"], time.Second
	}
	n, err := strconv.ParseInt(value, 10, 32)
	if err != nil {
		return 0
	}
	return time.Duration(n) * unit
}

func (p *Plan) plain(unique string) string {
	for name, u := range p.Names {
		if u == unique {
			return name
		}
	}
	return unique
}

// deadLetterOf finds whose failed messages a destination takes: for another try, by
// limit, or by a worker.
func (p *Plan) deadLetterOf(name string) string {
	if of := p.Spec.Topology[name].RetryOf; of != "" {
		return of
	}
	for _, other := range slices.Sorted(maps.Keys(p.Spec.Topology)) {
		if p.Spec.Topology[other].DeadLetter == name {
			return other
		}
	}
	for _, c := range p.Spec.Consume {
		if c.OnFailure.Then == "dead-letter" && c.OnFailure.To == name {
			return c.From
		}
	}
	return ""
}

// ProducerHeads describes the producers for the manifest.
func (p *Plan) ProducerHeads() []history.Producer {
	var all []history.Producer
	for _, made := range p.Producers {
		all = append(all, history.Producer{
			Name: made.Name, To: made.Produce.To, Count: made.Count, Rate: float64(made.Rate),
			Acks: made.Acks, Idempotent: made.Idempotent, Retries: made.Retries,
		})
	}
	return all
}
