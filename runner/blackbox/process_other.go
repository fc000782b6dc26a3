// SPDX-License-Identifier: Apache-2.0

//go:build !linux && !darwin

package blackbox

import (
	"context"
	"errors"
	"io"
	"time"
)

// Supported: programs can be killed and frozen here.
const Supported = false

var errEnded = errors.New("the process has ended")

// process cannot be had here.
type process struct {
	pid    int
	output tail
	ended  chan struct{}
}

func launch([]string, []string, io.Writer) (*process, error) {
	return nil, errors.New("programs can be killed and frozen on Linux and macOS only")
}

func (p *process) freeze(context.Context) error             { return errEnded }
func (p *process) thaw(context.Context) error               { return errEnded }
func (p *process) kill(context.Context, func()) error       { return errEnded }
func (p *process) ask()                                     {}
func (p *process) end()                                     {}
func (p *process) gone(context.Context, time.Duration) bool { return true }
func (p *process) how() string                              { return "" }
func (p *process) quiet()                                   {}
