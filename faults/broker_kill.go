// SPDX-License-Identifier: Apache-2.0

package faults

import (
	"context"
	"fmt"

	"github.com/seed-720a3c77/harness/contract"
)

const brokerByHand = "harness down ENGINE, then harness up ENGINE; its data is gone then"

// KillBroker ends a node of the broker as SIGKILL or a power cut of its process does; its
// disk stays. On brokers that the harness started: Kafka and RabbitMQ. Confirmed by the
// process being gone; it heals by starting the node again with its data, and waiting
// until it answers.
func KillBroker() Kind {
	return Kind{
		Name: "broker-kill", Doc: "kills a node of the broker; confirmed by its process being gone; heals by starting it with its data",
		Aim: AtNode, ByHand: brokerByHand, Unable: needsDurableNode,
		New: func(target string, decode func(any) error) (Fault, error) {
			return killBroker{target}, decode(&struct{}{})
		},
	}
}

// needsNode: the model is one passive machine, and whoever runs an external broker may
// not want it broken.
func needsNode(p Place) string {
	switch {
	case p.Virtual:
		return "the in-memory engine is no process; its links can be held, cut and delayed instead"
	case p.Rig != nil && len(p.Rig.Nodes) == 0:
		return p.Rig.NoNodes
	}
	return ""
}

// needsDurableNode: what a broker keeps in memory alone is gone by its own nature.
func needsDurableNode(p Place) string {
	if why := needsNode(p); why != "" {
		return why
	}
	if p.Profile.Model == contract.LeaseQueue {
		return "LocalStack keeps everything in memory: a restart forgets all queues and messages, which says nothing about SQS; use broker-pause or a link fault"
	}
	return ""
}

type killBroker struct{ target string }

func (k killBroker) Inject(ctx context.Context, at Targets) (Heal, error) {
	node, err := at.Node(k.target)
	if err != nil {
		return nil, err
	}
	err = killNode(ctx, node)
	if err != nil && node.PID() != 0 {
		return nil, err
	}
	return node.Restart, err
}

// killNode kills a node, and looks whether it is gone.
func killNode(ctx context.Context, node Node) error {
	if err := node.Kill(ctx); err != nil {
		return fmt.Errorf("kill %s: %w", node.Name(), err)
	}
	if pid := node.PID(); pid != 0 {
		return fmt.Errorf("kill %s: process %d is still there: %w", node.Name(), pid, ErrNotActive)
	}
	return nil
}
