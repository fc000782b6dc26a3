// SPDX-License-Identifier: Apache-2.0

package faults

import (
	"context"
	"fmt"
)

// PauseBroker stops a node of the broker where it stands: connections stay open, new ones
// are accepted by the kernel, and nothing answers. Its own clocks go on, so that leases
// and sessions end all at once when it wakes. On every broker that the harness started.
// Confirmed by the process standing still; it heals by letting it go on.
func PauseBroker() Kind {
	return Kind{
		Name: "broker-pause", Doc: "stops a node of the broker where it stands, connections open; confirmed by its process standing still",
		Aim: AtNode, ByHand: "kill -CONT the process (harness status shows the broker), or " + brokerByHand, Unable: needsNode,
		New: func(target string, decode func(any) error) (Fault, error) {
			return pauseBroker{target}, decode(&struct{}{})
		},
	}
}

type pauseBroker struct{ target string }

// Inject: Freeze returns when the kernel says that the process has stopped.
func (p pauseBroker) Inject(ctx context.Context, at Targets) (Heal, error) {
	node, err := at.Node(p.target)
	if err != nil {
		return nil, err
	}
	if err := node.Freeze(ctx); err != nil {
		return node.Thaw, fmt.Errorf("pause %s: %w", node.Name(), err)
	}
	return node.Thaw, nil
}
