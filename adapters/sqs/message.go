// SPDX-License-Identifier: Apache-2.0

package sqs

import (
	"cmp"
	"strconv"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/sqs/types"

	"github.com/seed-720a3c77/harness/broker"
	"github.com/seed-720a3c77/harness/contract"
	"github.com/seed-720a3c77/harness/msg"
)

// keyless begins the message group of a message without a key: a FIFO queue wants a
// group for every message, and no key asks for no order.
const keyless = "no-key."

// maxDelay is the longest delay of a message.
const maxDelay = 15 * time.Minute

// checkMessage refuses what SQS cannot do with one message.
func (e *engine) checkMessage(m *msg.Message) error {
	switch {
	case m.Delay > 0 && !e.can(contract.Delay):
		return unsupported("a delay of one message")
	case m.Delay%time.Second != 0 || m.Delay > maxDelay:
		return unsupported("a delay of %v (want whole seconds, at most %v)", m.Delay, maxDelay)
	case m.TTL > 0:
		return unsupported("a time to live of one message")
	case m.Priority > 0:
		return unsupported("a priority")
	case m.Dedup != "" && !e.can(contract.Deduplication):
		return unsupported("a deduplication id on a standard queue")
	case m.Route != "" && m.Route != m.To:
		return unsupported("a routing key")
	}
	return nil
}

// entryOf puts a message and its envelope into an entry of a batch.
func (e *engine) entryOf(run uint32, m *msg.Message) types.SendMessageBatchRequestEntry {
	attributes := make(map[string]types.MessageAttributeValue, 2+len(m.Headers))
	for name, value := range m.Headers {
		attributes[name] = text(value)
	}
	attributes[msg.HeaderName] = text(msg.Seal(run, m).String())
	entry := types.SendMessageBatchRequestEntry{
		MessageBody:       aws.String(string(m.Body)),
		MessageAttributes: attributes,
		DelaySeconds:      int32(m.Delay / time.Second),
	}
	switch {
	case e.fifo():
		id := m.ID.String()
		entry.MessageDeduplicationId = aws.String(cmp.Or(m.Dedup, id))
		entry.MessageGroupId = aws.String(cmp.Or(m.Key, keyless+id))
	case m.Key != "":
		attributes[msg.KeyHeader] = text(m.Key)
	}
	return entry
}

func text(value string) types.MessageAttributeValue {
	return types.MessageAttributeValue{DataType: aws.String("String"), StringValue: aws.String(value)}
}

// sizeOf is what an entry counts against the size of a batch: body and attributes.
func sizeOf(entry *types.SendMessageBatchRequestEntry) int {
	size := len(deref(entry.MessageBody))
	for name, value := range entry.MessageAttributes {
		size += len(name) + len(deref(value.DataType)) + len(deref(value.StringValue))
	}
	return size
}

// systemAttributes are asked for with every receive.
func systemAttributes() []types.MessageSystemAttributeName {
	return []types.MessageSystemAttributeName{
		types.MessageSystemAttributeNameApproximateReceiveCount,
		types.MessageSystemAttributeNameMessageGroupId,
	}
}

// deliveryOf reads a received message.
func deliveryOf(run uint32, m *types.Message) broker.Delivery {
	d := broker.Delivery{
		Token:    broker.Token{Handle: deref(m.ReceiptHandle)},
		BrokerID: deref(m.MessageId),
		Key:      keyOf(m),
		Body:     []byte(deref(m.Body)),
	}
	d.Count, _ = strconv.Atoi(m.Attributes[string(types.MessageSystemAttributeNameApproximateReceiveCount)])
	envelope, err := msg.ParseEnvelope(deref(m.MessageAttributes[msg.HeaderName].StringValue))
	if err != nil || envelope.Run != run {
		d.Foreign = true
		return d
	}
	d.ID, d.Attempt, d.Intended = envelope.ID, envelope.Attempt, envelope.Intended
	d.Corrupt = envelope.CRC != msg.Checksum(d.Body)
	return d
}

func keyOf(m *types.Message) string {
	group, grouped := m.Attributes[string(types.MessageSystemAttributeNameMessageGroupId)]
	switch {
	case !grouped:
		return deref(m.MessageAttributes[msg.KeyHeader].StringValue)
	case strings.HasPrefix(group, keyless):
		return ""
	}
	return group
}
