// SPDX-License-Identifier: Apache-2.0

package explore

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/seed-720a3c77/harness/clock"
	"github.com/seed-720a3c77/harness/contract"
	"github.com/seed-720a3c77/harness/faults"
	"github.com/seed-720a3c77/harness/inmem/drive"
	"github.com/seed-720a3c77/harness/runner"
	"github.com/seed-720a3c77/harness/workloads"
)

// Space is what a seed may vary.
type Space struct {
	// Document and Variant are the workload.
	Document *workloads.Document
	Variant  string
	Profile  contract.Profile
	Faults   []faults.Kind
	// Jitter bounds the latency of each way between client and broker; 0 is one millisecond.
	Jitter time.Duration
	// FixedFaults leaves the faults where the workload puts them.
	FixedFaults bool
	// Bugs are planted in the engine.
	Bugs drive.Options
	// Links are the ways to the engine, where steps may break them; nil is none.
	Links func(e *drive.Engine, p *runner.Plan) runner.Links
	// written is the workload where it is not the document's.
	written *workloads.Spec
	// given are the conditions of a run to be repeated; nil explores.
	given *given
}

// DefaultJitter bounds each way where nothing else is asked for.
const DefaultJitter = time.Millisecond

// Bounds says in words what a seed may vary.
func (s *Space) Bounds() string {
	jitter := cmp.Or(s.Jitter, DefaultJitter)
	text := fmt.Sprintf("ties of one instant in any order, each way to the broker %s to %s", jitter/2, jitter)
	if tick := s.Profile.Lease.Tick; tick > 0 {
		text += fmt.Sprintf(", the sweep of leases anywhere in its %s", tick)
	}
	if s.FixedFaults {
		return text + ", faults where the workload puts them"
	}
	return text + ", a fault at any point of a batch, or from half to one and a half of its time"
}

// options of the engine: every way has half its bound for sure and half by the seed.
func (s *Space) options() drive.Options {
	jitter := cmp.Or(s.Jitter, DefaultJitter)
	way := drive.Latency{Base: jitter / 2, Jitter: jitter / 2}
	o := s.Bugs
	if s.given != nil {
		o.Publish, o.Receive, o.Settle, o.Ways = s.given.publish.way(), s.given.receive.way(), s.given.settle.way(), s.given.way
		o.Written = true
		o.Release, o.Rebalance, o.Answer = s.given.release.whole(), s.given.rebalance.whole(), s.given.answer.whole()
		o.Claim, o.Added, o.Beat = s.given.claim.whole(), s.given.added.whole(), s.given.beat.whole()
		return o
	}
	o.Publish, o.Receive, o.Settle = way, way, way
	return o
}

// plan is the workload on the profile, under the conditions of a run where there is one.
func (s *Space) plan(spec *workloads.Spec) (*runner.Plan, error) {
	where := runner.Where{Virtual: true, Nonce: 1, Faults: s.Faults}
	if s.Links != nil {
		where.Rig = &faults.Rig{NoNodes: "the model of a broker has no process", Links: 1}
	}
	if s.given != nil {
		where.Scale = s.given.scale
	}
	plan, err := runner.NewPlan(spec, s.Profile, where)
	if err == nil && s.given != nil {
		plan.As(s.given.Measured)
	}
	return plan, err
}

// clock is the one that the run's tasks see: late where the repeated run's was.
func (s *Space) clock(c *clock.Virtual) clock.Clock {
	if s.given == nil {
		return c
	}
	return lateBy(c, s.given.spells)
}

func (s *Space) links(e *drive.Engine, p *runner.Plan) runner.Links {
	if s.Links == nil {
		return nil
	}
	return s.Links(e, p)
}

// source is the workload before a seed varies it.
func (s *Space) source() (*workloads.Spec, error) {
	if s.written != nil {
		return s.written, nil
	}
	return s.Document.Spec(s.Variant)
}

// spec is the workload as a seed has it.
func (s *Space) spec(seed uint64) (*workloads.Spec, error) {
	spec, err := s.source()
	if err != nil {
		return nil, err
	}
	return s.vary(spec, seed), nil
}

// vary makes the workload that a seed has of the one that was written.
func (s *Space) vary(spec *workloads.Spec, seed uint64) *workloads.Spec {
	if s.FixedFaults || len(spec.Timeline) == 0 {
		return spec
	}
	spec = clone(spec)
	vary(spec, rand.New(rand.NewPCG(seed, faultStream)))
	return spec
}

// faultStream keeps the draws of fault points apart from every other stream of a seed.
const faultStream = 0xfa017

// vary moves the faults: a point to another position of the batch, a time by up to half.
func vary(spec *workloads.Spec, dice *rand.Rand) {
	for i := range spec.Timeline {
		t := &spec.Timeline[i].Trigger
		switch {
		case t.Point == "mid-batch":
			t.N = 1 + dice.IntN(max(batch(spec)-1, 1))
		case t.Point == "" && !t.Following && t.At > 0:
			half := int64(t.At) / 2
			t.At = workloads.Duration(half + dice.Int64N(2*half+1))
		}
	}
}

// batch is the smallest batch of the workload: a point beyond it would never come.
func batch(spec *workloads.Spec) int {
	least := 10
	for i, c := range spec.Consume {
		if c.Batch > 0 && (i == 0 || c.Batch < least) {
			least = c.Batch
		}
	}
	return least
}

// sweep is when a broker that looks at its leases once in a period did so before the run.
func sweep(c clock.Clock, period time.Duration) time.Duration {
	if period <= 0 {
		return 0
	}
	return -time.Duration(c.Rand("sweep").Int64N(int64(period)))
}
