// SPDX-License-Identifier: Apache-2.0

package rabbitmq

import (
	"context"
	"os"
	"testing"

	amqp "github.com/rabbitmq/amqp091-go"

	"github.com/seed-720a3c77/harness/broker"
	"github.com/seed-720a3c77/harness/broker/brokertest"
	"github.com/seed-720a3c77/harness/internal/testenv"
)

func TestConformance(t *testing.T) {
	testenv.Need(t, "rabbitmq")
	for _, queue := range []string{Quorum, Classic} {
		t.Run(queue, func(t *testing.T) {
			brokertest.Run(t, func(t *testing.T) *brokertest.Bench {
				e := open(t, Config{Queue: queue})
				return &brokertest.Bench{Engine: e, Raw: raw(e)}
			})
		})
	}
}

// raw publishes around the port.
func raw(e *engine) func(context.Context, string, map[string]string, []byte) error {
	return func(ctx context.Context, to string, headers map[string]string, body []byte) error {
		return e.admin.do(ctx, func(channel *amqp.Channel) error {
			table := amqp.Table{}
			for name, value := range headers {
				table[name] = value
			}
			return channel.Publish("", to, false, false, amqp.Publishing{Headers: table, Body: body})
		})
	}
}

// open opens an engine on the test's broker; the caller or the test's end closes it.
func open(t testing.TB, c Config) *engine {
	t.Helper()
	c.Address = testenv.Broker(t, "rabbitmq")
	c.Admin = os.Getenv("HARNESS_RABBITMQ_ADMIN")
	opened, err := Open(t.Context(), c)
	if err != nil {
		t.Fatalf("open: %v", err)
	}
	t.Cleanup(func() { opened.Close(context.Background()) })
	return opened.(*engine)
}

var _ broker.Engine = (*engine)(nil)
