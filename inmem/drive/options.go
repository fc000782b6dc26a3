// SPDX-License-Identifier: Apache-2.0

package drive

import (
	"math/rand/v2"
	"time"

	"github.com/seed-720a3c77/harness/inmem"
	"github.com/seed-720a3c77/harness/msg"
)

// Options of an engine. The zero value is an honest broker without latency.
type Options struct {
	// Publish, Receive and Settle are the time that each way takes, request and answer.
	// Publishes of a log or push queue keep their order on the way, as on one connection;
	// those of a lease queue may overtake, as requests of their own do.
	Publish, Receive, Settle Latency
	// Oracle is told what the engine really does; no checker may read it.
	Oracle func(inmem.OracleEvent)
	// Bugs are planted; see inmem.Bugs.
	Bugs []inmem.Bug
	// Sweep is an instant at which the broker looked at its leases; see inmem.Options.
	Sweep time.Duration
	// Written has the settlements of a push queue travel by themselves, and what it pushes: a
	// client only writes, and knows what has arrived. Else it waits for Settle and Receive, and
	// then sees the broker as it is.
	Written bool
	// Release, Rebalance, Answer, Claim and Added are what takes time in the groups of a log; see
	// inmem.Pace. Beat is how long a heartbeat is under way, there and back: it waits behind what
	// else its connection is asked.
	Release, Rebalance, Answer, Claim, Added, Beat Latency
	// Ways, if set, is the time that each way of an attempt to publish takes, in place of
	// Publish. It must not call the engine.
	Ways func(Attempt) Latency
	// Wire, if set, decides what happens to each attempt of a publish on its way. It must
	// not call the engine.
	Wire func(Attempt) Fate
}

// Latency is a time between Base and Base+Jitter, evenly distributed, or, if Quantiles are
// given, distributed as they say: in order, equally far apart, the first the least and the
// last the most.
type Latency struct {
	Base, Jitter time.Duration
	Quantiles    []time.Duration
}

func (l Latency) zero() bool { return l.Base == 0 && l.Jitter == 0 && len(l.Quantiles) == 0 }

// least is what no draw is below.
func (l Latency) least() time.Duration {
	if len(l.Quantiles) > 0 {
		return l.Quantiles[0]
	}
	return l.Base
}

// middle is what half of the draws are below.
func (l Latency) middle() time.Duration {
	if n := len(l.Quantiles); n > 0 {
		return l.Quantiles[n/2]
	}
	return l.Base + l.Jitter/2
}

func (l Latency) draw(from *rand.Rand) time.Duration {
	if last := len(l.Quantiles) - 1; last > 0 {
		i := from.IntN(last)
		return l.Quantiles[i] + time.Duration(from.Float64()*float64(l.Quantiles[i+1]-l.Quantiles[i]))
	}
	if l.Jitter <= 0 {
		return l.Base
	}
	return l.Base + time.Duration(from.Int64N(int64(l.Jitter)+1))
}

// Attempt is one request of a publish, as it is about to leave the client.
type Attempt struct {
	Producer string
	ID       msg.ID
	// Number counts the attempts of the client by itself, from 1.
	Number int
}

// Fate is what happens to an attempt.
type Fate uint8

const (
	// Arrives is the zero value: request and answer arrive.
	Arrives Fate = iota
	// RequestLost: the broker never sees it.
	RequestLost
	// AnswerLost: the broker applies it, the client hears nothing.
	AnswerLost
)
