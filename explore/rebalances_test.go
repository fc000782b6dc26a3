// SPDX-License-Identifier: Apache-2.0

package explore

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/seed-720a3c77/harness/history"
)

// TestRebalancesAreMeasured: from the first revocation of each member to the end of its session,
// from the last such end to the first next session and on to each other, and from each of these
// to its partitions. The first sessions of a group follow none.
func TestRebalancesAreMeasured(t *testing.T) {
	open := func(at int64, session, gen uint32) history.Event {
		return history.Event{T: at, Kind: history.SessionOpen, Session: session, Gen: gen}
	}
	shut := func(at int64, session, gen uint32) history.Event {
		return history.Event{T: at, Kind: history.SessionClose, Session: session, Gen: gen}
	}
	revoke := func(at int64, session, gen uint32) history.Event {
		return history.Event{T: at, Kind: history.Revoke, Session: session, Gen: gen}
	}
	assign := func(at int64, session, gen uint32) history.Event {
		return history.Event{T: at, Kind: history.Assign, Session: session, Gen: gen}
	}
	begun := []history.Event{open(1, 1, 1), open(2, 2, 1)}
	for name, c := range map[string]struct {
		events []history.Event
		want   string
	}{
		"nobody came again yet": {nil, "[] [] [] []"},
		"one joined": {[]history.Event{
			revoke(10, 1, 1), revoke(12, 1, 1), revoke(14, 2, 1), shut(15, 1, 1), shut(20, 2, 1),
			open(21, 3, 0), // has no generation yet
			open(25, 2, 2), open(27, 1, 2), open(26, 3, 2), assign(28, 3, 2), assign(33, 1, 2),
		}, "[5ns 6ns] [5ns] [0s 1ns 2ns] [2ns 6ns]"},
		"one that is gone was waited for until its session ended": {[]history.Event{
			revoke(10, 1, 1), shut(15, 1, 1), open(900, 1, 2), assign(903, 1, 2),
		}, "[5ns] [] [] [3ns]"},
		"one died: nothing was revoked": {[]history.Event{shut(40, 1, 1), open(50, 2, 2)}, "[] [] [] []"},
		"a cooperative session goes on": {[]history.Event{open(30, 3, 2), revoke(31, 1, 2), assign(60, 3, 3)}, "[] [] [] []"},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRebalances()
			for _, e := range slices.Concat(begun, c.events) {
				r.observe("billing", &e)
			}
			r.done()
			slices.Sort(r.answer)
			if got := fmt.Sprint(r.release, r.rebalance, r.answer, r.claim); got != c.want {
				t.Errorf("release, rebalance, answer and claim %s, want %s", got, c.want)
			}
		})
	}
}

// TestTogether: what follows each other adds up, and too few samples tell nothing.
func TestTogether(t *testing.T) {
	samples := []time.Duration{3, 1, 2, 4}
	if got := fmt.Sprint(togetherOf(samples, 3), togetherOf(samples, 5)); got != "[6ns 7ns] []" {
		t.Error(got)
	}
}
