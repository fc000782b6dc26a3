// SPDX-License-Identifier: Apache-2.0

package faults

import (
	"context"
	"errors"
	"fmt"

	"github.com/seed-720a3c77/harness/broker"
)

// DeleteDestination deletes a destination under its clients, through the port. On every
// engine. Confirmed by the broker not knowing it any more; it heals by declaring it again,
// empty.
func DeleteDestination() Kind {
	return Kind{
		Name: "delete", Doc: "deletes a destination under its clients; confirmed by the broker not knowing it; heals by declaring it again, empty",
		Aim: AtStored, ByHand: "nothing: the run removes what it declared", Unable: anywhere,
		New: func(target string, decode func(any) error) (Fault, error) {
			return deletion{target}, decode(&struct{}{})
		},
	}
}

type deletion struct{ target string }

func (f deletion) Inject(ctx context.Context, at Targets) (Heal, error) {
	d, err := at.Destination(f.target)
	if err != nil {
		return nil, err
	}
	if err := at.Engine().Remove(ctx, d.Name); err != nil {
		return nil, fmt.Errorf("delete %s: %w", f.target, err)
	}
	switch _, err := at.Engine().Depth(ctx, d.Name, ""); {
	case err == nil:
		return nil, fmt.Errorf("delete %s: it is still there: %w", f.target, ErrNotActive)
	case !errors.Is(err, broker.ErrNotFound):
		return nil, fmt.Errorf("delete %s: %w: %w", f.target, ErrNotActive, err)
	}
	return func(ctx context.Context) error {
		return at.Engine().Declare(ctx, broker.Topology{Destinations: []broker.Destination{d}})
	}, nil
}
