// SPDX-License-Identifier: Apache-2.0

package consumertest

import (
	"context"
	"encoding/json"
	"strconv"
)

// Message is one delivery as the handler sees it. Map it to the type of your client
// library at the edge of your code.
type Message struct {
	// ID is the event's own id: the same in every copy and every delivery of it.
	ID string
	// Key is the ordering key: the record key, message group or routing key.
	Key string
	// Body is the same in every copy.
	Body []byte
	// Headers are those of the Event.
	Headers map[string]string

	// BrokerID is what the broker calls this copy: "orders-0@7" on a log, the message id
	// on SQS, connection and delivery tag on RabbitMQ. A copy that the producer stored
	// twice has two; on RabbitMQ every delivery has another one.
	BrokerID string
	// Partition and Offset are set on logs.
	Partition int32
	Offset    int64
	// Redelivered and Deliveries are what the broker says, false and 0 where it says nothing.
	Redelivered bool
	Deliveries  int
}

// Handler is a consumer of one message at a time. Nil settles the message; an error gives
// it back, to be delivered again. The context ends when the consumer is asked to stop.
type Handler func(ctx context.Context, m Message) error

// BatchHandler is a consumer of several messages at a time. It returns nil, or one entry
// for each message: those that are nil are settled, the others come again.
type BatchHandler func(ctx context.Context, batch []Message) []error

// Event is what a producer publishes.
type Event struct {
	// ID must be unique. Effects are counted by it.
	ID      string
	Key     string
	Body    []byte
	Headers map[string]string
}

// event is the n-th event, from 0, where the test brings none of its own: a small order.
func event(n int) Event {
	id := "event-" + strconv.Itoa(n+1)
	key := "customer-" + strconv.Itoa(n%2+1)
	body, _ := json.Marshal(map[string]any{"id": id, "customer": key, "amount": 10})
	return Event{ID: id, Key: key, Body: body}
}
