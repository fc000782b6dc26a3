// SPDX-License-Identifier: Apache-2.0

package faults

import (
	"context"
	"fmt"
)

// Stop asks a worker to finish what it holds and leave. A polite stop is a fault too:
// graceful closes have produced as many reports as crashes. Start heals it.
func Stop() Kind {
	return Kind{
		Name:   "stop",
		Doc:    "asks a worker to finish what it holds and leave; start heals it",
		Unable: anywhere,
		New: func(target string, decode func(any) error) (Fault, error) {
			return stop{target}, decode(&struct{}{})
		},
	}
}

type stop struct{ target string }

func (s stop) Inject(ctx context.Context, at Targets) (Heal, error) {
	worker, err := at.Process(s.target)
	if err != nil {
		return nil, err
	}
	if err := worker.Stop(ctx); err != nil {
		return nil, fmt.Errorf("stop %s: %w", s.target, err)
	}
	return nil, nil
}

// Start runs a dead or stopped worker again, or a new one under the next number.
func Start() Kind {
	return Kind{
		Name:    "start",
		Doc:     "runs a dead or stopped worker again, or a new one",
		Repairs: []string{"kill", "stop"},
		Unable:  anywhere,
		New: func(target string, decode func(any) error) (Fault, error) {
			return repair{target, Process.Start}, decode(&struct{}{})
		},
	}
}
