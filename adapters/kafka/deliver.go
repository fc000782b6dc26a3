// SPDX-License-Identifier: Apache-2.0

package kafka

import (
	"bytes"

	"github.com/IBM/sarama"

	"github.com/seed-720a3c77/harness/broker"
	"github.com/seed-720a3c77/harness/msg"
)

// deliver turns a record into a delivery. It reports false for a record of a stream that
// is over.
func (c *consumer) deliver(i item, d *broker.Delivery) bool {
	if i.from.over.Load() {
		return false
	}
	r, h := i.record, i.from.holding
	*d = broker.Delivery{
		Token: broker.Token{
			Partition: r.Partition, Offset: r.Offset,
			Generation: h.generation(), Member: h.member(),
		},
		Source: r.Topic, Key: c.keys.text(r.Key), Body: r.Value,
	}
	envelope, err := msg.ParseEnvelope(headerOf(r))
	if err != nil || envelope.Run != c.spec.Run {
		d.Foreign = true
		return true
	}
	d.ID, d.Attempt, d.Intended = envelope.ID, envelope.Attempt, envelope.Intended
	d.Corrupt = msg.Checksum(r.Value) != envelope.CRC
	return true
}

func headerOf(r *sarama.ConsumerMessage) string {
	for _, h := range r.Headers {
		if bytes.Equal(h.Key, envelopeName) {
			return string(h.Value)
		}
	}
	return ""
}

// interner keeps the text of keys, of which a workload has few.
type interner struct{ known map[string]string }

const mostKeys = 1 << 14

func (i *interner) text(key []byte) string {
	if len(key) == 0 {
		return ""
	}
	if text, ok := i.known[string(key)]; ok {
		return text
	}
	if i.known == nil || len(i.known) >= mostKeys {
		i.known = map[string]string{}
	}
	text := string(key)
	i.known[text] = text
	return text
}
