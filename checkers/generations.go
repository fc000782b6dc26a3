// SPDX-License-Identifier: Apache-2.0

package checkers

import (
	"cmp"
	"slices"

	"github.com/seed-720a3c77/harness/history"
)

// Kinds of a Generation.
const (
	// KindRebalance: the partitions of a log's group were assigned anew.
	KindRebalance = "rebalance"
	// KindExpiry: leases of a lease queue ran out together.
	KindExpiry = "expiry"
	// KindChannel: a channel or connection of a push queue ended.
	KindChannel = "channel"
)

// Generation is one change of ownership: what was delivered and not settled when it came
// is what may be delivered again because of it, once each, and no more.
type Generation struct {
	Subscription string `json:"subscription"`
	Kind         string `json:"kind"`
	// Number is the group's own number of a rebalance; else they are counted from 1.
	Number int64 `json:"number"`
	AtNs   int64 `json:"at_ns"`
	// Members are the group's; of an expiry or channel, the sessions that lost something.
	Members int64 `json:"members"`
	// Partitions were assigned in it, and Moved of those had another owner before.
	Partitions int64 `json:"partitions,omitempty"`
	Moved      int64 `json:"moved,omitempty"`
	// UncommittedMax is what was delivered and is not known to be settled for good: the
	// bound. UncommittedMin leaves out what an answer that never came may have settled.
	UncommittedMin int64 `json:"uncommitted_min_msgs"`
	UncommittedMax int64 `json:"uncommitted_max_msgs"`
	// Redelivered counts what came again to the new owner, Beyond what of it is not within
	// the bound, Late what came again to a former owner meanwhile.
	Redelivered int64 `json:"redelivered_msgs"`
	Beyond      int64 `json:"beyond_msgs,omitempty"`
	Late        int64 `json:"late_msgs,omitempty"`
	// GapNs is the longest time in which something had no owner that was given anything;
	// never (-1) where nothing came.
	GapNs int64 `json:"gap_ns"`
}

// maxGenerations is how many a result keeps; all are counted.
const maxGenerations = 1000

// epoch is a Generation in the making.
type epoch struct {
	Generation
	sub     int
	members map[uint32]bool
}

func (c *Case) newEpoch(sub *subscription, kind string, number, at int64) *epoch {
	return &epoch{sub: sub.index, members: map[uint32]bool{}, Generation: Generation{
		Subscription: sub.Name, Kind: kind, Number: number, AtNs: at, GapNs: never,
	}}
}

// again counts a delivery that came again because of the epoch.
func (e *epoch) again(c *Case, m *Moment, allowed bool, text string) {
	e.Redelivered++
	if allowed {
		return
	}
	e.Beyond++
	if x := c.facts.found(redeliveredBeyond, m); x != nil {
		x.Text = text
	}
}

// gap notes that something was without an owner since then.
func (e *epoch) gap(since, now int64) { e.GapNs = max(e.GapNs, now-since) }

// tellEpochs puts what a checker of generations has seen into the result.
func tellEpochs(f *Facts, all []*epoch) {
	if len(all) == 0 {
		return
	}
	slices.SortStableFunc(all, func(a, b *epoch) int { return cmp.Compare(a.AtNs, b.AtNs) })
	for _, e := range all {
		e.Members = int64(len(e.members))
		f.counts["generations"]++
		f.counts["generations.uncommitted"] += e.UncommittedMax
		f.counts["generations.redelivered"] += e.Redelivered
		f.counts["generations.late"] += e.Late
		if len(f.result.Generations) < maxGenerations {
			f.result.Generations = append(f.result.Generations, e.Generation)
		}
	}
}

// cameAgain tells whether a delivery is a stored message that came once more.
func (m *Moment) cameAgain() bool {
	return m.Kind == history.Delivery && m.known && m.extra && !m.copy && m.place.role == source && m.cause != injected
}
