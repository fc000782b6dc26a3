// SPDX-License-Identifier: Apache-2.0

package runner

import (
	"time"

	"github.com/seed-720a3c77/harness/contract"
	"github.com/seed-720a3c77/harness/workloads"
)

// long is from where on durations are fitted; shorter ones are the pace of the work and
// stay as they are.
const long = time.Second

// scales are tried in order. A real run wants to be short; on virtual time nothing is,
// but a lease may have to be stretched until the engine's sweep can tell it from the work.
var (
	realScales    = []float64{1. / 15, 1. / 10, 1. / 7.5, 1. / 5, 1. / 4, 1. / 3, 1. / 2, 1, 1.5, 2, 3}
	virtualScales = []float64{1, 1.5, 2, 3, 5, 8}
)

// fit finds the first scale at which every ordering of the workload's durations is kept
// with a margin of what the engine cannot tell apart.
func (p *Plan) fit() error {
	if p.Scale = p.Where.Scale; p.Scale > 0 {
		return nil
	}
	scales := realScales
	if p.Where.Virtual {
		scales = virtualScales
	}
	for _, scale := range scales {
		if p.Scale = scale; p.tellsApart() {
			return nil
		}
	}
	return inapplicable("%s applies its %s once in %s and with a floor of %s: too coarse for this workload",
		p.Profile.Name, p.Profile.Lease.Name, p.Profile.Lease.Tick, p.Profile.Lease.Floor)
}

// scaled is a duration of the workload as this run uses it.
func (p *Plan) scaled(d workloads.Duration) time.Duration {
	if d.Std() < long {
		return d.Std()
	}
	return (time.Duration(float64(d) * p.Scale)).Round(time.Millisecond)
}

// tellsApart compares every lease of the workload with everything that is measured
// against it: what was longer must outlast the lease by what the engine may be late,
// what was shorter must end before it.
func (p *Plan) tellsApart() bool {
	if !p.Profile.Can.Has(contract.Lease) {
		return p.commitsApart()
	}
	margin := p.Profile.Lease.Tick + p.Profile.Tolerance
	for _, c := range p.Spec.Consume {
		asked := p.Spec.Topology[c.From].Lease
		if asked == 0 {
			continue
		}
		lease := p.Profile.Lease.Fit(p.scaled(asked))
		for _, other := range []workloads.Duration{c.Handler.Takes, c.Settle.Renew} {
			if other > asked && p.scaled(other) < lease+margin {
				return false
			}
			if other < asked && other.Std() >= long && p.scaled(other)+p.Profile.Tolerance > lease {
				return false
			}
		}
	}
	return p.commitsApart()
}

// commitsApart keeps the interval of automatic commits longer than what a commit takes.
func (p *Plan) commitsApart() bool {
	for _, c := range p.Spec.Consume {
		if c.Settle.Every > 0 && p.scaled(c.Settle.Every) < long && c.Settle.Every.Std() >= long {
			return false
		}
	}
	return true
}
