// SPDX-License-Identifier: Apache-2.0

//go:build !linux && !darwin

package process

import (
	"context"
	"errors"

	"github.com/seed-720a3c77/harness/runner"
)

// Supported: workers can be processes here.
const Supported = false

// Spawn implements runner.Spawner. A plan refuses run-in: process before.
func (s *Spawner) Spawn(context.Context, runner.Seat) (runner.Process, error) {
	return nil, errors.ErrUnsupported
}
