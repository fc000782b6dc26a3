// SPDX-License-Identifier: Apache-2.0

package kafka

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/IBM/sarama"

	"github.com/seed-720a3c77/harness/broker/brokertest"
	"github.com/seed-720a3c77/harness/internal/testenv"
)

func TestConformance(t *testing.T) {
	brokertest.Run(t, func(t *testing.T) *brokertest.Bench {
		e := open(t)
		return &brokertest.Bench{Engine: e, Raw: e.raw}
	})
}

// open connects to the real broker.
func open(t *testing.T) *engine {
	t.Helper()
	address := testenv.Broker(t, "kafka")
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	e, err := Open(ctx, Config{Addresses: strings.Split(address, ",")})
	if err != nil {
		t.Fatal(err)
	}
	return e.(*engine)
}

// raw stores a record without the port.
func (e *engine) raw(ctx context.Context, to string, headers map[string]string, body []byte) error {
	c := e.settings("raw", e.sockets)
	c.Producer.Return.Successes = true
	p, err := sarama.NewSyncProducer(e.config.Addresses, c)
	if err != nil {
		return err
	}
	defer p.Close()
	m := &sarama.ProducerMessage{Topic: to, Value: sarama.ByteEncoder(body)}
	for name, value := range headers {
		m.Headers = append(m.Headers, sarama.RecordHeader{Key: []byte(name), Value: []byte(value)})
	}
	_, _, err = p.SendMessage(m)
	return err
}
