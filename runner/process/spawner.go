// SPDX-License-Identifier: Apache-2.0

package process

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/seed-720a3c77/harness/clock"
	"github.com/seed-720a3c77/harness/runner"
	"github.com/seed-720a3c77/harness/runner/spawn"
)

// Spawner starts the workers of one run. It is a runner.Spawner.
type Spawner struct {
	// Program and Args start a Child.
	Program string
	Args    []string
	// Clock is the run's.
	Clock *clock.Wall
	Seed  uint64
	// Dir is the run's history.
	Dir string
	// File, Source and Variant are the workload's.
	File, Source, Variant string
	// Connect makes what Child.Open gets in a seat, which may hold credentials; nil is nothing.
	Connect func(seat runner.Seat) (json.RawMessage, error)
	// Guard ends the processes if the harness cannot; nil is nobody.
	Guard spawn.Guard
	// Patience bounds how long a new process may take until it records; 0 is 30s.
	Patience time.Duration
}

// patience is the default of Spawner.Patience.
const patience = 30 * time.Second

var _ runner.Spawner = (*Spawner)(nil)

// Spawn implements runner.Spawner.
func (s *Spawner) Spawn(ctx context.Context, seat runner.Seat) (runner.Process, error) {
	p, err := s.start()
	if err != nil {
		return nil, fmt.Errorf("start %s: %w", seat.Name(), err)
	}
	forget := context.AfterFunc(ctx, p.End)
	if err := s.begin(p, seat); err != nil {
		defer forget()
		defer p.hangUp()
		p.End()
		return nil, fmt.Errorf("start %s: %w", seat.Name(), p.because(err))
	}
	go func() { <-p.Ended(); forget() }()
	return p, nil
}

// start makes the process with a pipe down to it and one up from it.
func (s *Spawner) start() (*process, error) {
	stdin, down, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	up, told, err := os.Pipe()
	if err != nil {
		return nil, errors.Join(err, stdin.Close(), down.Close())
	}
	started, err := spawn.Program{
		Args: append([]string{s.Program}, s.Args...), Env: append(environment(), Mark+"="+s.Dir),
		Files: []*os.File{stdin, told}, Guard: s.Guard,
	}.Start()
	if err != nil {
		return nil, errors.Join(err, down.Close(), up.Close())
	}
	return &process{Process: started, caller: newCaller(newLink(up, down), s.Clock, runner.ErrGone), down: down, up: up}, nil
}

// begin hands over the job and waits until the process has taken it.
func (s *Spawner) begin(p *process, seat runner.Seat) error {
	job, err := s.job(seat)
	if err != nil {
		return err
	}
	limit := cmp.Or(s.Patience, patience)
	_ = p.up.SetReadDeadline(time.Now().Add(limit))
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
	return p.up.SetReadDeadline(time.Time{})
}

func (s *Spawner) job(seat runner.Seat) (*Job, error) {
	j := &Job{
		Seat: seat, Dir: s.Dir, File: s.File, Source: s.Source, Variant: s.Variant, Seed: s.Seed, Zero: zeroOf(s.Clock),
	}
	if s.Connect == nil {
		return j, nil
	}
	var err error
	j.Connect, err = s.Connect(seat)
	return j, err
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
