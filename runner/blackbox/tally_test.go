// SPDX-License-Identifier: Apache-2.0

package blackbox

import (
	"errors"
	"testing"

	"github.com/seed-720a3c77/harness/clock"
	"github.com/seed-720a3c77/harness/history"
	"github.com/seed-720a3c77/harness/msg"
	"github.com/seed-720a3c77/harness/runner/record"
)

func newTestTally(t *testing.T) (*history.Recording, *tally) {
	t.Helper()
	plan, clk := planOf(t, "sqs", func(*Options) {}), clock.NewWall(1)
	t.Cleanup(clk.Close)
	recording := history.NewMemory(plan.Header())
	task, err := record.New(recording, clk, plan.Profile, plan.plain()).Task("run")
	if err != nil {
		t.Fatal(err)
	}
	tally := newTally(plan, clk, task)
	tally.of(everybody, task.Program("store", plan.Group, plan.Destination))
	return recording, tally
}

func TestTally(t *testing.T) {
	_, tally := newTestTally(t)
	if err := tally.Stands("00000abc-3", 2); err != nil {
		t.Fatal(err)
	}
	if err := tally.Happened(0, "00000abc-3"); err != nil {
		t.Fatal(err)
	}
	if err := tally.Stands("00000abc-3", 3); err != nil {
		t.Error(err)
	}
	if effects, messages := tally.seen(); effects != 3 || messages != 1 {
		t.Errorf("seen %d effects of %d messages, want 3 of 1", effects, messages)
	}
	for name, err := range map[string]error{
		"fewer than before": tally.Stands("00000abc-3", 1),
		"of another run":    tally.Stands("0000ffff-3", 1),
		"no id":             tally.Happened(0, "nonsense"),
	} {
		if !errors.Is(err, ErrGarbage) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if err := tally.Before("00000abc-3"); !errors.Is(err, ErrUsed) {
		t.Errorf("a used store: %v", err)
	}
	if err := tally.Before("0000ffff-3"); err != nil {
		t.Errorf("an effect of another run: %v", err)
	}
}

// TestEachEffectIsRecorded: a count that jumps is as many effects.
func TestEachEffectIsRecorded(t *testing.T) {
	recording, tally := newTestTally(t)
	if err := errors.Join(tally.Stands("00000abc-3", 2), tally.Stands("00000abc-3", 2), tally.Happened(1, "00000abc-4")); err != nil {
		t.Fatal(err)
	}
	if err := recording.Close(); err != nil {
		t.Fatal(err)
	}
	type effect struct {
		id msg.ID
		n  uint32
	}
	var got []effect
	err := recording.Run().Each(history.Only(history.EffectResult), func(e *history.Event) { got = append(got, effect{e.ID(), e.N}) })
	if err != nil {
		t.Fatal(err)
	}
	want := []effect{{msg.ID{Seq: 3}, 1}, {msg.ID{Seq: 3}, 2}, {msg.ID{Seq: 4}, 1}}
	if len(got) != len(want) || got[0] != want[0] || got[1] != want[1] || got[2] != want[2] {
		t.Errorf("recorded %v, want %v", got, want)
	}
}
