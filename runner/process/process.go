// SPDX-License-Identifier: Apache-2.0

package process

import (
	"context"
	"errors"
	"os"

	"github.com/seed-720a3c77/harness/clock"
	"github.com/seed-720a3c77/harness/runner"
	"github.com/seed-720a3c77/harness/runner/spawn"
)

// process is one worker as the harness holds it.
type process struct {
	*spawn.Process
	*caller
	down, up *os.File
}

var _ runner.Process = (*process)(nil)

// hangUp closes the pipes, which ends a worker that runs.
func (p *process) hangUp() {
	p.down.Close()
	p.up.Close()
}

// Leave asks it to go. If it is gone there is nobody to ask.
func (p *process) Leave() { _ = p.link.send(message{Kind: leave}) }

// Order implements runner.Process.
func (p *process) Order(ctx context.Context, o runner.Order, fault int) error {
	_, err := p.ask(ctx, message{Kind: order, Text: string(o), N: fault})
	return err
}

// Serve implements runner.Process.
func (p *process) Serve(ctx context.Context, clk clock.Clock, desk runner.Desk) error {
	defer p.hangUp()
	defer p.over()
	h := &handler{caller: p.caller, desk: desk}
	broken := p.link.send(message{Kind: begin, Text: desk.Store.Name()})
	if broken == nil {
		broken = h.listen(ctx)
	}
	if broken != nil {
		p.End()
	}
	return clk.Foreign(context.WithoutCancel(ctx), func() error { return p.because(broken) })
}

// lastWords is how much of a worker's output, in bytes, is told with its end.
const lastWords = 2048

// because waits for the end of the process and tells how it came, with the reason that
// is known, if any, and the last that the process said.
func (p *process) because(reason error) error {
	if !p.Gone(context.Background(), spawn.Patience) {
		p.End()
		<-p.Ended()
	}
	p.Quiet()
	if reason == nil && p.Clean() {
		return nil
	}
	how := p.How()
	if said := p.Said(lastWords); said != "" {
		how += ": " + said
	}
	return errors.Join(reason, errors.New(how))
}
