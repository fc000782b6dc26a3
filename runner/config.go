// SPDX-License-Identifier: Apache-2.0

package runner

import (
	"errors"
	"sync/atomic"

	"github.com/seed-720a3c77/harness/broker"
	"github.com/seed-720a3c77/harness/clock"
	"github.com/seed-720a3c77/harness/effects"
	"github.com/seed-720a3c77/harness/faults"
	"github.com/seed-720a3c77/harness/history"
)

// ErrBroker wraps what a broker failed at: neither a failure of the harness nor a
// violated guarantee.
var ErrBroker = errors.New("broker failed")

// Config is what a run needs.
type Config struct {
	Plan      *Plan
	Engine    broker.Engine
	Clock     clock.Clock
	Recording *history.Recording
	// Store makes the store of a group's effects; nil keeps them in memory.
	Store func(g *GroupPlan) (effects.Store, error)
	// Spawner starts the workers of groups with run-in: process; nil where there are none.
	Spawner Spawner
	// Nodes are those of the broker, and Links the ways to it, where the plan's rig said
	// that they can be broken.
	Nodes []faults.Node
	Links Links
	// Heals are what is still broken, for whoever has to heal after a panic; nil is the
	// run's own.
	Heals *faults.Heals
	// Progress counts while the run goes on; nil counts for nobody.
	Progress *Progress
	// Stop, once true, ends the load; the run drains, audits and returns. nil is never.
	Stop *atomic.Bool
}

// Progress holds counters for the screen. They are not the verdict. Reading is safe at
// any time.
type Progress struct {
	Published, Acked, Unknown, Rejected atomic.Int64
	Delivered, Handled, Failed, Settled atomic.Int64
	Planned                             atomic.Int64
	phase, fault                        atomic.Pointer[string]
}

// Phase is the phase the run is in.
func (p *Progress) Phase() string { return load(&p.phase) }

// Fault is the last fault that was injected and not healed.
func (p *Progress) Fault() string { return load(&p.fault) }

func load(p *atomic.Pointer[string]) string {
	if text := p.Load(); text != nil {
		return *text
	}
	return ""
}

// moved is a number that changes whenever a message gets anywhere.
func (p *Progress) moved() int64 {
	return p.Published.Load() + p.Acked.Load() + p.Unknown.Load() + p.Delivered.Load() + p.Handled.Load() + p.Settled.Load()
}
