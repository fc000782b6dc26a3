// SPDX-License-Identifier: Apache-2.0

package explore

import (
	"time"

	"github.com/seed-720a3c77/harness/history"
)

// rebalances measures what a rebalance takes besides the wait for its members, which the
// model has itself. release is from a member's first revocation until it has put its session
// away and joins; rebalance is from the last such end in a group until each next session.
type rebalances struct {
	// revoked is when each session first gave something back, by its name and generation.
	revoked map[sessionOf]int64
	// ended is when a session of each group last ended.
	ended              map[string]int64
	release, rebalance []time.Duration
}

type sessionOf struct {
	session uint32
	gen     int32
}

func newRebalances() rebalances {
	return rebalances{revoked: map[sessionOf]int64{}, ended: map[string]int64{}}
}

// observe takes the events of a run in their order.
func (r *rebalances) observe(group string, e *history.Event) {
	of := sessionOf{e.Session, int32(e.Gen)}
	switch e.Kind {
	case history.Revoke:
		if _, some := r.revoked[of]; !some {
			r.revoked[of] = e.T
		}
	case history.SessionClose:
		if at, some := r.revoked[of]; some {
			r.release = append(r.release, time.Duration(e.T-at))
			r.ended[group] = e.T
		}
	case history.SessionOpen:
		if at, some := r.ended[group]; some && e.Gen > 0 {
			r.rebalance = append(r.rebalance, time.Duration(e.T-at))
		}
	}
}
