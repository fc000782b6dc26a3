// SPDX-License-Identifier: Apache-2.0

// Package pace holds open-loop schedules: the instants at which messages are intended to
// be sent, whatever became of those before. They are pure functions of the number of the
// message, so that they are tested without a clock.
package pace

import "time"

// Schedule tells when the n-th message (from 0) is intended, from the start of the load.
type Schedule interface {
	At(n int) time.Duration
}

// Constant is a fixed rate in messages a second; 0 intends everything at once, which the
// caller reads as "as fast as possible".
func Constant(perSecond float64) Schedule { return constant(perSecond) }

// Measured is when the messages of another run were sent; none goes beyond them.
func Measured(at []time.Duration) Schedule { return measured(at) }

type measured []time.Duration

func (m measured) At(n int) time.Duration {
	if len(m) == 0 {
		return 0
	}
	return m[min(n, len(m)-1)]
}

type constant float64

func (c constant) At(n int) time.Duration {
	if c <= 0 {
		return 0
	}
	return time.Duration(float64(n) / float64(c) * float64(time.Second))
}
