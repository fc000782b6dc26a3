// SPDX-License-Identifier: Apache-2.0

package consumertest_test

import (
	"context"
	"log/slog"
	"testing"

	"github.com/seed-720a3c77/harness/consumertest"
)

// apply is right for one event.
func apply(ctx context.Context, env consumertest.Env, m consumertest.Message) error {
	return env.Effects.Transaction(ctx, func(tx *consumertest.Tx) error {
		if tx.Claim(m.ID, 0) != 0 {
			tx.Apply(m.ID)
		}
		return nil
	})
}

// newLogging logs what failed and settles the whole batch.
func newLogging(env consumertest.Env) consumertest.BatchHandler {
	return func(ctx context.Context, batch []consumertest.Message) []error {
		for _, m := range batch {
			if err := apply(ctx, env, m); err != nil {
				slog.DebugContext(ctx, "event failed", "event", m.ID, "error", err)
			}
		}
		return nil
	}
}

// newReporting reports what failed, entry by entry.
func newReporting(env consumertest.Env) consumertest.BatchHandler {
	return func(ctx context.Context, batch []consumertest.Message) []error {
		failed := make([]error, len(batch))
		for i, m := range batch {
			failed[i] = apply(ctx, env, m)
		}
		return failed
	}
}

// One event of a batch fails. Who settles the batch all the same has lost it.
func ExampleRunBatch() {
	goTest("TestLogging", func(t *testing.T) {
		consumertest.RunBatch(t, newLogging, consumertest.On(consumertest.SQSStandard))
	})
	goTest("TestReporting", func(t *testing.T) {
		consumertest.RunBatch(t, newReporting, consumertest.On(consumertest.SQSStandard))
	})

	// Output:
	// TestLogging: FAIL
	//   event-1 was settled and had no effect
	//   pattern error swallowed
	// TestReporting: ok
}
