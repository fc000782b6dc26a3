// SPDX-License-Identifier: Apache-2.0

//go:build linux || darwin

package process

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"syscall"
	"time"

	"github.com/seed-720a3c77/harness/runner"
)

// Supported: workers can be processes here.
const Supported = true

// patience is the default of Spawner.Patience.
const patience = 30 * time.Second

// Spawn implements runner.Spawner.
func (s *Spawner) Spawn(ctx context.Context, seat runner.Seat) (runner.Process, error) {
	p, err := s.start()
	if err != nil {
		return nil, fmt.Errorf("start %s: %w", seat.Name(), err)
	}
	forget := context.AfterFunc(ctx, p.end)
	if err := s.begin(p, seat); err != nil {
		defer forget()
		defer p.pipes.closeOurs()
		p.end()
		return nil, fmt.Errorf("start %s: %w", seat.Name(), p.because(err))
	}
	go func() { <-p.ended; forget() }()
	return p, nil
}

// start makes the pipes and the process, in a group of its own: no signal of the
// harness's terminal reaches it.
func (s *Spawner) start() (*process, error) {
	pipes, err := openPipes()
	if err != nil {
		return nil, err
	}
	defer pipes.closeTheirs()
	made, err := os.StartProcess(s.Program, append([]string{s.Program}, s.Args...), &os.ProcAttr{
		Env: append(environment(), Mark+"="+s.Dir), Sys: &syscall.SysProcAttr{Setpgid: true},
		Files: []*os.File{pipes.theirs[0], pipes.theirs[1], pipes.theirs[1], pipes.theirs[2]},
	})
	if err != nil {
		pipes.closeOurs()
		return nil, err
	}
	p := newProcess(made.Pid, pipes)
	_ = made.Release() // watch reaps it
	return p, nil
}

// begin hands over the job and waits until the process has taken it.
func (s *Spawner) begin(p *process, seat runner.Seat) error {
	if s.Guard != nil {
		release, err := s.Guard.Guard(p.pid)
		if err != nil {
			return err
		}
		go func() { <-p.ended; release() }()
	}
	job, err := s.job(seat)
	if err != nil {
		return err
	}
	limit := cmp.Or(s.Patience, patience)
	_ = p.pipes.up.SetReadDeadline(time.Now().Add(limit))
	if err := p.link.send(message{Kind: jobIs, Job: job}); err != nil {
		return err
	}
	m, err := p.link.receive()
	switch {
	case errors.Is(err, os.ErrDeadlineExceeded):
		return fmt.Errorf("not ready after %s", limit)
	case err != nil:
		return err
	case m.Kind != ready:
		return fmt.Errorf("unexpected %q instead of %q", m.Kind, ready)
	}
	return p.pipes.up.SetReadDeadline(time.Time{})
}

// Mark is set in the environment of every worker to the folder of its run.
const Mark = "HARNESS_WORKER_OF"

// environment keeps what a client library may need, and no setting or secret of the
// harness's own.
func environment() []string {
	var kept []string
	for _, name := range []string{"PATH", "HOME", "TMPDIR", "LANG", "TZ", "SSL_CERT_FILE", "SSL_CERT_DIR", "GODEBUG", "GOTRACEBACK", "GOCOVERDIR", "GORACE"} {
		if value, ok := os.LookupEnv(name); ok {
			kept = append(kept, name+"="+value)
		}
	}
	return kept
}

// pipes of one process: down to it, its output, up from it.
type pipes struct {
	down, output, up *os.File
	theirs           [3]*os.File
}

func openPipes() (*pipes, error) {
	var p pipes
	var errs [3]error
	p.theirs[0], p.down, errs[0] = os.Pipe()
	p.output, p.theirs[1], errs[1] = os.Pipe()
	p.up, p.theirs[2], errs[2] = os.Pipe()
	if err := errors.Join(errs[:]...); err != nil {
		p.closeTheirs()
		p.closeOurs()
		return nil, err
	}
	return &p, nil
}

func (p *pipes) closeTheirs() {
	for _, f := range p.theirs {
		_ = f.Close() // of a pipe that could not be made: nil, which is refused
	}
}

func (p *pipes) closeOurs() {
	for _, f := range []*os.File{p.down, p.output, p.up} {
		_ = f.Close()
	}
}
