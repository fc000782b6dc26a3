// SPDX-License-Identifier: Apache-2.0

package faults

import (
	"errors"
	"time"
)

// Delay makes requests late, or their answers. A late request keeps its caller waiting,
// so that order is kept; a late answer of a publish does not. The leases of a late answer
// have run meanwhile. At the port, on every engine, exact on virtual time. Confirmed by
// the first call that was hit; it heals by calls passing at once.
func Delay() Kind {
	return requestKind("delay", "makes requests or their answers late; confirmed by the first one", func(decode func(any) error) (Rule, error) {
		says := struct {
			Selection `yaml:",inline"`
			Late      time.Duration `yaml:"late"`
			Side      string        `yaml:"side,omitempty"`
		}{Side: requestSide}
		if err := decode(&says); err != nil {
			return Rule{}, err
		}
		rule, err := says.rule(Operations()...)
		if err == nil && says.Late <= 0 {
			err = errors.New("delay wants late: how long")
		}
		switch says.Side {
		case requestSide:
			rule.Action = Action{Request: says.Late}
			return rule, errors.Join(err, askedFirst(&rule))
		case answerSide:
			rule.Action = Action{Answer: says.Late}
			return rule, err
		}
		return rule, errors.Join(err, badSide(says.Side))
	})
}
