// SPDX-License-Identifier: Apache-2.0

package consumertest

import (
	"context"
	"fmt"

	"github.com/seed-720a3c77/harness/broker"
	"github.com/seed-720a3c77/harness/clock"
	"github.com/seed-720a3c77/harness/contract"
)

// worker is a place where processes of the user's consumer run, one after another. It is
// one task of the clock.
type worker struct {
	scene    *scene
	name     string
	task     clock.Task
	sessions int
}

// fate is how a part of a worker's life ended.
type fate uint8

const (
	// served: go on.
	served fate = iota
	// cut: the connection is gone, the process is not.
	cut
	// died: so is the process.
	died
	// stopped: the scenario has ended.
	stopped
)

func (w *worker) run(ctx context.Context) {
	for life := 1; ; life++ {
		if w.scene.clock.Sleep(ctx, w.scene.downFor()) != nil {
			return
		}
		p := w.scene.newProcess(w.name, life)
		if !w.start(ctx, p) || w.live(ctx, p) == stopped {
			return
		}
		if w.scene.clock.Sleep(ctx, w.scene.rules.pace.restart) != nil {
			return
		}
	}
}

// start makes the handler, in the user's code.
func (w *worker) start(ctx context.Context, p *process) bool {
	if p.life > 1 {
		w.scene.trace.add(entry{who: w.name, event: -1}, "starts again, with a new handler that remembers nothing")
	}
	return w.construct(ctx, p)
}

// construct makes it, also once more in the same process for a probe.
func (w *worker) construct(ctx context.Context, p *process) bool {
	err := w.scene.clock.Foreign(ctx, func() error { return w.scene.construct(p) })
	if err != nil {
		w.scene.problem(problem{kind: panicked, event: -1, text: err.Error()})
		return false
	}
	return true
}

// live serves one process through any number of sessions.
func (w *worker) live(ctx context.Context, p *process) fate {
	for {
		w.sessions++
		c, err := w.scene.engine.Consumer(ctx, broker.ConsumerSpec{
			Name: fmt.Sprintf("%s.%d", w.name, w.sessions), From: queue, Group: w.group(),
			Batch: w.scene.plan.batch, Session: w.scene.rules.Session.Default,
		})
		if err != nil {
			w.scene.fail("consume", err)
			return stopped
		}
		switch w.session(ctx, p, c) {
		case died:
			c.Abandon()
			return died
		case stopped:
			return stopped
		}
		c.Abandon()
		if w.scene.clock.Sleep(ctx, w.scene.rules.pace.restart) != nil {
			return stopped
		}
	}
}

func (w *worker) group() string {
	if w.scene.rules.Can.Has(contract.Groups) {
		return group
	}
	return ""
}

// session serves one connection until it breaks.
func (w *worker) session(ctx context.Context, p *process, c broker.Consumer) fate {
	buffer := make([]broker.Delivery, w.scene.plan.batch)
	for {
		n, err := w.receive(ctx, c, buffer)
		if ctx.Err() != nil {
			return stopped
		}
		if err != nil {
			return cut
		}
		if w.scene.downFor() > 0 {
			p.crash()
			return died
		}
		for part := range w.parts(buffer[:n]) {
			h := &handling{worker: w, process: p, consumer: c, batch: part}
			if f := h.handle(ctx); f != served {
				return f
			}
		}
	}
}

// receive is one poll. Copies that the broker makes by itself come before.
func (w *worker) receive(ctx context.Context, c broker.Consumer, into []broker.Delivery) (int, error) {
	if d, ok := w.scene.take(w.name); ok {
		into[0] = d
		return 1, nil
	}
	return c.Receive(ctx, into, w.scene.poll())
}

// parts are what the handler gets in one call: all, or one at a time.
func (w *worker) parts(all []broker.Delivery) func(yield func([]broker.Delivery) bool) {
	size := 1
	if w.scene.config.batch > 0 {
		size = max(1, len(all))
	}
	return func(yield func([]broker.Delivery) bool) {
		for len(all) > 0 {
			n := min(size, len(all))
			if !yield(all[:n]) {
				return
			}
			all = all[n:]
		}
	}
}
