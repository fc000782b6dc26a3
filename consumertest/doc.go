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
// A schedule holds, fails or crashes the handler at the operations it makes through Env,
// and lets the broker do what its profile allows: the reference engine of inmem plays it.
// Everything runs in virtual time, so that waits of days cost nothing, and a seed always
// gives the same schedule. A seed that breaks the claim is shrunk to the shortest story.
package consumertest
