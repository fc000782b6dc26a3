// SPDX-License-Identifier: Apache-2.0

package consumertest

import (
	"time"

	"github.com/seed-720a3c77/harness/contract"
	"github.com/seed-720a3c77/harness/contract/profiles"
)

// pace are the times of a scenario that no broker prescribes.
type pace struct {
	real bool
	// slack is added where something has to be over for certain.
	slack time.Duration
	// gap lies between two publishes, restart between a crash and the next process.
	gap, restart time.Duration
	// retry is the first pause before another attempt; it doubles up to mostRetry.
	retry, mostRetry time.Duration
	// attempts is how often the handler may fail with an event before that is given up, if
	// nothing holds it for long.
	attempts int
	// poll is how long a receive waits, quickPoll where copies may come in between.
	poll, quickPoll time.Duration
	// work outlasts what a handler does in one operation, long a claim of minutes.
	work, long time.Duration
	// down are times in which nothing runs.
	down []time.Duration
	// afterwards is for what a handler left to a goroutine, linger for such goroutines to end.
	afterwards, linger time.Duration
	// patience bounds a scenario beyond what its acts take.
	patience time.Duration
}

// virtualPace costs nothing: it is that of real consumers.
func virtualPace() pace {
	return pace{
		slack: time.Second, gap: 100 * time.Millisecond, restart: time.Second,
		retry: time.Second, mostRetry: 10 * time.Minute, attempts: 14,
		poll: 10 * time.Minute, quickPoll: time.Second,
		work: 15 * time.Second, long: 20 * time.Minute,
		down:       []time.Duration{time.Hour, 25 * time.Hour, 80 * time.Hour},
		afterwards: 10 * time.Second, linger: time.Minute,
		patience: 12 * time.Hour,
	}
}

// realPace is as short as a handler with a network behind it may bear.
func realPace() pace {
	return pace{
		real:  true,
		slack: 100 * time.Millisecond, gap: 10 * time.Millisecond, restart: 50 * time.Millisecond,
		retry: 20 * time.Millisecond, mostRetry: time.Second, attempts: 10,
		poll: 100 * time.Millisecond, quickPoll: 20 * time.Millisecond,
		work: 300 * time.Millisecond, long: 2 * time.Second,
		down:       []time.Duration{time.Second},
		afterwards: 200 * time.Millisecond, linger: 0,
		patience: 20 * time.Second,
	}
}

// Leases and sessions in real time.
const (
	realLease   = 500 * time.Millisecond
	realSession = 400 * time.Millisecond
)

// shorten makes the times of a profile short enough to wait for them. Their order stays.
func shorten(p contract.Profile) contract.Profile {
	p.Lease.Default, p.Lease.Floor, p.Lease.Step, p.Lease.Tick = realLease, time.Millisecond, time.Millisecond, 0
	p.Session.Default, p.Session.Floor, p.Session.Step = realSession, time.Millisecond, time.Millisecond
	p.TakeOver = min(p.TakeOver, 200*time.Millisecond)
	p.DedupWindow = min(p.DedupWindow, realLease)
	if p.Model == contract.Log {
		p.Knobs[profiles.ClaimStart] = "10ms"
		p.Knobs[profiles.RebalanceTimeout] = "2s"
	}
	return p
}

// RealTime runs the schedules on the wall clock, with leases and sessions of half a second:
// for a handler that needs a network or a process. There are fewer seeds then, and one does
// not always give the same schedule; waits of hours are not tested at all.
func RealTime() Option {
	return func(c *config) { c.pace = realPace() }
}
