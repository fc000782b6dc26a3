// SPDX-License-Identifier: Apache-2.0

package runner

import (
	"context"
	"time"

	"github.com/seed-720a3c77/harness/clock"
	"github.com/seed-720a3c77/harness/faults"
)

// foreign calls what waits without knowing the clock; after a crash there is none.
func foreign(ctx context.Context, clk clock.Clock, do func() error) error {
	if faults.Crashed(ctx) {
		return do()
	}
	return clk.Foreign(ctx, do)
}

// foreignNode is a node whose methods wait without knowing the clock.
type foreignNode struct {
	faults.Node
	clock clock.Clock
}

func (n foreignNode) call(ctx context.Context, do func(context.Context) error) error {
	return foreign(ctx, n.clock, func() error { return do(ctx) })
}

func (n foreignNode) Kill(ctx context.Context) error   { return n.call(ctx, n.Node.Kill) }
func (n foreignNode) Freeze(ctx context.Context) error { return n.call(ctx, n.Node.Freeze) }
func (n foreignNode) Thaw(ctx context.Context) error   { return n.call(ctx, n.Node.Thaw) }
func (n foreignNode) Control(ctx context.Context, args ...string) (printed string, err error) {
	err = n.call(ctx, func(ctx context.Context) (err error) {
		printed, err = n.Node.Control(ctx, args...)
		return err
	})
	return printed, err
}

func (n foreignNode) Restart(ctx context.Context) error { return n.call(ctx, n.Node.Restart) }

// foreignLink is a link whose methods wait without knowing the clock.
type foreignLink struct {
	faults.Link
	clock clock.Clock
}

type repair = func(context.Context) error

// call breaks the link; its repair is as foreign.
func (l foreignLink) call(ctx context.Context, do func() (repair, error)) (mended repair, err error) {
	var own repair
	err = l.clock.Foreign(ctx, func() (err error) {
		own, err = do()
		return err
	})
	if own == nil {
		return nil, err
	}
	return func(ctx context.Context) error {
		return foreign(ctx, l.clock, func() error { return own(ctx) })
	}, err
}

func (l foreignLink) Delay(ctx context.Context, way string, latency, jitter time.Duration) (repair, error) {
	return l.call(ctx, func() (repair, error) { return l.Link.Delay(ctx, way, latency, jitter) })
}

func (l foreignLink) Hold(ctx context.Context, way string) (repair, error) {
	return l.call(ctx, func() (repair, error) { return l.Link.Hold(ctx, way) })
}

func (l foreignLink) Drop(ctx context.Context, way string) (repair, error) {
	return l.call(ctx, func() (repair, error) { return l.Link.Drop(ctx, way) })
}

func (l foreignLink) Limit(ctx context.Context, way string, bytes int) (repair, error) {
	return l.call(ctx, func() (repair, error) { return l.Link.Limit(ctx, way, bytes) })
}

func (l foreignLink) SlowClose(ctx context.Context, late time.Duration) (repair, error) {
	return l.call(ctx, func() (repair, error) { return l.Link.SlowClose(ctx, late) })
}

func (l foreignLink) Reset(ctx context.Context) error {
	return l.clock.Foreign(ctx, func() error { return l.Link.Reset(ctx) })
}

func (l foreignLink) Cut(ctx context.Context) (repair, error) {
	return l.call(ctx, func() (repair, error) { return l.Link.Cut(ctx) })
}
