// SPDX-License-Identifier: Apache-2.0

package inmem

import (
	"fmt"
	"strconv"
	"time"

	"github.com/seed-720a3c77/harness/contract"
	"github.com/seed-720a3c77/harness/contract/profiles"
)

// rules is a profile with its knobs as typed values.
type rules struct {
	contract.Profile
	maxBody int

	// Log.
	heartbeat, rebalance, claimStart, transaction time.Duration
	strategy                                      string
	zombies, clientBuffer                         int
	commitBackward, revokesAtOnce, sharedBuffer   bool

	// Lease queue.
	staleExtend, staleAfterExpiry contract.Stale
	swallows, splitsGroup         bool
	maxInFlight                   int

	// Push queue.
	requeueWithLimit contract.Place
	carriesCount     bool
	prefetchCap      int
}

// knobs reads the knobs of a profile and keeps the first error.
type knobs struct {
	of  contract.Profile
	err error
}

func readRules(p contract.Profile) (rules, error) {
	k := knobs{of: p}
	r := rules{
		Profile:          p,
		maxBody:          k.number(profiles.MaxBody, 1<<20),
		heartbeat:        k.duration(profiles.Heartbeat, p.Session.Floor/3),
		rebalance:        k.duration(profiles.RebalanceTimeout, time.Minute),
		claimStart:       k.duration(profiles.ClaimStart, 0),
		transaction:      k.duration(profiles.TransactionTimeout, time.Minute),
		strategy:         k.word(profiles.Strategy, "range"),
		zombies:          k.number(profiles.BufferedAfterLoss, 0),
		clientBuffer:     k.number(profiles.ClientBuffer, 256),
		commitBackward:   k.yes(profiles.CommitBackward),
		revokesAtOnce:    k.yes(profiles.RevokesAtOnce),
		sharedBuffer:     k.yes(profiles.SharedBuffer),
		staleExtend:      contract.Stale(k.word(profiles.StaleExtend, string(p.Stale))),
		staleAfterExpiry: contract.Stale(k.word(profiles.StaleAfterExpiry, string(contract.StaleApplies))),
		swallows:         k.yes(profiles.CancelledPollSwallows),
		splitsGroup:      k.yes(profiles.ExtendSplitsGroup),
		maxInFlight:      k.number(profiles.MaxInFlight, 0),
		requeueWithLimit: contract.Place(k.word(profiles.RequeueWithLimit, string(p.Requeue))),
		carriesCount:     k.yes(profiles.DeadLetterCountCarried),
		prefetchCap:      k.number(profiles.PrefetchCap, 0),
	}
	return r, k.err
}

func (k *knobs) word(name, missing string) string {
	if text, ok := k.of.Knobs[name]; ok {
		return text
	}
	return missing
}

func (k *knobs) yes(name string) bool {
	text := k.word(name, "false")
	if text != "true" && text != "false" {
		k.fail(name, text, "true or false")
	}
	return text == "true"
}

func (k *knobs) number(name string, missing int) int {
	text, ok := k.of.Knobs[name]
	if !ok {
		return missing
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < 0 {
		k.fail(name, text, "a number")
	}
	return n
}

func (k *knobs) duration(name string, missing time.Duration) time.Duration {
	text, ok := k.of.Knobs[name]
	if !ok {
		return missing
	}
	d, err := time.ParseDuration(text)
	if err != nil || d < 0 {
		k.fail(name, text, "a duration such as 2s")
	}
	return d
}

func (k *knobs) fail(name, text, want string) {
	if k.err == nil {
		k.err = fmt.Errorf("profile %s: knob %s is %q, want %s", k.of.Name, name, text, want)
	}
}
