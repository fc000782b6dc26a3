// SPDX-License-Identifier: Apache-2.0

package consumertest

import (
	"fmt"
	"time"

	"github.com/seed-720a3c77/harness/contract"
	"github.com/seed-720a3c77/harness/contract/profiles"
)

// Profile names what a handler is tested on: the rules of one broker and configuration
// decide which schedules are legal. Besides the constants every name of
// contract/profiles is one.
type Profile string

const (
	// Kafka redelivers what was not committed when a partition changes hands; it keeps the
	// order of a partition and knows neither a redelivered flag nor a count.
	Kafka Profile = "kafka"
	// SQSStandard redelivers when the visibility timeout ends before the delete, may give a
	// message twice without any reason, and promises no order.
	SQSStandard Profile = "sqs-standard"
	// SQSFIFO holds a message group back while one of it is in flight, and swallows a second
	// send with the same deduplication id inside five minutes.
	SQSFIFO Profile = "sqs-fifo"
	// RabbitMQQuorum redelivers at once when a channel dies, with a delivery count.
	RabbitMQQuorum Profile = "rabbitmq-quorum"
	// RabbitMQClassic has a redelivered flag and no count.
	RabbitMQClassic Profile = "rabbitmq-classic"
)

// rules are a profile as the scheduler needs it.
type rules struct {
	contract.Profile
	short Profile
	pace  pace
	// takeOver is how long after a worker fell silent another one gets its messages.
	takeOver time.Duration
}

func (p Profile) rules(pace pace) (rules, error) {
	full, err := profiles.Named(string(p))
	if err != nil {
		return rules{}, err
	}
	if pace.real {
		full = shorten(full)
	}
	if full.Model == contract.Log {
		// Fewer heartbeats make the long waits cheaper; a third of the session is usual.
		full.Knobs[profiles.Heartbeat] = (full.Session.Default / 3).String()
	}
	r := rules{Profile: full, short: p, pace: pace}
	switch full.Model {
	case contract.Log:
		r.takeOver = full.Session.Default + full.TakeOver + pace.slack
	case contract.LeaseQueue:
		r.takeOver = full.Lease.Default + full.Lease.Tick + pace.slack
	default:
		r.takeOver = pace.slack
	}
	return r, nil
}

// keepsOrder: messages of one key come in order, also when they come again.
func (r *rules) keepsOrder() bool {
	return r.Order == contract.OrderPartition || r.Order == contract.OrderGroup
}

// realHolds says what was shortened for real time.
func (r *rules) realHolds() string {
	hold := &r.Lease
	switch r.Model {
	case contract.Log:
		hold = &r.Session
	case contract.PushQueue:
		return "real time: a redelivery comes at once, and waits of hours were left out"
	}
	return fmt.Sprintf("real time: the %s was %s, and waits of hours were left out", hold.Name, brief(hold.Default))
}

// lostWhen says how a worker loses a message that it still works on.
func (r *rules) lostWhen() string {
	switch r.Model {
	case contract.Log:
		return "the session of " + r.Session.Default.String() + " ends and the partition moves"
	case contract.LeaseQueue:
		return "the visibility timeout of " + r.Lease.Default.String() + " ends"
	default:
		return "the channel dies and the message is requeued"
	}
}
