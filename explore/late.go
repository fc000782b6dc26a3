// SPDX-License-Identifier: Apache-2.0

package explore

import (
	"context"
	"math/rand/v2"
	"time"

	"github.com/seed-720a3c77/harness/clock"
)

// late is a clock on which every wait takes up to some time longer than asked for, as on a
// busy host: handlers, polls and schedules are late, never early.
type late struct {
	clock.Clock
	by   time.Duration
	dice *rand.Rand
}

// lateBy is the clock itself where nothing is late.
func lateBy(c clock.Clock, by time.Duration) clock.Clock {
	if by <= 0 {
		return c
	}
	return &late{c, by, c.Rand("late")}
}

// Sleep implements clock.Clock.
func (l *late) Sleep(ctx context.Context, d time.Duration) error {
	if d > 0 {
		d += time.Duration(l.dice.Int64N(int64(l.by) + 1))
	}
	return l.Clock.Sleep(ctx, d)
}
