// SPDX-License-Identifier: Apache-2.0

//go:build linux || darwin

package blackbox

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"sync"
	"syscall"
	"time"
)

// Supported: programs can be killed and frozen here.
const Supported = true

// process is one life of a worker. The harness is its parent, so the kernel itself tells
// when it stops, goes on and ends.
type process struct {
	pid    int
	output tail
	ended  chan struct{} // closed when it is reaped
	silent chan struct{} // closed when its output is read to the end

	mu      sync.Mutex // guards what follows
	stopped bool
	changed chan struct{} // closed and replaced when it stops or goes on
	over    bool
	status  syscall.WaitStatus
}

// launch starts a program in a process group of its own. lines, if not nil, gets its
// standard output beside the tail.
func launch(args, env []string, lines io.Writer) (*process, error) {
	path, err := exec.LookPath(args[0])
	if err != nil {
		return nil, err
	}
	none, err := os.Open(os.DevNull)
	if err != nil {
		return nil, err
	}
	defer none.Close()
	p := &process{ended: make(chan struct{}), silent: make(chan struct{}), changed: make(chan struct{})}
	out, stdout, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	defer stdout.Close()
	complaints, stderr, err := os.Pipe()
	if err != nil {
		out.Close()
		return nil, err
	}
	defer stderr.Close()
	made, err := os.StartProcess(path, args, &os.ProcAttr{
		Env: env, Files: []*os.File{none, stdout, stderr}, Sys: &syscall.SysProcAttr{Setpgid: true},
	})
	if err != nil {
		out.Close()
		complaints.Close()
		return nil, err
	}
	p.pid = made.Pid
	_ = made.Release() // watch reaps it
	go p.watch()
	go p.listen(out, complaints, lines)
	return p, nil
}

// listen reads both outputs to their end.
func (p *process) listen(out, complaints *os.File, lines io.Writer) {
	defer close(p.silent)
	var both sync.WaitGroup
	both.Go(func() {
		defer complaints.Close()
		_, _ = io.Copy(&p.output, complaints)
	})
	defer both.Wait()
	defer out.Close()
	var to io.Writer = &p.output
	if lines != nil {
		to = io.MultiWriter(&p.output, lines)
	}
	_, _ = io.Copy(to, out)
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

// became takes a change of state; true is the last. What is left of its group then is
// ended: a launcher that died may leave its program behind.
func (p *process) became(status syscall.WaitStatus, err error) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.stopped = status.Stopped()
	p.over = err != nil || status.Exited() || status.Signaled()
	close(p.changed)
	p.changed = make(chan struct{})
	if p.over {
		p.status = status
		_ = syscall.Kill(-p.pid, syscall.SIGKILL) // no such group: nothing is left
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

var errEnded = errors.New("the process has ended")

var errUnchanged = errors.New("the process did not change its state")

// until waits for a state of the process; one that has ended has no other any more.
func (p *process) until(ctx context.Context, stopped bool, patience time.Duration) error {
	limit := time.NewTimer(patience)
	defer limit.Stop()
	for {
		p.mu.Lock()
		over, is, changed := p.over, p.stopped, p.changed
		p.mu.Unlock()
		switch {
		case over:
			return errEnded
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

// freeze stops it, heartbeats and all. A process that has begun a child by vfork cannot
// stop before the child is a program, and the child cannot become one while it is stopped
// itself: then the group is let go on for a moment.
func (p *process) freeze(ctx context.Context) error {
	for began := time.Now(); ; {
		p.signal(syscall.SIGSTOP)
		err := p.until(ctx, true, vforkPatience)
		if !errors.Is(err, errUnchanged) || time.Since(began) > observePatience {
			return err
		}
		p.signal(syscall.SIGCONT)
	}
}

// thaw lets it go on.
func (p *process) thaw(ctx context.Context) error {
	p.signal(syscall.SIGCONT)
	return p.until(ctx, false, observePatience)
}

// kill ends it: stopped, seen to be, recorded by still, killed, seen to be.
func (p *process) kill(ctx context.Context, still func()) error {
	if err := p.freeze(ctx); err != nil {
		p.end()
		return err
	}
	still()
	p.end()
	if !p.gone(ctx, observePatience) {
		return fmt.Errorf("killed, but there after %s", observePatience)
	}
	return nil
}

// ask tells it to leave, as a supervisor does.
func (p *process) ask() {
	p.signal(syscall.SIGTERM)
	p.signal(syscall.SIGCONT)
}

// end kills the group, stopped or not.
func (p *process) end() { p.signal(syscall.SIGKILL) }

// gone waits for its end.
func (p *process) gone(ctx context.Context, patience time.Duration) bool {
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

// how says how it ended.
func (p *process) how() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	switch {
	case p.status.Signaled():
		return "by signal " + p.status.Signal().String()
	case p.status.Exited():
		return fmt.Sprintf("with exit status %d", p.status.ExitStatus())
	}
	return "in a way that is not known"
}

// quietPatience bounds the wait for the rest of an output that somebody else may hold.
const quietPatience = time.Second

// quiet waits for the end of its output.
func (p *process) quiet() {
	select {
	case <-p.silent:
	case <-time.After(quietPatience):
	}
}
