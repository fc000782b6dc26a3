// SPDX-License-Identifier: Apache-2.0

package faults

import (
	"context"
	"fmt"

	"github.com/seed-720a3c77/harness/broker"
	"github.com/seed-720a3c77/harness/contract"
)

// Purge empties a destination through the port, as an operator or a limit of retention
// does: what was acked and not yet delivered is gone. A log is truncated: its start moves to
// its end (Kafka's DeleteRecords), offsets go on, and a group whose position is below it
// begins where one without a position does. On every engine that can, the in-memory ones
// included. Confirmed by nothing being ready; there is nothing to heal.
func Purge() Kind {
	return Kind{
		Name: "purge", Doc: "empties a destination; confirmed by nothing being ready in it; nothing heals it",
		Aim: AtStored, Unable: needsPurge,
		New: func(target string, decode func(any) error) (Fault, error) {
			return purge{target}, decode(&struct{}{})
		},
	}
}

func needsPurge(p Place) string {
	if p.Profile.Can.Has(contract.Purge) {
		return ""
	}
	return p.Profile.Name + " cannot empty a destination"
}

type purge struct{ target string }

func (f purge) Inject(ctx context.Context, at Targets) (Heal, error) {
	d, err := at.Destination(f.target)
	if err != nil {
		return nil, err
	}
	before, err := at.Engine().Depth(ctx, d.Name, "")
	if err == nil {
		err = at.Engine().Purge(ctx, d.Name)
	}
	if err != nil {
		return nil, fmt.Errorf("purge %s: %w", f.target, err)
	}
	after, err := at.Engine().Depth(ctx, d.Name, "")
	switch {
	case err != nil:
		return nil, fmt.Errorf("purge %s: %w", f.target, err)
	case waiting(&before) > 0 && waiting(&after) >= waiting(&before) && after.Start <= before.Start:
		return nil, fmt.Errorf("purge %s: %d messages are still there: %w", f.target, waiting(&after), ErrNotActive)
	}
	return nil, nil
}

// waiting is what a destination could still hand out.
func waiting(d *broker.Depth) int64 {
	if d.End != broker.Unmeasured && d.End > 0 {
		return d.End - d.Start
	}
	return max(d.Ready, 0)
}
