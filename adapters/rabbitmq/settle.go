// SPDX-License-Identifier: Apache-2.0

package rabbitmq

import (
	"context"

	"github.com/seed-720a3c77/harness/broker"
)

// settler is the part of amqp.Channel that settles. None of it has an answer.
type settler interface {
	Ack(tag uint64, multiple bool) error
	Nack(tag uint64, multiple, requeue bool) error
	Reject(tag uint64, requeue bool) error
}

// Settle sends one frame an entry on this consumer's channel, whatever channel the token
// came from. A nil result means that the frame was written, and nothing more.
func (c *consumer) Settle(_ context.Context, settlements []broker.Settlement, results []error) {
	for i := range settlements {
		results[i] = c.settle(&settlements[i])
	}
}

func (c *consumer) settle(s *broker.Settlement) error {
	if err := refuseSettlement(s); err != nil {
		return err
	}
	if c.left() {
		return notSent(s.Verb.String(), c.closed())
	}
	if err := send(c.channel, s); err != nil {
		return unsent(s.Verb.String(), err)
	}
	return nil
}

func refuseSettlement(s *broker.Settlement) error {
	switch s.Verb {
	case broker.Ack, broker.Reject:
		return nil
	case broker.Requeue:
		if s.Delay > 0 {
			return unsupported("requeue with a delay")
		}
		return nil
	}
	return unsupported("settle with %v", s.Verb)
}

// send uses basic.reject for one message that is to go and basic.nack otherwise: reject
// knows no multiple.
func send(channel settler, s *broker.Settlement) error {
	tag := s.Token.Tag
	switch {
	case s.Verb == broker.Ack:
		return channel.Ack(tag, s.Multiple)
	case s.Verb == broker.Requeue:
		return channel.Nack(tag, s.Multiple, true)
	case s.Multiple:
		return channel.Nack(tag, true, false)
	}
	return channel.Reject(tag, false)
}
