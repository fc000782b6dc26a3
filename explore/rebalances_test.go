// SPDX-License-Identifier: Apache-2.0

package explore

import (
	"fmt"
	"testing"

	"github.com/seed-720a3c77/harness/history"
)

// TestRebalancesAreMeasured: from the first revocation of each member to the end of its
// session, and from the last such end to each next session. A polite leave ends one too; the
// first session of a group follows none.
func TestRebalancesAreMeasured(t *testing.T) {
	r := newRebalances()
	for _, e := range []history.Event{
		{T: 1, Kind: history.SessionOpen, Session: 1, Gen: 1},
		{T: 10, Kind: history.Revoke, Session: 1, Gen: 1},
		{T: 12, Kind: history.Revoke, Session: 1, Gen: 1},
		{T: 14, Kind: history.Revoke, Session: 2, Gen: 1},
		{T: 15, Kind: history.SessionClose, Session: 1, Gen: 1},
		{T: 20, Kind: history.SessionClose, Session: 2, Gen: 1},
		{T: 21, Kind: history.SessionOpen, Session: 3}, // has no generation yet
		{T: 25, Kind: history.SessionOpen, Session: 2, Gen: 2},
		{T: 27, Kind: history.SessionOpen, Session: 1, Gen: 2},
		{T: 40, Kind: history.SessionClose, Session: 1, Gen: 2}, // died: nothing was revoked
	} {
		r.observe("billing", &e)
	}
	if got := fmt.Sprint(r.release, r.rebalance); got != "[5ns 6ns] [5ns 7ns]" {
		t.Errorf("release and rebalance %s", got)
	}
}
