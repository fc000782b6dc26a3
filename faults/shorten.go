// SPDX-License-Identifier: Apache-2.0

package faults

import "errors"

// Shorten makes answers shorter than they could be: a receive brings at most so many
// messages, and of the entries that are settled in one call only so many are answered:
// the others are applied, and missing in the answer. At the port, on every engine.
// Confirmed by the first answer that was hit; it heals by whole answers.
func Shorten() Kind {
	return requestKind("shorten", "makes answers shorter: fewer messages, or entries without a result; confirmed by the first one", func(decode func(any) error) (Rule, error) {
		var says struct {
			Selection `yaml:",inline"`
			Keep      int `yaml:"keep"`
		}
		if err := decode(&says); err != nil {
			return Rule{}, err
		}
		rule, err := says.rule(append(settlements(), Receive)...)
		if err == nil && says.Keep < 1 {
			err = errors.New("shorten wants keep: how many an answer still has, from 1")
		}
		rule.Action = Action{Most: says.Keep}
		return rule, errors.Join(err, askedFirst(&rule))
	})
}
