// SPDX-License-Identifier: Apache-2.0

package checkers

import (
	"slices"
	"testing"
)

// TestHoldsThatAreStuckCostLittle: one of 500 is never finished, and its chunk is let go.
func TestHoldsThatAreStuckCostLittle(t *testing.T) {
	var s holds
	m := new(memory)
	var stuck []uint32
	for op := uint32(1); op <= 100_000; op++ {
		s.open(op, m).seq = uint64(op)
		if op%500 == 7 {
			stuck = append(stuck, op)
			continue
		}
		s.close(op, m)
	}
	if n := len(s.chunks); n > 3*oldChunk {
		t.Errorf("%d chunks are kept", n)
	}
	var open []uint32
	s.each(func(op uint32, h *hold) {
		if !h.is(closed) {
			open = append(open, op)
		}
		if s.at(op) != h || h.seq != uint64(op) {
			t.Errorf("hold %d is %+v", op, h)
		}
	})
	if !slices.Equal(open, stuck) {
		t.Errorf("%d are open, want %d", len(open), len(stuck))
	}
	for _, op := range stuck {
		s.close(op, m)
	}
	if len(s.strays) != 0 || s.at(7) != nil {
		t.Errorf("%d strays are left", len(s.strays))
	}
}

// TestHoldsOfLargeBatches: thousands are open at once, finished one by one, and the next
// thousands come; every hold keeps its own message.
func TestHoldsOfLargeBatches(t *testing.T) {
	for _, batch := range []uint32{1, 10, 63, 64, 65, 100, 1000, 2000, 5000} {
		var s holds
		m := new(memory)
		for first := uint32(1); first < 50_000; first += batch {
			for op := first; op < first+batch; op++ {
				s.open(op, m).seq = uint64(op)
			}
			for op := first; op < first+batch; op++ {
				if h := s.at(op); h == nil || h.seq != uint64(op) {
					t.Fatalf("batches of %d: hold %d is %+v", batch, op, h)
				}
				s.close(op, m)
			}
		}
	}
}
