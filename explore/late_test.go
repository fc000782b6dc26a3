// SPDX-License-Identifier: Apache-2.0

package explore

import (
	"context"
	"testing"
	"time"

	"github.com/seed-720a3c77/harness/clock"
)

// TestLateInSpells: waits take longer than asked for by what was measured, never less, and those
// that begin in one spell by what was measured in one.
func TestLateInSpells(t *testing.T) {
	var measured lateness
	for i, by := range []time.Duration{1, 2, 3, 11, 12, 13} {
		measured.add(int64(i/3)*int64(spell), by)
	}
	if len(measured.spells) != 2 {
		t.Fatalf("%d spells in %v", len(measured.spells), measured.spells)
	}
	v := clock.NewVirtual(3)
	defer v.Close()
	spellsSeen := map[bool]int{}
	err := v.Run("late", func(ctx context.Context) {
		c := lateBy(v, measured.spells)
		for range 40 {
			calm, busy := 0, 0
			for range 10 {
				began := c.Now()
				_ = c.Sleep(ctx, spell/20)
				switch by := c.Now() - began - spell/20; {
				case by >= 1 && by <= 3:
					calm++
				case by >= 11 && by <= 13:
					busy++
				default:
					t.Errorf("late by %d", by)
				}
			}
			if calm > 0 && busy > 0 {
				t.Errorf("%d calm and %d busy waits in one spell", calm, busy)
			}
			spellsSeen[busy > 0]++
			_ = v.Sleep(ctx, 2*spell-(v.Now()%(2*spell)))
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	if spellsSeen[false] < 5 || spellsSeen[true] < 5 {
		t.Errorf("spells of one kind only: %v", spellsSeen)
	}
}

// TestNobodyIsLateWithoutSamples: a run whose handlers take no time tells nothing.
func TestNobodyIsLateWithoutSamples(t *testing.T) {
	v := clock.NewVirtual(3)
	defer v.Close()
	if c := lateBy(v, nil); c != clock.Clock(v) {
		t.Errorf("another clock: %T", c)
	}
}
