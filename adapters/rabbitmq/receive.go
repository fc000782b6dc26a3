// SPDX-License-Identifier: Apache-2.0

package rabbitmq

import (
	"context"
	"runtime"
	"time"

	amqp "github.com/rabbitmq/amqp091-go"

	"github.com/seed-720a3c77/harness/broker"
	"github.com/seed-720a3c77/harness/contract"
	"github.com/seed-720a3c77/harness/msg"
)

// countHeader is how often a quorum queue delivered the message before; absent is never.
// https://www.rabbitmq.com/docs/quorum-queues#poison-message-handling
const countHeader = "x-delivery-count"

// Receive takes what the client has buffered.
func (c *consumer) Receive(ctx context.Context, into []broker.Delivery, wait time.Duration) (int, error) {
	if c.left() {
		return 0, c.closed()
	}
	if len(into) == 0 {
		return 0, nil
	}
	first, ok, err := c.first(ctx, wait)
	if !ok {
		return 0, err
	}
	c.fill(&into[0], &first)
	n := 1
	for n < len(into) {
		next, ok := c.buffered()
		if !ok {
			break
		}
		c.fill(&into[n], &next)
		n++
	}
	return n, nil
}

// first waits for a delivery. Nothing and no error is an empty poll.
func (c *consumer) first(ctx context.Context, wait time.Duration) (d amqp.Delivery, ok bool, err error) {
	c.timer.Reset(wait)
	select {
	case d, ok = <-c.deliveries:
		if !ok {
			err = c.ended()
		}
	case <-c.gone:
		err = c.closed()
	case <-c.timer.C:
		d, ok = c.buffered()
	case <-ctx.Done():
		err = ctx.Err()
	}
	return d, ok, err
}

// buffered takes a delivery that the client holds already. The client hands each over from
// a goroutine that must run first, which is why this one yields once.
func (c *consumer) buffered() (d amqp.Delivery, ok bool) {
	for range 2 {
		select {
		case d, ok = <-c.deliveries:
			return d, ok
		default:
			runtime.Gosched()
		}
	}
	return d, false
}

// ended says why no more deliveries will come.
func (c *consumer) ended() error {
	select {
	case <-c.over:
	case <-c.cancelled:
		return &broker.Error{Op: "receive", Answer: contract.Closed, Class: contract.Unknown, Code: "basic.cancel", Err: errCancelled}
	}
	if c.cause == nil || c.left() {
		return c.closed()
	}
	return &broker.Error{Op: "receive", Answer: contract.Closed, Class: contract.Unknown, Code: code(c.cause), Err: c.cause}
}

func (c *consumer) fill(into *broker.Delivery, d *amqp.Delivery) {
	*into = broker.Delivery{
		Token:       broker.Token{Epoch: c.epoch, Tag: d.DeliveryTag},
		Foreign:     true,
		Source:      c.spec.From,
		Redelivered: d.Redelivered,
		Lease:       c.lease,
		Body:        d.Body,
	}
	if c.counted() {
		into.Count = 1 + earlier(d.Headers)
	}
	into.Key, _ = d.Headers[msg.KeyHeader].(string)
	text, _ := d.Headers[msg.HeaderName].(string)
	envelope, err := msg.ParseEnvelope(text)
	if err != nil || envelope.Run != c.spec.Run {
		return
	}
	into.Foreign = false
	into.ID, into.Attempt, into.Intended = envelope.ID, envelope.Attempt, envelope.Intended
	into.Corrupt = msg.Checksum(d.Body) != envelope.CRC
}

// earlier is the broker's count of deliveries before this one.
func earlier(headers amqp.Table) int {
	switch n := headers[countHeader].(type) {
	case int64:
		return int(n)
	case int32:
		return int(n)
	case int16:
		return int(n)
	case int8:
		return int(n)
	case uint8:
		return int(n)
	}
	return 0
}
