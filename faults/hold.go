// SPDX-License-Identifier: Apache-2.0

package faults

import (
	"errors"

	"github.com/seed-720a3c77/harness/internal/suggest"
)

// The sides of a call that can be late.
const (
	requestSide = "request"
	answerSide  = "answer"
)

func badSide(word string) error {
	return errors.New(suggest.Unknown("side", word, []string{requestSide, answerSide}))
}

// Hold keeps requests, or their answers, until it heals: by its time, or by a step. No
// call is lost. At the port, on every engine, exact on virtual time. Confirmed by the
// first call that was held; it heals by letting all of them go.
func Hold() Kind {
	k := requestKind("hold", "keeps requests or their answers until it heals; confirmed by the first one", func(decode func(any) error) (Rule, error) {
		says := struct {
			Selection `yaml:",inline"`
			Side      string `yaml:"side,omitempty"`
		}{Side: requestSide}
		if err := decode(&says); err != nil {
			return Rule{}, err
		}
		rule, err := says.rule(Operations()...)
		switch says.Side {
		case requestSide:
			rule.Action = Action{HoldRequest: true}
			return rule, errors.Join(err, askedFirst(&rule))
		case answerSide:
			rule.Action = Action{HoldAnswer: true}
			return rule, err
		}
		return rule, errors.Join(err, badSide(says.Side))
	})
	k.NeedsEnd = true
	return k
}
