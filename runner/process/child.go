// SPDX-License-Identifier: Apache-2.0

package process

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"sync/atomic"
	"time"

	"github.com/seed-720a3c77/harness/broker"
	"github.com/seed-720a3c77/harness/clock"
	"github.com/seed-720a3c77/harness/faults"
	"github.com/seed-720a3c77/harness/history"
	"github.com/seed-720a3c77/harness/msg"
	"github.com/seed-720a3c77/harness/runner"
)

// Up is the number of the file on which a worker talks to the harness.
const Up = 3

// Child is the worker's side: what the harness's hidden verb runs.
type Child struct {
	// In and Out are the pipes from and to the harness.
	In  io.Reader
	Out io.Writer
	// Open opens the engine from Job.Connect.
	Open func(ctx context.Context, connect json.RawMessage) (broker.Engine, error)
	// Faults is the catalogue that the timeline may name.
	Faults []faults.Kind
	// Orphaned is called when the harness is gone, and ends the process at once: nobody
	// supervises the worker any more.
	Orphaned func()
}

// Run lives one life and returns when the worker has left.
func (c Child) Run(ctx context.Context) error {
	l := newLink(c.In, c.Out)
	m, err := l.receive()
	if err != nil || m.Kind != jobIs || m.Job == nil {
		return fmt.Errorf("no job: %w", errors.Join(err, errOrder(m)))
	}
	job := m.Job
	recording, err := history.Attach(job.Dir, job.Seat.Name())
	if err != nil {
		return err
	}
	plan, err := job.plan(recording.Header(), c.Faults)
	if err != nil {
		return errors.Join(err, recording.Close())
	}
	clk := clock.NewWallAt(job.Seed, job.Zero.instant())
	defer clk.Close()
	w := child{Child: c, job: job, caller: newCaller(l, clk, errHarnessGone), plan: plan, recording: recording, orders: make(chan message, maxOrders)}
	var ran error
	crashed := clk.Run(job.Seat.Name(), func(ctx context.Context) { ran = w.work(ctx) })
	return errors.Join(crashed, ran, recording.Close())
}

func errOrder(m message) error {
	if m.Kind == "" {
		return nil
	}
	return fmt.Errorf("unexpected %q", m.Kind)
}

// child is a life under way, and the run as the worker sees it.
type child struct {
	Child
	*caller
	job       *Job
	plan      *runner.Plan
	recording *history.Recording
	progress  runner.Progress
	told      counts // of the progress, so far
	leaving   atomic.Bool
	orders    chan message
	port      *runner.Port
}

var _ runner.Supervisor = (*child)(nil)

func (c *child) work(ctx context.Context) error {
	begun := make(chan string, 1)
	go c.listen(begun)
	if err := c.link.send(message{Kind: ready}); err != nil {
		return err
	}
	store := &store{caller: c.caller}
	if err := c.clock.Foreign(ctx, func() error { store.name = <-begun; return nil }); err != nil {
		return err
	}
	engine, err := c.open(ctx)
	if engine == nil {
		return err
	}
	c.port = runner.NewPort(c.plan, engine, c.clock)
	obeying := c.clock.Go(ctx, "orders", c.obey)
	reporting := c.clock.Go(ctx, "report", c.report)
	err = runner.Work{
		Plan: c.plan, Seat: c.job.Seat, Engine: engine, Clock: c.clock, Recording: c.recording, Leaving: &c.leaving, Port: c.port,
		Desk: runner.Desk{Supervisor: c, Store: store, Progress: &c.progress},
	}.Run(ctx)
	for _, task := range []clock.Task{obeying, reporting} {
		task.Kill()
		_ = task.Join(ctx)
	}
	c.count()
	return errors.Join(err, engine.Close(ctx))
}

// listen takes what the harness says until it is gone.
func (c *child) listen(begun chan<- string) {
	defer c.Orphaned()
	defer c.over()
	for {
		m, err := c.link.receive()
		if err != nil {
			return
		}
		switch m.Kind {
		case begin:
			begun <- m.Text
		case answer:
			c.answered(m)
		case order:
			c.orders <- m
		case leave:
			c.leaving.Store(true)
		}
	}
}

// maxOrders are kept for a worker that has not opened its engine yet.
const maxOrders = 64

// obey follows the orders of the harness, each in its own time.
func (c *child) obey(ctx context.Context) {
	for {
		var m message
		err := c.clock.Foreign(ctx, func() error {
			select {
			case m = <-c.orders:
				return nil
			case <-ctx.Done():
				return ctx.Err()
			}
		})
		if err != nil {
			return
		}
		c.clock.Go(ctx, "order", func(ctx context.Context) {
			done := message{Kind: answer, Call: m.Call}
			if err := c.port.Do(ctx, runner.Order(m.Text), m.N); err != nil {
				done.Error = err.Error()
			}
			_ = c.link.send(done)
		})
	}
}

const (
	// openPatience bounds how long a broker may refuse a new worker.
	openPatience = time.Minute
	// openAgain is the pause between two tries.
	openAgain = 100 * time.Millisecond
)

// open opens the engine, or returns none when the worker is to leave before. A broker
// that is down now may be back soon: a worker that is a task would wait for it too.
func (c *child) open(ctx context.Context) (broker.Engine, error) {
	for until := c.clock.Now() + openPatience; !c.leaving.Load(); {
		engine, err := c.Open(ctx, c.job.Connect)
		if err == nil {
			return engine, nil
		}
		if c.clock.Now() > until || c.clock.Sleep(ctx, openAgain) != nil {
			return nil, fmt.Errorf("%w: %w", runner.ErrBroker, err)
		}
	}
	return nil, nil
}

// Reach implements runner.Supervisor.
func (c *child) Reach(ctx context.Context, point string, n int, id msg.ID) {
	_, _ = c.ask(ctx, message{Kind: reach, Text: point, N: n, ID: &id})
}

// Failures implements runner.Supervisor.
func (c *child) Failures(ctx context.Context, id msg.ID, more int) int {
	a, _ := c.ask(ctx, message{Kind: failures, ID: &id, N: more})
	return a.N
}

// Holding implements runner.Supervisor. The harness learns of a batch before the broker
// can learn that it is settled.
func (c *child) Holding(batch bool) {
	if !batch {
		c.count()
	}
	_ = c.link.send(message{Kind: holding, On: batch})
}

// Session implements runner.Supervisor.
func (c *child) Session(name string, open bool) {
	_ = c.link.send(message{Kind: session, Text: name, On: open})
}

// Notice implements runner.Supervisor.
func (c *child) Notice(n broker.Notice) { _ = c.link.send(message{Kind: notice, Notice: &n}) }

// reportEvery is how often counts go to the harness while a batch is worked on.
const reportEvery = 100 * time.Millisecond

func (c *child) report(ctx context.Context) {
	for c.clock.Sleep(ctx, reportEvery) == nil {
		c.count()
	}
}

// count tells what was counted since the last time.
func (c *child) count() {
	c.mu.Lock()
	defer c.mu.Unlock()
	now := counts{c.progress.Delivered.Load(), c.progress.Handled.Load(), c.progress.Failed.Load(), c.progress.Settled.Load()}
	since := counts{now.Delivered - c.told.Delivered, now.Handled - c.told.Handled, now.Failed - c.told.Failed, now.Settled - c.told.Settled}
	if since == (counts{}) {
		return
	}
	c.told = now
	_ = c.link.send(message{Kind: counted, Counts: &since})
}
