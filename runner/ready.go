// SPDX-License-Identifier: Apache-2.0

package runner

import (
	"context"
	"time"

	"github.com/seed-720a3c77/harness/broker"
	"github.com/seed-720a3c77/harness/contract"
)

// membership is what a log's group has told of its sessions: which generation each worker
// is in and who owns what. The zero value has heard nothing.
type membership struct {
	generation map[string]int32
	owner      map[int32]string
}

func (m *membership) hear(worker string, n broker.Notice) {
	if m.owner == nil {
		m.generation, m.owner = map[string]int32{}, map[int32]string{}
	}
	switch n.Kind {
	case broker.SessionOpen:
		m.generation[worker] = n.Generation
	case broker.Assigned:
		m.owner[n.Partition] = worker
	case broker.Revoked, broker.Lost:
		if m.owner[n.Partition] == worker {
			delete(m.owner, n.Partition)
		}
	}
}

// settled: all workers are in one generation and every partition has an owner.
func (m *membership) settled(workers, partitions int) bool {
	if len(m.generation) < workers || len(m.owner) < partitions {
		return false
	}
	first := int32(-1)
	for _, generation := range m.generation {
		if first == -1 {
			first = generation
		}
		if generation != first {
			return false
		}
	}
	return true
}

// heard keeps what a worker's session told.
func (g *group) heard(worker string, n broker.Notice) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.members.hear(worker, n)
}

// ready: a queue's workers are when they receive.
func (g *group) ready() bool {
	if g.run.plan.Profile.Model != contract.Log {
		return true
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.members.settled(g.plan.Workers, g.partitions())
}

func (g *group) partitions() int {
	for _, d := range g.run.plan.Topology.Destinations {
		if d.Name == g.plan.From {
			return max(d.Partitions, 1)
		}
	}
	return 1
}

// readyPatience bounds the wait beyond a session and a take-over.
const readyPatience = 10 * time.Second

// awaitReady holds the load back until every group has settled, so that the joins of the
// start are no rebalance under load. A group that does not settle in time is no failure:
// its deliveries and lag show it.
func (r *run) awaitReady(ctx context.Context) {
	profile := &r.plan.Profile
	until := r.clock.Now() + profile.Session.Fit(0) + profile.TakeOver + readyPatience
	for r.clock.Now() < until {
		ready := true
		for _, g := range r.groups {
			ready = ready && g.ready()
		}
		if ready {
			_ = r.clock.Sleep(ctx, r.plan.Settled)
			return
		}
		if r.clock.Sleep(ctx, r.plan.lookReady()) != nil {
			return
		}
	}
}

// lookReady is how often it is looked whether groups are ready: closely where the load is to
// begin a measured time after.
func (p *Plan) lookReady() time.Duration {
	if p.Settled > 0 {
		return time.Millisecond
	}
	return look
}
