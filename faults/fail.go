// SPDX-License-Identifier: Apache-2.0

package faults

import (
	"errors"

	"github.com/seed-720a3c77/harness/broker"
	"github.com/seed-720a3c77/harness/contract"
	"github.com/seed-720a3c77/harness/internal/suggest"
)

// Fail answers requests itself, without sending them: rejected as a broker that says no,
// or unknown as a client that gave up. On a receive it ends the session. At the port, on
// every engine, exact on virtual time. Confirmed by the first request that failed; it
// heals by requests passing again.
func Fail() Kind {
	return requestKind("fail", "answers requests with a failure, without sending them; confirmed by the first one", func(decode func(any) error) (Rule, error) {
		says := struct {
			Selection `yaml:",inline"`
			Class     string `yaml:"class,omitempty"`
			Answer    string `yaml:"answer,omitempty"`
			Code      string `yaml:"code,omitempty"`
		}{Class: "rejected", Answer: "refused"}
		if err := decode(&says); err != nil {
			return Rule{}, err
		}
		rule, err := says.rule(Operations()...)
		if err != nil {
			return rule, err
		}
		told, err := refusal(says.Operation, says.Answer, says.Class, says.Code)
		rule.Action = Action{Lost: true, Told: told}
		return rule, errors.Join(err, askedFirst(&rule))
	})
}

// refusal is the answer that a step describes. An answer of success would be a lie.
func refusal(op, answer, class, code string) (*broker.Error, error) {
	told := &broker.Error{Op: op, Code: code, Err: errInjected}
	answers := []contract.Answer{contract.Nacked, contract.Returned, contract.Refused, contract.Timeout, contract.Closed}
	classes := []contract.Class{contract.Rejected, contract.Unknown}
	var words []string
	for _, a := range answers {
		if words = append(words, a.String()); a.String() == answer {
			told.Answer = a
		}
	}
	for _, c := range classes {
		if c.String() == class {
			told.Class = c
		}
	}
	switch {
	case told.Answer == contract.None:
		return nil, errors.New(suggest.Unknown("answer", answer, words))
	case told.Class == contract.Unclassed:
		return nil, errors.New(suggest.Unknown("class of a failure", class, []string{"rejected", "unknown"}))
	}
	return told, nil
}

var errInjected = errors.New("injected")
