// SPDX-License-Identifier: Apache-2.0

package main

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/seed-720a3c77/harness/internal/catalog"
	"github.com/seed-720a3c77/harness/provision"
	"github.com/seed-720a3c77/harness/runner/blackbox"
)

// A flag that would do nothing is refused, because whoever gave it expects something of it.

// firstGiven is the first of these flags that was given, or "".
func firstGiven(cmd *cobra.Command, names ...string) string {
	for _, name := range names {
		if cmd.Flags().Changed(name) {
			return name
		}
	}
	return ""
}

// brokersOf are the brokers that engines need, each once.
func brokersOf(engines []catalog.Engine) (all []string) {
	for _, e := range engines {
		if e.Broker != "" && !slices.Contains(all, e.Broker) {
			all = append(all, e.Broker)
		}
	}
	return all
}

// idle refuses to hear where brokers come from that nobody asks for.
func (p *providing) idle(cmd *cobra.Command, brokers []string) error {
	given := firstGiven(cmd, "address", "allow-remote", "provider", "image")
	switch {
	case given != "" && len(brokers) == 0:
		return fmt.Errorf("--%s is of brokers, and --on names none (such as kafka, sqs or rabbitmq)", given)
	case p.provider != "" && p.provider != "external" && len(p.addresses) > 0:
		return fmt.Errorf("--address is of the external provider, not of --provider %s", p.provider)
	case p.provider != "" && p.provider != "docker" && len(p.images) > 0:
		return fmt.Errorf("--image is of the docker provider, not of --provider %s", p.provider)
	}
	for flag, words := range map[string]map[string]string{"address": p.addresses, "image": p.images} {
		for _, broker := range slices.Sorted(maps.Keys(words)) {
			if !slices.Contains(brokers, broker) {
				return fmt.Errorf("--%s names %s, but only %s is asked for", flag, broker, strings.Join(brokers, ", "))
			}
		}
	}
	return nil
}

func (f *predictFlags) idle(cmd *cobra.Command) error {
	if !f.on && !f.strict && cmd.Flags().Changed("predict-seeds") {
		return errors.New("--predict-seeds wants --predict")
	}
	return nil
}

func (f *runFlags) idle(cmd *cobra.Command, engines []catalog.Engine) error {
	brokers := brokersOf(engines)
	switch {
	case f.quiet && f.json:
		return errors.New("--quiet prints nothing and --json the results: want one of them")
	case f.stopOnViolation && f.repeat == "":
		return errors.New("--stop-on-violation ends a --repeat, and there is none")
	case len(brokers) == 0 && (f.predict.on || f.predict.strict):
		return errors.New("--predict puts a model beside a run on a broker, and --on names no broker (such as kafka, sqs or rabbitmq)")
	}
	return errors.Join(f.predict.idle(cmd), f.providing.idle(cmd, brokers))
}

func (f *verifyFlags) idle(cmd *cobra.Command, broker string, o *blackbox.Options) error {
	given := func(flag string, without bool, wants string) error {
		if without && cmd.Flags().Changed(flag) {
			return fmt.Errorf("--%s wants %s", flag, wants)
		}
		return nil
	}
	planned := len(o.Faults) > 0
	if f.quiet && f.json {
		return errors.New("--quiet prints nothing and --json the results: want one of them")
	}
	return errors.Join(
		given("freeze-for", o.Freeze == 0 && !planned, "--freeze: how many"),
		given("lose-for", o.LoseAnswers == 0 && !planned, "--lose-answers: how often"),
		given("partitions", broker != provision.Kafka, "--on kafka: nothing else has partitions"),
		f.providing.idle(cmd, []string{broker}),
	)
}
