// SPDX-License-Identifier: Apache-2.0

package blackbox

import (
	"slices"
	"testing"
	"time"

	"github.com/seed-720a3c77/harness/broker"
)

// shelved are records on partition 0, at offsets from 0, stored at 0 but for the last,
// which came just before now; a sequence that comes again is a copy.
func shelved(seqs ...uint64) *shelf {
	s := &shelf{}
	for i, seq := range seqs {
		one := stored{seq: seq, copied: slices.Contains(seqs[:i], seq), offset: int64(i)}
		if i == len(seqs)-1 {
			one.at = now
		}
		s.add(one)
	}
	return s
}

const now = time.Second

func these(all ...uint64) func(uint64) bool {
	return func(seq uint64) bool { return slices.Contains(all, seq) }
}

func TestHandOnALog(t *testing.T) {
	for _, test := range []struct {
		name      string
		seqs      []uint64
		committed int64
		done      []uint64
		want      hand
	}{
		{"nothing was taken", []uint64{0, 1, 2}, 0, nil, hand{true, 0, 2}},
		{"settled before work", []uint64{0, 1, 2}, 2, []uint64{0}, hand{true, 1, 0}},
		{"done before it is settled", []uint64{0, 1, 2}, 0, []uint64{0, 1}, hand{true, 2, 0}},
		{"all done and settled", []uint64{0, 1, 2}, 3, []uint64{0, 1, 2}, hand{true, 0, 0}},
		{"one came just now", []uint64{0, 1}, 1, []uint64{0}, hand{true, 0, 0}},
		{"a copy that nobody has read", []uint64{0, 0, 1}, 1, []uint64{0}, hand{true, 0, 1}},
		{"a copy that was dropped", []uint64{0, 0, 1}, 2, []uint64{0}, hand{true, 0, 0}},
	} {
		s := shelved(test.seqs...)
		for range 2 { // what was let go of is not missed
			if got := s.onLog(map[int32]int64{0: test.committed}, these(test.done...), now); got != test.want {
				t.Errorf("%s: %+v, want %+v", test.name, got, test.want)
			}
		}
	}
}

func TestHandWithoutPositions(t *testing.T) {
	if got := shelved(0).onLog(nil, these(), now); got.measured {
		t.Errorf("%+v from no positions", got)
	}
	s := &shelf{}
	s.add(stored{offset: -1})
	if got := s.onLog(map[int32]int64{0: 5}, these(), now); got != (hand{measured: true}) {
		t.Errorf("%+v of a record whose offset nobody knows", got)
	}
}

func TestHandOnAQueue(t *testing.T) {
	for _, test := range []struct {
		name            string
		ready, inFlight int64
		fresh           bool
		done            []uint64
		want            hand
	}{
		{"all wait", 4, 0, true, nil, hand{true, 0, 3}},
		{"two are in flight", 2, 2, true, nil, hand{true, 2, 1}},
		{"done, and not deleted", 3, 1, true, []uint64{0}, hand{true, 1, 2}},
		{"an old figure says nothing", 2, 4, false, nil, hand{true, 2, 1}},
		{"no figure: what is not ready is in hand", 1, broker.Unmeasured, false, []uint64{0}, hand{true, 2, 0}},
		{"a copy of what is done is ready", 1, broker.Unmeasured, false, []uint64{0, 1, 2, 3}, hand{true, 0, 1}},
		{"nobody counts", broker.Unmeasured, broker.Unmeasured, false, nil, hand{false, 4, 0}},
	} {
		got := shelved(0, 1, 2, 3).onQueue(&broker.Depth{Ready: test.ready, InFlight: test.inFlight, Delayed: broker.Unmeasured}, test.fresh, these(test.done...), now)
		if got != test.want {
			t.Errorf("%s: %+v, want %+v", test.name, got, test.want)
		}
	}
}

// TestTheDeadHoldNothing: what a worker had when it died is in nobody's hand.
func TestTheDeadHoldNothing(t *testing.T) {
	log, positions := shelved(0, 1, 2, 3), map[int32]int64{0: 0}
	log.onLog(positions, these(0, 1), now)
	log.orphan(now)
	if got := log.onLog(positions, these(0, 1, 2), now); got.held != 1 {
		t.Errorf("log: %+v, want the third in hand", got)
	}
	queue, flight := shelved(0, 1, 2, 3), broker.Depth{Ready: 1, InFlight: 3}
	queue.onQueue(&flight, true, these(0), now) // 0 is not deleted, 1 and 2 not done
	queue.orphan(2 * now)
	if got := queue.onQueue(&flight, true, these(0), now); got.held != 0 {
		t.Errorf("queue: %+v, want nothing in hand", got)
	}
	if got := queue.onQueue(&broker.Depth{Ready: 0, InFlight: 4}, true, these(0), now); got.held != 1 {
		t.Errorf("queue: %+v, want the last in hand", got)
	}
	if got := queue.onQueue(&flight, true, these(0), 2*now); got.held != 3 {
		t.Errorf("queue, when the leases are over: %+v, want all in flight", got)
	}
}

func TestWhenAFaultIsWorthIt(t *testing.T) {
	for _, test := range []struct {
		hand  hand
		trial int
		last  bool
		want  bool
	}{
		{hand{true, 1, 0}, 0, false, true},
		{hand{true, 0, 9}, 0, false, false},
		{hand{true, 0, 9}, enoughTrials, false, true},
		{hand{true, 0, 9}, 0, true, true},
		{hand{true, 0, 0}, enoughTrials, true, false},
		{hand{}, 0, false, false},
		{hand{}, enoughTrials, false, true},
	} {
		if got := test.hand.worth(test.trial, test.last); got != test.want {
			t.Errorf("%+v at trial %d, last %v: %v", test.hand, test.trial, test.last, got)
		}
	}
}
