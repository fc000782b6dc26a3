// SPDX-License-Identifier: Apache-2.0

package runner

import (
	"context"

	"github.com/seed-720a3c77/harness/clock"
	"github.com/seed-720a3c77/harness/faults"
)

// foreignNode is a node whose methods wait without knowing the clock.
type foreignNode struct {
	faults.Node
	clock clock.Clock
}

func (n foreignNode) call(ctx context.Context, do func(context.Context) error) error {
	return n.clock.Foreign(ctx, func() error { return do(ctx) })
}

func (n foreignNode) Kill(ctx context.Context) error    { return n.call(ctx, n.Node.Kill) }
func (n foreignNode) Freeze(ctx context.Context) error  { return n.call(ctx, n.Node.Freeze) }
func (n foreignNode) Thaw(ctx context.Context) error    { return n.call(ctx, n.Node.Thaw) }
func (n foreignNode) Restart(ctx context.Context) error { return n.call(ctx, n.Node.Restart) }
