// SPDX-License-Identifier: Apache-2.0

// Package consumertest tests, inside of go test, that a consumer of messages survives what
// brokers do to it: redelivery, crashes, two workers with one message, lost answers.
//
//	func TestPayments(t *testing.T) {
//		consumertest.Run(t, func(env consumertest.Env) consumertest.Handler {
//			return func(ctx context.Context, m consumertest.Message) error {
//				return env.Effects.Apply(ctx, m.ID)
//			}
//		}, consumertest.On(consumertest.Kafka))
//	}
//
// The constructor is called again after each crash; what it is given by Env survives.
// A schedule holds, fails or crashes the handler at the operations it makes through Env
// (Effects, OpenDB, HTTPClient, Operate), and the reference engine of package inmem plays
// the broker, so only what the chosen Profile allows can happen.
//
// Schedules run in virtual time, each in a testing/synctest bubble of its own: a wait of
// days costs nothing, and a seed always gives the same schedule. A handler that needs a
// network takes RealTime. Without a fault the handler has to work, and a redelivery that
// it cannot recognise has to be seen, before anything else is judged.
//
// A seed that breaks the claim is shrunk to the mildest fault that is enough. That names
// the mistake (check-then-act, work before claim, ...), and the failure shows it as a
// short story with what mends it and the command that plays it again. The flags
// -consumertest.seeds and -consumertest.seed, or CONSUMERTEST_SEEDS and CONSUMERTEST_SEED,
// choose the seeds.
//
// Read Run next, then Env and the examples; docs/tutorial-consumertest.md is a first test
// in five minutes. How it works: scene.go is one run of a plan, family.go what seeds are,
// call.go what happens at an operation; shrink.go, evidence.go, probe.go and diagnose.go
// are the way to a name.
package consumertest
