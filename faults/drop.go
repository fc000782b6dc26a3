// SPDX-License-Identifier: Apache-2.0

package faults

import (
	"errors"
	"time"
)

// Drop loses requests on their way: the broker never sees them, and the caller hears
// nothing until its timeout. A receive comes back empty after its wait; a settlement that
// is never answered anyway (basic.ack) is simply gone. At the port, on every engine,
// exact on virtual time. Confirmed by the first request that was lost; it heals by
// requests passing again.
func Drop() Kind {
	return requestKind("drop", "loses requests on their way to the broker; confirmed by the first one lost", func(decode func(any) error) (Rule, error) {
		return silence(decode, true)
	})
}

func silence(decode func(any) error, lost bool) (Rule, error) {
	var says struct {
		Selection `yaml:",inline"`
		// Timeout is how long the caller waits; 0 is its own, or a second.
		Timeout time.Duration `yaml:"timeout,omitempty"`
	}
	if err := decode(&says); err != nil {
		return Rule{}, err
	}
	rule, err := says.rule(Operations()...)
	if err == nil && lost {
		err = askedFirst(&rule)
	}
	rule.Action = Action{Lost: lost, Silent: true, Timeout: says.Timeout}
	return rule, errors.Join(err, notNegative(says.Timeout))
}
