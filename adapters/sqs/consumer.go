// SPDX-License-Identifier: Apache-2.0

package sqs

import (
	"cmp"
	"context"
	"fmt"
	"strconv"
	"sync/atomic"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/sqs"
	"github.com/aws/aws-sdk-go-v2/service/sqs/types"

	"github.com/seed-720a3c77/harness/broker"
)

const (
	// all asks a receive for every message attribute.
	all = "All"
	// maxWait is the longest long poll.
	maxWait = 20 * time.Second
)

// consumer polls one queue. It buffers nothing: what a poll brought is what Receive returns.
type consumer struct {
	engine *engine
	spec   broker.ConsumerSpec
	link   *link
	url    *string
	lease  time.Duration
	closed atomic.Bool
}

// Consumer opens a consumer. The lease of its deliveries is the visibility timeout that
// the queue has now.
func (e *engine) Consumer(ctx context.Context, spec broker.ConsumerSpec) (broker.Consumer, error) {
	if err := checkConsumer(spec); err != nil {
		return nil, err
	}
	url, err := e.url(ctx, spec.From)
	if err != nil {
		return nil, err
	}
	visibility, err := e.attribute(ctx, url, types.QueueAttributeNameVisibilityTimeout)
	if err != nil {
		return nil, err
	}
	timeout, err := strconv.Atoi(visibility)
	if err != nil {
		return nil, fmt.Errorf("sqs: visibility timeout of %s: %w", spec.From, err)
	}
	spec.Batch = min(cmp.Or(spec.Batch, maxBatch), maxBatch)
	c := &consumer{engine: e, spec: spec, link: newLink(e.config, 0, 0), url: url, lease: time.Duration(timeout) * time.Second}
	return c, e.clients.Enter(c)
}

func checkConsumer(spec broker.ConsumerSpec) error {
	switch {
	case spec.AutoAck:
		return unsupported("forgetting on receive")
	case spec.AutoCommit > 0:
		return unsupported("automatic commit")
	case spec.StaticID != "" || spec.Strategy != "":
		return unsupported("group membership")
	case spec.Start != broker.Earliest:
		return unsupported("a start position")
	case spec.Exclusive:
		return unsupported("a single active consumer")
	}
	return nil
}

// Receive is one long poll of at most ten messages. It runs out even if ctx ends: the
// service would go on polling for a client that is gone, and hide what it finds.
func (c *consumer) Receive(ctx context.Context, into []broker.Delivery, wait time.Duration) (int, error) {
	if c.closed.Load() {
		return 0, fmt.Errorf("sqs: receive: %w", broker.ErrClosed)
	}
	if err := ctx.Err(); err != nil {
		return 0, err
	}
	poll := min((wait + time.Second - 1).Truncate(time.Second), maxWait)
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), poll+c.engine.config.Timeout)
	defer cancel()
	start := time.Now()
	out, err := c.link.sqs.ReceiveMessage(ctx, &sqs.ReceiveMessageInput{
		QueueUrl:                    c.url,
		MaxNumberOfMessages:         int32(min(c.spec.Batch, len(into))),
		WaitTimeSeconds:             int32(poll / time.Second),
		MessageAttributeNames:       []string{all},
		MessageSystemAttributeNames: systemAttributes(),
	})
	switch {
	case c.closed.Load():
		return 0, fmt.Errorf("sqs: receive: %w", broker.ErrClosed)
	case err != nil:
		return 0, outcome("receive", err, 1)
	}
	return c.fill(into, out.Messages, time.Since(start)), nil
}

func (c *consumer) fill(into []broker.Delivery, messages []types.Message, age time.Duration) int {
	n := min(len(into), len(messages))
	for i := range n {
		into[i] = deliveryOf(c.spec.Run, &messages[i])
		into[i].Source, into[i].Lease, into[i].Requested = c.spec.From, c.lease, age
	}
	return n
}

// Seek is unsupported: a queue forgets.
func (c *consumer) Seek(context.Context, int32, int64) error { return unsupported("seek") }

// Pause is unsupported: who does not receive is paused.
func (c *consumer) Pause(context.Context) error { return unsupported("pause") }

// Resume is unsupported.
func (c *consumer) Resume(context.Context) error { return unsupported("resume") }

// Close ends the consumer. What it holds comes back when its visibility timeout ends.
func (c *consumer) Close(context.Context) error {
	c.closed.Store(true)
	c.link.close()
	c.engine.clients.Leave(c)
	return nil
}

// Abandon cuts the sockets. The service notices nothing, and a poll under way still takes
// a message.
func (c *consumer) Abandon() {
	c.closed.Store(true)
	c.link.sever()
	c.engine.clients.Leave(c)
}
