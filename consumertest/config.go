// SPDX-License-Identifier: Apache-2.0

package consumertest

import (
	"errors"
	"fmt"
	"net/http"
	"slices"

	"github.com/seed-720a3c77/harness/contract"
)

// config is what a test asked for.
type config struct {
	newHandler func(Env) BatchHandler
	profiles   []Profile
	promises   []contract.Claim
	events     int
	batch      int // most messages of a call; 0 is a handler of single ones
	event      func(n int) Event
	made       []Event // by event: those of the test, and as many strangers for the twin
	unmade     error   // why made is empty
	observers  []source
	setup      func(Env) error
	serve      http.Handler
	effectOf   func(*http.Request) string
	sequential bool
	pace       pace
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

// Events brings the test's own events: the n-th, from 0, always the same for the same n,
// whatever n is. Ids must differ. Without it they are small orders in JSON.
func Events(event func(n int) Event) Option {
	return func(c *config) { c.event = event }
}

func newConfig(options []Option) *config {
	c := &config{
		profiles: []Profile{Kafka, SQSStandard, RabbitMQQuorum},
		promises: []contract.Claim{contract.EffectivelyOnce},
		events:   4,
		event:    event,
		pace:     virtualPace(),
	}
	for _, o := range options {
		o(c)
	}
	c.unmade = guarded("Events", c.makeEvents)
	return c
}

// makeEvents makes all events that a scenario may need.
func (c *config) makeEvents() error {
	for n := range 2 * c.events {
		c.made = append(c.made, c.event(n))
	}
	return nil
}

// Sequential runs one profile after another, for a handler that uses state of its package
// or a test that sets the environment.
func Sequential() Option {
	return func(c *config) { c.sequential = true }
}

// check refuses what makes no sense.
func (c *config) check() error {
	if c.unmade != nil {
		return c.unmade
	}
	ids := map[string]int{}
	for n, e := range c.made {
		id := e.ID
		if id == "" {
			return fmt.Errorf("event %d has no id", n)
		}
		if other, known := ids[id]; known {
			return fmt.Errorf("events %d and %d have the id %q: ids must differ and not be empty", other, n, id)
		}
		ids[id] = n
	}
	for _, claim := range c.promises {
		if !slices.Contains(claimable(), claim) {
			return fmt.Errorf("claim %q cannot be tested here: use one of %v", claim, claimable())
		}
	}
	if len(c.promises) == 0 {
		return errors.New("Claim names no claim")
	}
	if len(c.profiles) == 0 {
		return errors.New("On names no profile")
	}
	for _, p := range c.profiles {
		if _, err := p.rules(c.pace); err != nil {
			return err
		}
	}
	return nil
}

// claimable are the claims that a test of a handler can judge.
func claimable() []contract.Claim {
	return []contract.Claim{contract.EffectivelyOnce, contract.AtLeastOnce, contract.AtMostOnce, contract.OrderPerKey}
}

// timeName says which time the schedules run in.
func (c *config) timeName() string { return either(c.pace.real, "real", "virtual") }

func (c *config) claims(claim contract.Claim) bool { return slices.Contains(c.promises, claim) }
