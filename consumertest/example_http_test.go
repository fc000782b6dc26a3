// SPDX-License-Identifier: Apache-2.0

package consumertest_test

import (
	"bytes"
	"context"
	"fmt"
	"net/http"
	"testing"

	"github.com/seed-720a3c77/harness/consumertest"
)

// newCharging charges a customer by HTTP, with an idempotency key or without.
func newCharging(withKey bool) func(consumertest.Env) consumertest.Handler {
	return func(env consumertest.Env) consumertest.Handler {
		client := env.HTTPClient()
		return func(ctx context.Context, m consumertest.Message) error {
			r, err := http.NewRequestWithContext(ctx, http.MethodPost, "https://payments.example/charges", bytes.NewReader(m.Body))
			if err != nil {
				return err
			}
			if withKey {
				r.Header.Set("Idempotency-Key", m.ID)
			}
			answer, err := client.Do(r)
			if err != nil {
				return err
			}
			defer answer.Body.Close()
			if answer.StatusCode != http.StatusOK {
				return fmt.Errorf("charge: %s", answer.Status)
			}
			return nil
		}
	}
}

// A request that is sent again must carry the same idempotency key, which the recorder
// honours as payment services do.
func ExampleEnv_HTTPClient() {
	goTest("TestBare", func(t *testing.T) {
		consumertest.Run(t, newCharging(false), consumertest.On(consumertest.RabbitMQQuorum))
	})
	goTest("TestWithKey", func(t *testing.T) {
		consumertest.Run(t, newCharging(true), consumertest.On(consumertest.RabbitMQQuorum))
	})

	// Output:
	// TestBare: FAIL
	//   event-1 took effect twice
	//   pattern no deduplication
	// TestWithKey: ok
}
