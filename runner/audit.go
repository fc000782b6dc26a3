// SPDX-License-Identifier: Apache-2.0

package runner

import (
	"context"

	"github.com/seed-720a3c77/harness/broker"
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
