// SPDX-License-Identifier: Apache-2.0

package runner

import (
	"context"
	"fmt"

	"github.com/seed-720a3c77/harness/broker"
	"github.com/seed-720a3c77/harness/effects"
	"github.com/seed-720a3c77/harness/msg"
	"github.com/seed-720a3c77/harness/runner/audit"
)

// audit looks at what is stored when everybody has left.
func (r *run) audit(ctx context.Context) {
	a := audit.Auditor{Engine: r.Engine, Clock: r.clock, Profile: r.plan.Profile, Run: r.plan.Where.Nonce, Task: r.task}
	for _, d := range r.plan.Topology.Destinations {
		if d.Kind != broker.Exchange {
			a.Destination(ctx, d.Name)
		}
	}
}

// auditEffects records what the group's store holds when the workers have left it, for
// comparison with what was recorded while they were at it.
func (g *group) auditEffects(ctx context.Context) {
	if !g.plan.storesOutside() {
		return
	}
	task := g.run.task
	session := task.EffectsOf(g.plan.Spec.Group, g.plan.From)
	ids := 0
	err := g.store.Each(ctx, g.plan.Group, func(id msg.ID, count int) {
		task.EffectFound(session, id, count)
		ids++
	})
	why := ""
	if err != nil {
		why = err.Error()
		g.run.fail(fmt.Errorf("effects of %s: %w", g.plan.Group, err))
	}
	task.EffectsRead(session, ids, why)
}

// storesOutside tells whether the effects are in a store that is not of the worker's own
// process, whose word may be another than what was heard of it: a worker that is killed
// between an effect and its result has heard nothing.
func (g *GroupPlan) storesOutside() bool {
	if g.EffectMode() == effects.None {
		return false
	}
	return g.inProcess() || g.Effect.Store != "" && g.Effect.Store != "memory"
}
