// SPDX-License-Identifier: Apache-2.0

package faults

import (
	"errors"
	"fmt"
	"time"

	"github.com/seed-720a3c77/harness/contract"
)

// GiveAgain gives a stored message once more while it is held, as a lease queue may by
// its contract: to another worker at its next receive, or later, or to the one named. Both
// deliveries carry the same receipt handle. On lease queues only: a log hands an offset out
// once until it is rewound, and a push queue never pushes what is unsettled. Confirmed
// when it is given to the second; it heals by no more being given.
func GiveAgain() Kind {
	k := requestKind("again", "gives a message to a second worker while the first one holds it; confirmed by the second delivery", func(decode func(any) error) (Rule, error) {
		var says struct {
			Selection `yaml:",inline"`
			Later     time.Duration `yaml:"later,omitempty"`
			Worker    string        `yaml:"worker,omitempty"`
		}
		says.Operation = Receive
		if err := decode(&says); err != nil {
			return Rule{}, err
		}
		rule, err := says.rule(Receive)
		rule.Action = Action{Again: &Again{After: says.Later, To: says.Worker}}
		return rule, errors.Join(err, notNegative(says.Later))
	})
	k.Unable = func(p Place) string {
		if p.Profile.Model == contract.LeaseQueue {
			return ""
		}
		return fmt.Sprintf("%s never hands out what is held; only a lease queue may", p.Profile.Name)
	}
	return k
}
