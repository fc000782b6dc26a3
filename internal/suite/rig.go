// SPDX-License-Identifier: Apache-2.0

package suite

import (
	"context"
	"time"

	"github.com/seed-720a3c77/harness/faults"
	"github.com/seed-720a3c77/harness/provision"
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
	rig := &faults.Rig{NoNodes: "the broker is external: its processes are not the harness's to break"}
	for _, node := range at.Nodes {
		rig.Nodes = append(rig.Nodes, node.Name())
	}
	return rig
}

// healPatience bounds the repair of what a crashed run left broken.
const healPatience = 2 * time.Minute

// heal repairs what a run that crashed left broken; one that ended has done it itself.
func heal(heals *faults.Heals) error {
	ctx, cancel := context.WithTimeout(context.Background(), healPatience)
	defer cancel()
	return heals.Run(ctx)
}
