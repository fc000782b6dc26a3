// SPDX-License-Identifier: Apache-2.0

package spawn

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"syscall"
	"time"
)

// ErrEnded: the process has ended, and with it all that could be asked of it.
var ErrEnded = errors.New("the process has ended")

var errUnchanged = errors.New("the process did not change its state")

// Patience bounds how long a signal may take to be seen at work.
const Patience = 10 * time.Second

// Process is one that was started. Its methods are safe for concurrent use.
type Process struct {
	pid    int
	output tail
	ended  chan struct{} // closed when it is reaped
	silent chan struct{} // closed when its outputs are read to the end

	mu      sync.Mutex // guards what follows
	stopped bool
	changed chan struct{} // closed and replaced when it stops or goes on
	over    bool
	lost    bool // over, and somebody else was told how
	status  syscall.WaitStatus
}

func newProcess(pid int) *Process {
	return &Process{pid: pid, ended: make(chan struct{}), silent: make(chan struct{}), changed: make(chan struct{})}
}

// PID is the id of the process and of its group. Another may have it after the end.
func (p *Process) PID() int { return p.pid }

// Ended is closed when the process has ended. What it wrote may not have been read then.
func (p *Process) Ended() <-chan struct{} { return p.ended }

// watch follows the states of the process until it has ended.
func (p *Process) watch() {
	for {
		status, err := nextState(p.pid)
		if p.became(status, err) {
			return
		}
	}
}

// became takes a change of state; true is the last. What is left of its group then is
// ended: a launcher that died may leave its program behind.
func (p *Process) became(status syscall.WaitStatus, err error) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.stopped = status.Stopped()
	p.over = err != nil || status.Exited() || status.Signaled()
	close(p.changed)
	p.changed = make(chan struct{})
	if p.over {
		p.status, p.lost = status, err != nil
		send(p.pid, ending) // no such group: nothing is left
		close(p.ended)
	}
	return p.over
}

// signal reaches the group, unless the process has ended: its number may be another's.
func (p *Process) signal(s syscall.Signal) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.over {
		send(p.pid, s)
	}
}

// until waits for a state of the process; one that has ended has no other any more.
func (p *Process) until(ctx context.Context, stopped bool, patience time.Duration) error {
	limit := time.NewTimer(patience)
	defer limit.Stop()
	for {
		p.mu.Lock()
		over, is, changed := p.over, p.stopped, p.changed
		p.mu.Unlock()
		switch {
		case over:
			return ErrEnded
		case is == stopped:
			return nil
		}
		select {
		case <-changed:
		case <-limit.C:
			return fmt.Errorf("%w within %s", errUnchanged, patience)
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// vforkPatience is how long a group is left to stop before it may go on and is stopped again.
const vforkPatience = 200 * time.Millisecond

// Freeze stops it, heartbeats and all, and returns when it stands. A process that has begun
// a child by vfork cannot stop before the child is a program, and the child cannot become
// one while it is stopped itself: then the group is let go on for a moment.
func (p *Process) Freeze(ctx context.Context) error {
	for began := time.Now(); ; {
		p.signal(stopping)
		err := p.until(ctx, true, vforkPatience)
		if !errors.Is(err, errUnchanged) || time.Since(began) > Patience {
			return err
		}
		p.signal(goingOn)
	}
}

// Thaw lets it go on, and returns when it does.
func (p *Process) Thaw(ctx context.Context) error {
	p.signal(goingOn)
	return p.until(ctx, false, Patience)
}

// Kill ends it: stopped, seen to be, recorded by still, killed, seen to be. Between the two
// no code of it runs, but nobody can know yet that it is gone. It is killed also if it
// could not be stopped; then still is not called and the error says why.
func (p *Process) Kill(ctx context.Context, still func()) error {
	if err := p.Freeze(ctx); err != nil {
		p.End()
		return err
	}
	still()
	p.End()
	if !p.Gone(context.WithoutCancel(ctx), Patience) {
		return fmt.Errorf("killed, but there after %s", Patience)
	}
	return nil
}

// Ask tells it to leave, as a supervisor does, even if it is frozen.
func (p *Process) Ask() {
	p.signal(leaving)
	p.signal(goingOn)
}

// End kills the group, stopped or not, and does not wait.
func (p *Process) End() { p.signal(ending) }

// Gone waits for its end.
func (p *Process) Gone(ctx context.Context, patience time.Duration) bool {
	limit := time.NewTimer(patience)
	defer limit.Stop()
	select {
	case <-p.ended:
		return true
	case <-limit.C:
	case <-ctx.Done():
	}
	return false
}

// Clean tells whether it has ended with exit status 0.
func (p *Process) Clean() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.over && !p.lost && p.status.Exited() && p.status.ExitStatus() == 0
}

// How says how it ended: "exit status 3", "signal: killed".
func (p *Process) How() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	switch {
	case p.lost || !p.over:
		return "no known end"
	case p.status.Signaled():
		return "signal: " + p.status.Signal().String()
	}
	return fmt.Sprintf("exit status %d", p.status.ExitStatus())
}
