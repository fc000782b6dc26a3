// SPDX-License-Identifier: Apache-2.0

package process

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/seed-720a3c77/harness/runner"
)

// handler answers one worker.
type handler struct {
	*caller
	desk runner.Desk
}

// listen takes what the worker says until it says no more. An error is a worker that does
// not speak the protocol.
func (h *handler) listen(ctx context.Context) error {
	for {
		var m message
		err := h.clock.Foreign(context.WithoutCancel(ctx), func() (err error) {
			m, err = h.link.receive()
			return err
		})
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err == nil {
			err = h.take(ctx, m)
		}
		if err != nil {
			return fmt.Errorf("conversation with the worker: %w", err)
		}
	}
}

// take handles a message. Everything but a point is done before the next is read, so that
// what a killed worker sent is done when its end is seen. An answer that cannot be sent
// is for a worker that is gone.
func (h *handler) take(ctx context.Context, m message) error {
	switch {
	case m.Kind == reach && m.ID != nil:
		h.reach(ctx, m)
	case m.Kind == failures && m.ID != nil:
		h.answer(message{Call: m.Call, N: h.desk.Failures(ctx, *m.ID, m.N)})
	case (m.Kind == start || m.Kind == apply || m.Kind == count) && m.Key != nil:
		h.answer(stored(context.WithoutCancel(ctx), h.desk.Store, m))
	case m.Kind == answer:
		h.answered(m)
	case m.Kind == holding:
		h.desk.Holding(m.On)
	case m.Kind == session:
		h.desk.Session(m.Text, m.On)
	case m.Kind == notice && m.Notice != nil:
		h.desk.Notice(*m.Notice)
	case m.Kind == counted && m.Counts != nil:
		h.count(m.Counts)
	default:
		return fmt.Errorf("unexpected %q", m.Kind)
	}
	return nil
}

// reach lets the worker wait at a point while the rest of it is answered.
func (h *handler) reach(ctx context.Context, m message) {
	h.clock.Go(ctx, "at "+m.Text, func(ctx context.Context) {
		h.desk.Reach(ctx, m.Text, m.N, *m.ID)
		h.answer(message{Call: m.Call})
	})
}

func (h *handler) answer(m message) {
	m.Kind = answer
	_ = h.link.send(m)
}

func (h *handler) count(c *counts) {
	p := h.desk.Progress
	p.Delivered.Add(c.Delivered)
	p.Handled.Add(c.Handled)
	p.Failed.Add(c.Failed)
	p.Settled.Add(c.Settled)
}
