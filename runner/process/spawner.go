// SPDX-License-Identifier: Apache-2.0

package process

import (
	"encoding/json"
	"time"

	"github.com/seed-720a3c77/harness/clock"
	"github.com/seed-720a3c77/harness/runner"
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
	Guard Guard
	// Patience bounds how long a new process may take until it records; 0 is 30s.
	Patience time.Duration
}

// Guard ends the group of a process if the harness dies.
type Guard interface {
	// Guard begins; release is called when the process has ended.
	Guard(pid int) (release func(), err error)
}

var _ runner.Spawner = (*Spawner)(nil)

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
