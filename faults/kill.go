// SPDX-License-Identifier: Apache-2.0

package faults

import (
	"context"
	"fmt"
)

// Kill ends a worker as SIGKILL does: the engine's side is cut first, nothing is settled,
// committed or left, and no code of the worker runs any more. On virtual time it is
// outright; in a goroutine on the wall clock it acts at the worker's next call of clock
// or port. Confirmed by the worker being dead. It heals when the worker is started again.
func Kill() Kind {
	return Kind{
		Name:   "kill",
		Doc:    "ends a worker without a word to anybody; confirmed by its death; start heals it",
		Unable: anywhere,
		New: func(target string, decode func(any) error) (Fault, error) {
			return kill{target}, decode(&struct{}{})
		},
	}
}

type kill struct{ target string }

func (k kill) Inject(ctx context.Context, at Targets) (Heal, error) {
	worker, err := at.Process(k.target)
	if err != nil {
		return nil, err
	}
	if err := worker.Kill(ctx); err != nil {
		return nil, fmt.Errorf("kill %s: %w", k.target, err)
	}
	if worker.Alive() {
		return nil, fmt.Errorf("kill %s: %w", k.target, ErrNotActive)
	}
	return nil, nil
}
