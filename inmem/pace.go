// SPDX-License-Identifier: Apache-2.0

package inmem

import "time"

// Pace is what takes time in a log's group and its clients, besides the waits that the machine
// has itself: each draws a time. The zero value takes none. None may call the machine.
type Pace struct {
	// Release is how long a client takes from the revocation of its partitions until its next
	// join, or its leave, is with the coordinator; its commits count until then.
	Release func() time.Duration
	// Rebalance is how long it takes, from when every member has joined, until the first of them
	// has its session, and Answer how much later each has its own.
	Rebalance, Answer func() time.Duration
	// Claim is how long a session takes from its beginning to each of its claims, Added how long
	// one that reads already takes to another.
	Claim, Added func() time.Duration
}

func drawn(from func() time.Duration) time.Duration {
	if from == nil {
		return 0
	}
	return from()
}
