// SPDX-License-Identifier: Apache-2.0

package blackbox

import (
	"context"

	"github.com/seed-720a3c77/harness/runner/audit"
)

// audit looks at what is stored when every worker has left.
func (r *run) audit(ctx context.Context) {
	a := audit.Auditor{Engine: r.Engine, Clock: r.Clock, Profile: r.plan.Profile, Run: r.plan.Nonce, Task: r.task}
	for _, d := range r.plan.Topology.Destinations {
		a.Destination(ctx, d.Name)
	}
}
