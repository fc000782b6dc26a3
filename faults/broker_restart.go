// SPDX-License-Identifier: Apache-2.0

package faults

import "context"

// RestartBroker kills a node of the broker and starts it again at once, as a supervisor
// does. On brokers that the harness started: Kafka and RabbitMQ. Confirmed by the process
// being gone; it has healed when the node answers.
func RestartBroker() Kind {
	return Kind{
		Name: "broker-restart", Doc: "kills a node of the broker and starts it again at once; confirmed by its process being gone; healed when it answers",
		Aim: AtNode, ByHand: brokerByHand, Unable: needsDurableNode,
		New: func(target string, decode func(any) error) (Fault, error) {
			return restartBroker{target}, decode(&struct{}{})
		},
	}
}

type restartBroker struct{ target string }

func (r restartBroker) Inject(ctx context.Context, at Targets) (Heal, error) {
	heal, err := killBroker(r).Inject(ctx, at)
	if err == nil {
		at.Until(func(ctx context.Context) error { return ctx.Err() })
	}
	return heal, err
}
