// SPDX-License-Identifier: Apache-2.0

package faults

import (
	"fmt"

	"github.com/seed-720a3c77/harness/contract"
)

// CloseChannel has the broker close a consumer's channel: an ack is sent twice, and the
// second names a delivery tag that is not known any more, which is a channel error of
// AMQP. The connection lives on, and everything unsettled on the channel comes back. On
// RabbitMQ alone; a stale settlement closes nothing elsewhere. Confirmed by the first ack
// that was sent twice; the worker opens another channel by itself.
// https://www.rabbitmq.com/docs/confirms#consumer-acks-double-acking
func CloseChannel() Kind {
	k := requestKind("close-channel", "has the broker close a consumer's channel by acking a delivery twice; confirmed by the first; the worker opens another", func(decode func(any) error) (Rule, error) {
		var says Selection
		says.Operation = Acking
		if err := decode(&says); err != nil {
			return Rule{}, err
		}
		rule, err := says.rule(Acking)
		rule.Action = Action{Twice: true}
		return rule, err
	})
	k.Unable = func(p Place) string {
		if p.Profile.Stale == contract.StaleCloses {
			return ""
		}
		return fmt.Sprintf("%s closes nothing for a settlement that comes twice", p.Profile.Name)
	}
	return k
}
