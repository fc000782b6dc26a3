// SPDX-License-Identifier: Apache-2.0

package kafka

import (
	"time"

	"github.com/IBM/sarama"

	"github.com/seed-720a3c77/harness/broker"
	"github.com/seed-720a3c77/harness/msg"
)

// pending is one record on its way. It is used again once it was answered, buffers
// included, so that a publish allocates nothing of its own; the caller's message and
// body are copied and free again when Publish returns.
type pending struct {
	record   sarama.ProducerMessage
	header   [1]sarama.RecordHeader
	envelope []byte
	key      text
	body     text
	done     func(broker.Receipt, error)
	// retried is the producer's count of retries when this record was handed over.
	retried uint64
}

// text is bytes as the client wants them, without an allocation for the interface.
type text struct{ bytes []byte }

func (t *text) Encode() ([]byte, error) { return t.bytes, nil }
func (t *text) Length() int             { return len(t.bytes) }

var envelopeName = []byte(msg.HeaderName)

// fill makes the record of a message.
func (p *pending) fill(run uint32, m *msg.Message, done func(broker.Receipt, error)) {
	p.done = done
	p.envelope = msg.Seal(run, m).Append(p.envelope[:0])
	p.body.bytes = append(p.body.bytes[:0], m.Body...)
	if p.body.bytes == nil {
		p.body.bytes = []byte{} // nil would be a tombstone
	}
	p.header[0] = sarama.RecordHeader{Key: envelopeName, Value: p.envelope}
	r := &p.record
	r.Topic, r.Partition, r.Offset, r.Timestamp = m.To, m.Partition, noOffset, time.Time{}
	r.Metadata, r.Value, r.Key = p, &p.body, nil
	r.Headers = p.header[:]
	if m.Key != "" {
		p.key.bytes = append(p.key.bytes[:0], m.Key...)
		r.Key = &p.key
	}
	for name, value := range m.Headers {
		r.Headers = append(r.Headers, sarama.RecordHeader{Key: []byte(name), Value: []byte(value)})
	}
}

// noOffset stands for an offset that nobody told.
const noOffset int64 = -1
