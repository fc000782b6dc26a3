// SPDX-License-Identifier: Apache-2.0

package explore

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/seed-720a3c77/harness/contract"
	"github.com/seed-720a3c77/harness/contract/profiles"
	"github.com/seed-720a3c77/harness/faults"
	"github.com/seed-720a3c77/harness/history"
	"github.com/seed-720a3c77/harness/workloads"
)

// blind claims what it cannot keep: an effect that is not idempotent, settled after it.
const blind = `name: blind
about: Claims at most one effect and settles after the work.
topology: {orders: {partitions: 1}}
produce: [{to: orders, count: 200, rate: 1000/s, keys: 4}]
consume: [{from: orders, group: billing, workers: 2, batch: 20, settle: {when: after-batch}, handler: {takes: 4ms}}]
timeline:
  - {at: {worker: billing, point: mid-batch, n: 10}, do: kill, target: billing}
  - {after: 1s, do: start, target: billing}
claims: at-most-once
`

// try runs one seed.
func try(t *testing.T, s *Space, seed uint64) Trial {
	t.Helper()
	l, err := s.lab()
	if err != nil {
		t.Fatal(err)
	}
	trial, err := l.try(seed)
	if err != nil {
		t.Fatal(err)
	}
	return trial
}

func space(t *testing.T, source string) Space {
	t.Helper()
	doc, err := workloads.Parse("test.yaml", []byte(source))
	if err != nil {
		t.Fatal(err)
	}
	profile, err := profiles.Named("kafka")
	if err != nil {
		t.Fatal(err)
	}
	return Space{Document: doc, Profile: profile, Faults: []faults.Kind{faults.Kill(), faults.Start()}}
}

func TestSummaryDoesNotDependOnTheOrder(t *testing.T) {
	s := space(t, blind)
	one, err := Run(context.Background(), Request{Space: s, First: 1, Seeds: 20, Workers: 1})
	if err != nil {
		t.Fatal(err)
	}
	four, err := Run(context.Background(), Request{Space: s, First: 1, Seeds: 20, Workers: 4})
	if err != nil {
		t.Fatal(err)
	}
	if one.Counts["effect-duplicates"] != four.Counts["effect-duplicates"] || len(one.Broken) != 20 || len(four.Broken) != 20 {
		t.Errorf("one worker %+v (%d broken), four workers %+v (%d broken)", one.Counts["effect-duplicates"], len(one.Broken), four.Counts["effect-duplicates"], len(four.Broken))
	}
	if len(one.Hit) < 5 {
		t.Errorf("20 seeds hit only %d crash points: %v", len(one.Hit), one.Hit)
	}
}

func TestExplorationIsResumed(t *testing.T) {
	s := space(t, blind)
	done := map[uint64]Trial{}
	keep := func(t Trial) error { done[t.Seed] = t; return nil }
	if _, err := Run(context.Background(), Request{Space: s, First: 1, Seeds: 5, Each: keep}); err != nil {
		t.Fatal(err)
	}
	ran := 0
	summary, err := Run(context.Background(), Request{Space: s, First: 1, Seeds: 8, Done: done, Each: func(Trial) error { ran++; return nil }})
	if err != nil || ran != 3 || summary.Seeds != 8 {
		t.Errorf("ran %d more, summary of %d, %v; want 3 and 8", ran, summary.Seeds, err)
	}
}

// TestALargeDrawingShowsWhatIsUnusual: of 2,000 messages the one that was lost and the one
// that was done twice are drawn, and what happened around them.
func TestALargeDrawingShowsWhatIsUnusual(t *testing.T) {
	r := history.NewMemory(history.Header{})
	s, err := r.Segment("all")
	if err != nil {
		t.Fatal(err)
	}
	session := r.Intern(history.Sessions, "billing/0-1-1|billing|orders|1")
	at := int64(0)
	tell := func(kind history.Kind, seq uint64) {
		at++
		s.Append(&history.Event{T: at, Kind: kind, Seq: seq, Session: session, Op: uint32(seq + 1), Class: contract.OK})
	}
	for seq := range uint64(2000) {
		tell(history.PublishStart, seq)
		times := 1
		switch seq {
		case 500:
			times = 0
		case 700:
			times = 2
		}
		for range times {
			tell(history.Delivery, seq)
			tell(history.EffectResult, seq)
		}
	}
	tell(history.FaultActive, 0)
	if err := r.Close(); err != nil {
		t.Fatal(err)
	}
	d, err := Draw(r.Run())
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, m := range d.Marks {
		got = append(got, m.Text)
	}
	want := []string{"p0/500 sent", "p0/700 sent", "p0/700 delivered", "p0/700 effect 0", "p0/700 delivered", "p0/700 effect 0", "!! "}
	if !slices.Equal(got, want) || d.Left != 1998*3 {
		t.Errorf("drawn %q and %d more", got, d.Left)
	}
}

func TestStopOnViolation(t *testing.T) {
	summary, err := Run(context.Background(), Request{Space: space(t, blind), First: 1, Seeds: 1000, Workers: 1, StopOnViolation: true})
	if err != nil || summary.Seeds != 1 {
		t.Errorf("tried %d seeds, %v; want 1", summary.Seeds, err)
	}
}

func TestFailingHearerEndsTheExploration(t *testing.T) {
	full := errors.New("disk full")
	_, err := Run(context.Background(), Request{Space: space(t, blind), First: 1, Seeds: 100, Each: func(Trial) error { return full }})
	if !errors.Is(err, full) {
		t.Errorf("error %v, want the hearer's", err)
	}
}

// TestShrinkFindsTheSmallest: one message too many is two: one done before the kill and
// another that makes it mid-batch. The file replays it.
func TestShrinkFindsTheSmallest(t *testing.T) {
	s := space(t, blind)
	shrunk, err := s.Shrink(3)
	if err != nil {
		t.Fatal(err)
	}
	spec := shrunk.Spec
	if n := spec.Produce[0].Count; n > 4 {
		t.Errorf("%d messages are left, want at most 4", n)
	}
	if len(spec.Timeline) > 2 || spec.Consume[0].Workers > 2 {
		t.Errorf("%d steps and %d workers are left", len(spec.Timeline), spec.Consume[0].Workers)
	}
	text, err := workloads.Encode(spec, "found by seed 3")
	if err != nil {
		t.Fatal(err)
	}
	again := space(t, string(text))
	again.FixedFaults = true
	if trial := try(t, &again, spec.Seed); !slices.Contains(trial.Broken, "at-most-once") {
		t.Errorf("the file does not replay it: %+v\n%s", trial.Broken, text)
	}
}

func TestShrinkRefusesWhatHolds(t *testing.T) {
	s := space(t, strings.Replace(blind, "claims: at-most-once", "claims: at-least-once", 1))
	if _, err := s.Shrink(3); !errors.Is(err, ErrHolds) {
		t.Errorf("error %v, want ErrHolds", err)
	}
}
