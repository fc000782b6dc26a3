// SPDX-License-Identifier: Apache-2.0

package consumertest

import (
	"slices"

	"github.com/seed-720a3c77/harness/contract"
)

// config is what a test asked for.
type config struct {
	newHandler func(Env) BatchHandler
	batched    bool
	profiles   []Profile
	promises   []contract.Claim
	events     int
	batch      int
	event      func(n int) Event
	observers  []source
	serial     bool
}

// Option is a choice of a test.
type Option func(*config)

// On chooses the brokers whose rules apply. Without it the handler is tested on Kafka,
// SQSStandard and RabbitMQQuorum.
func On(profiles ...Profile) Option {
	return func(c *config) { c.profiles = profiles }
}

// Claim says what the handler promises. Without it that is contract.EffectivelyOnce.
func Claim(claims ...contract.Claim) Option {
	return func(c *config) { c.promises = claims }
}

// Events brings the test's own events: the n-th, from 0, always the same for the same n.
// Ids must differ. Without it they are small orders in JSON.
func Events(event func(n int) Event) Option {
	return func(c *config) { c.event = event }
}

func newConfig(options []Option) *config {
	c := &config{
		profiles: []Profile{Kafka, SQSStandard, RabbitMQQuorum},
		promises: []contract.Claim{contract.EffectivelyOnce},
		events:   4,
		event:    event,
	}
	for _, o := range options {
		o(c)
	}
	return c
}

func (c *config) claims(claim contract.Claim) bool { return slices.Contains(c.promises, claim) }
