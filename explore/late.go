// SPDX-License-Identifier: Apache-2.0

package explore

import (
	"context"
	"math/rand/v2"
	"time"

	"github.com/seed-720a3c77/harness/clock"
)

// spell is for how long a host is busy in one way: who is late then is so together.
const spell = 250 * time.Millisecond

// spells are by how much the waits of a run were late, those of one spell in a row each. Spells
// without any wait are left out.
type spells [][]time.Duration

// lateness gathers spells.
type lateness struct {
	spells
	last int64 // number of the latest one
}

// add takes a sample; they come in the order of their time.
func (l *lateness) add(at int64, by time.Duration) {
	number := 1 + at/int64(spell)
	if number != l.last {
		l.last = number
		l.spells = append(l.spells, nil)
	}
	last := &l.spells[len(l.spells)-1]
	*last = append(*last, by)
}

// all are the samples of all spells.
func (s spells) all() []time.Duration {
	var all []time.Duration
	for _, one := range s {
		all = append(all, one...)
	}
	return all
}

// late is a clock on which every wait takes longer than asked for, as it did on the host of a
// run: one of its spells after another, in any order. Handlers, polls and schedules are late,
// never early.
type late struct {
	clock.Clock
	spells spells
	dice   *rand.Rand
	now    []time.Duration
	until  time.Duration
}

// lateBy is the clock itself where nothing is late.
func lateBy(c clock.Clock, s spells) clock.Clock {
	if len(s) == 0 {
		return c
	}
	return &late{Clock: c, spells: s, dice: c.Rand("late")}
}

// Sleep implements clock.Clock.
func (l *late) Sleep(ctx context.Context, d time.Duration) error {
	if d > 0 {
		d += l.by()
	}
	return l.Clock.Sleep(ctx, d)
}

func (l *late) by() time.Duration {
	if now := l.Now(); now >= l.until {
		l.now, l.until = l.spells[l.dice.IntN(len(l.spells))], now+spell
	}
	return l.now[l.dice.IntN(len(l.now))]
}
