// SPDX-License-Identifier: Apache-2.0

//go:build linux || darwin

package process

import (
	"context"
	"errors"
	"fmt"
	"io"
	"sync"
	"syscall"
	"time"

	"github.com/seed-720a3c77/harness/clock"
	"github.com/seed-720a3c77/harness/runner"
)

// process is one worker as the harness holds it. The harness is its parent, so the
// kernel itself tells when it stops, goes on and ends.
type process struct {
	pid    int
	pipes  *pipes
	link   *link
	output tail
	ended  chan struct{} // closed when it is reaped
	silent chan struct{} // closed when its output is read to the end

	mu      sync.Mutex // guards what follows
	stopped bool
	changed chan struct{} // closed and replaced when it stops or goes on
	over    bool
	status  syscall.WaitStatus
}

var _ runner.Process = (*process)(nil)

func newProcess(pid int, pipes *pipes) *process {
	p := &process{
		pid: pid, pipes: pipes, link: newLink(pipes.up, pipes.down),
		ended: make(chan struct{}), silent: make(chan struct{}), changed: make(chan struct{}),
	}
	go p.watch()
	go func() {
		defer close(p.silent)
		_, _ = io.Copy(&p.output, pipes.output)
	}()
	return p
}

// watch follows the states of the process until it has ended.
func (p *process) watch() {
	for {
		var status syscall.WaitStatus
		_, err := syscall.Wait4(p.pid, &status, syscall.WUNTRACED|syscall.WCONTINUED, nil)
		if errors.Is(err, syscall.EINTR) {
			continue
		}
		if p.became(status, err) {
			return
		}
	}
}

// became takes a change of state; true is the last.
func (p *process) became(status syscall.WaitStatus, err error) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.stopped = status.Stopped()
	p.over = err != nil || status.Exited() || status.Signaled()
	close(p.changed)
	p.changed = make(chan struct{})
	if p.over {
		p.status = status
		close(p.ended)
	}
	return p.over
}

// signal reaches the group, unless the process has ended: its number may be another's.
func (p *process) signal(s syscall.Signal) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.over {
		_ = syscall.Kill(-p.pid, s)
	}
}

// end kills it, stopped or not.
func (p *process) end() { p.signal(syscall.SIGKILL) }

// observePatience bounds how long a signal may take to be seen at work.
const observePatience = 10 * time.Second

// until waits for a state of the process; one that has ended has no other any more.
func (p *process) until(ctx context.Context, stopped bool) error {
	limit := time.NewTimer(observePatience)
	defer limit.Stop()
	for {
		p.mu.Lock()
		over, is, changed := p.over, p.stopped, p.changed
		p.mu.Unlock()
		switch {
		case over:
			return errors.New("the process has ended")
		case is == stopped:
			return nil
		}
		select {
		case <-changed:
		case <-limit.C:
			return fmt.Errorf("the process did not change its state within %s", observePatience)
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// Freeze stops it, heartbeats and all.
func (p *process) Freeze(ctx context.Context) error {
	p.signal(syscall.SIGSTOP)
	return p.until(ctx, true)
}

// Thaw lets it go on.
func (p *process) Thaw(ctx context.Context) error {
	p.signal(syscall.SIGCONT)
	return p.until(ctx, false)
}

// Kill implements runner.Process: stopped, seen to be, recorded, killed, seen to be.
func (p *process) Kill(ctx context.Context, still func()) error {
	if err := p.Freeze(ctx); err != nil {
		p.end()
		return err
	}
	still()
	p.end()
	select {
	case <-p.ended:
		return nil
	case <-time.After(observePatience):
		return fmt.Errorf("killed, but there after %s", observePatience)
	}
}

// Leave asks it to go. If it is gone there is nobody to ask.
func (p *process) Leave() { _ = p.link.send(message{Kind: leave}) }

// Serve implements runner.Process.
func (p *process) Serve(ctx context.Context, clk clock.Clock, desk runner.Desk) error {
	defer p.pipes.closeOurs()
	h := &handler{link: p.link, clock: clk, desk: desk}
	broken := p.link.send(message{Kind: begin, Text: desk.Store.Name()})
	if broken == nil {
		broken = h.listen(ctx)
	}
	if broken != nil {
		p.end()
	}
	return clk.Foreign(context.WithoutCancel(ctx), func() error { return p.because(broken) })
}

// because waits for the end of the process and tells how it came, with the reason that
// is known, if any, and the last that the process said.
func (p *process) because(reason error) error {
	select {
	case <-p.ended:
	case <-time.After(observePatience):
		p.end()
		<-p.ended
	}
	select {
	case <-p.silent:
	case <-time.After(time.Second): // somebody else holds its output
	}
	if reason == nil && p.status.Exited() && p.status.ExitStatus() == 0 {
		return nil
	}
	return errors.Join(reason, &ended{p.status, p.output.String()})
}
