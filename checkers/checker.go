// SPDX-License-Identifier: Apache-2.0

package checkers

import "github.com/seed-720a3c77/harness/history"

// Checker counts one family of facts. It is one fold over the merged history: Begin once,
// Observe for each event of its kinds in order, Finish once. Observe must not allocate
// for an event without a finding, and sees the case as it was before the event.
type Checker interface {
	// Begin gives it the case of a run. The checker keeps it.
	Begin(*Case)
	// Kinds are the events of this run that it wants to see.
	Kinds() history.KindSet
	Observe(*Moment)
	// Finish adds to the facts what can only be known at the end.
	Finish(*Facts)
}

// All is the one list of checkers, in the order in which they finish.
func All() []Checker {
	return []Checker{
		&outcomes{},
		&ledger{},
		&duplicates{},
		&effects{},
		&stores{},
		&order{},
		&groups{},
		&deadLetters{},
		&commits{},
		&ownership{},
		&rebalances{},
		&expiries{},
		&channelEnds{},
		&exclusive{},
		&expired{},
		&flagChecks{},
		&leases{},
		&backlog{},
		&lag{},
		&latencies{},
		&timeline{},
		&detections{},
		&faultReport{},
		&phases{},
		&shares{},
		&trust{},
	}
}
