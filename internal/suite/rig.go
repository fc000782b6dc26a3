// SPDX-License-Identifier: Apache-2.0

package suite

import (
	"context"
	"errors"
	"time"

	"github.com/seed-720a3c77/harness/faults"
	"github.com/seed-720a3c77/harness/internal/catalog"
	"github.com/seed-720a3c77/harness/provision"
	"github.com/seed-720a3c77/harness/runner"
)

// nodes are those of a broker, as faults know them.
func nodes(at provision.Endpoint) []faults.Node {
	var all []faults.Node
	for _, node := range at.Nodes {
		all = append(all, node)
	}
	return all
}

// rigOf says what of a broker can be broken.
func rigOf(at provision.Endpoint) *faults.Rig {
	rig := &faults.Rig{
		NoNodes: "the broker is external: its processes are not the harness's to break",
		NoLinks: catalog.NoLinks(at),
	}
	if rig.NoLinks == "" {
		rig.Links = max(1, len(at.Links))
	}
	for _, node := range at.Nodes {
		rig.Nodes = append(rig.Nodes, node.Name())
	}
	return rig
}

// links opens the engine of a cell through the proxies that its plan breaks; without
// any, it is the one that all cells share.
func (s *suite) links(ctx context.Context, c Cell, conn catalog.Connection, plan *runner.Plan) (*catalog.Links, error) {
	l, err := catalog.OpenLinks(ctx, c.Engine, conn.At, conn.Engine, clients(plan))
	if errors.Is(err, catalog.ErrLinks) {
		return nil, &runner.NotApplicable{Reason: err.Error()}
	}
	return l, err
}

func clients(plan *runner.Plan) catalog.Clients {
	producers, workers := plan.Clients()
	return catalog.Clients{Producers: producers, Workers: workers, Targets: plan.LinkTargets()}
}

// modelRig is what of the in-memory engine can be broken: every link, and no process.
func modelRig() *faults.Rig { return &faults.Rig{Links: 1} }

// healPatience bounds the repair of what a crashed run left broken.
const healPatience = 2 * time.Minute

// heal repairs what a run that crashed left broken; one that ended has done it itself.
func heal(heals *faults.Heals) error {
	ctx, cancel := context.WithTimeout(context.Background(), healPatience)
	defer cancel()
	return heals.After(ctx)
}
