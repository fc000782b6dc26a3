// SPDX-License-Identifier: Apache-2.0

package consumertest_test

import (
	"context"
	"testing"

	"github.com/seed-720a3c77/harness/consumertest"
)

// newNaive looks whether the event is known, works, and notes it.
func newNaive(env consumertest.Env) consumertest.Handler {
	return func(ctx context.Context, m consumertest.Message) error {
		known, err := env.Effects.Seen(ctx, m.ID)
		if err != nil || known {
			return err
		}
		if err := env.Effects.Apply(ctx, m.ID); err != nil {
			return err
		}
		return env.Effects.Remember(ctx, m.ID, 0)
	}
}

// newMended does the same in one transaction.
func newMended(env consumertest.Env) consumertest.Handler {
	return func(ctx context.Context, m consumertest.Message) error {
		return env.Effects.Transaction(ctx, func(tx *consumertest.Tx) error {
			if !tx.Seen(m.ID) {
				tx.Apply(m.ID)
				tx.Remember(m.ID, 0)
			}
			return nil
		})
	}
}

// The work is done before it is noted: a crash in between does it twice. In one
// transaction there is no in between.
func ExampleRun() {
	goTest("TestNaive", func(t *testing.T) {
		consumertest.Run(t, newNaive, consumertest.On(consumertest.Kafka))
	})
	goTest("TestMended", func(t *testing.T) {
		consumertest.Run(t, newMended, consumertest.On(consumertest.Kafka))
	})

	// Output:
	// TestNaive: FAIL
	//   event-1 took effect twice
	//   pattern work before claim
	// TestMended: ok
}
