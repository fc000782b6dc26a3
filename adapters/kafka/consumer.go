// SPDX-License-Identifier: Apache-2.0

package kafka

import (
	"cmp"
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/IBM/sarama"

	"github.com/seed-720a3c77/harness/broker"
)

// consumer hands out what its holdings read, from one bounded buffer.
type consumer struct {
	engine  *engine
	spec    broker.ConsumerSpec
	sockets *sockets
	notices notices
	client  sarama.Client
	readers sarama.Consumer      // of partitions without a claim
	group   sarama.ConsumerGroup // nil for an audit

	buffer chan item
	timer  *time.Timer
	keys   interner

	ctx  context.Context // ends when the consumer leaves
	stop context.CancelFunc

	vanish   sync.Once
	vanished chan struct{} // closed by Close and Abandon
	ended    chan struct{} // closed when nothing is read any more

	failOnce sync.Once
	failed   chan struct{} // closed with failure set: the session is dead
	failure  error

	mu       sync.Mutex
	holdings map[int32]*holding
	paused   bool
	trouble  error // the last error that the client told, for the end of a session
}

// Consumer opens a client of its own: a member of a group, or a reader of every partition.
func (e *engine) Consumer(ctx context.Context, spec broker.ConsumerSpec) (broker.Consumer, error) {
	c, err := e.newConsumer(ctx, spec)
	if err != nil {
		return nil, fmt.Errorf("kafka: consumer %s of %s: %w", spec.Name, spec.From, err)
	}
	return c, nil
}

func (e *engine) newConsumer(ctx context.Context, spec broker.ConsumerSpec) (*consumer, error) {
	if spec.Session == 0 {
		spec.Session = e.profile.Session.Floor
	}
	c := &consumer{
		engine: e, spec: spec, sockets: newSockets(e.config.Dial, e.config.Timeout),
		buffer: make(chan item, cmp.Or(spec.Prefetch, max(spec.Batch, 1))), timer: time.NewTimer(time.Hour),
		vanished: make(chan struct{}), ended: make(chan struct{}), failed: make(chan struct{}),
		holdings: map[int32]*holding{}, notices: notices{hear: spec.Notify},
	}
	c.ctx, c.stop = context.WithCancel(context.Background())
	settings, err := e.consumerSettings(spec, c)
	if err != nil {
		return nil, err
	}
	if err := awaitDone(ctx, func() error { return c.connect(settings) }); err != nil {
		c.sockets.cut()
		return nil, reached(err)
	}
	if err := e.clients.Enter(c); err != nil {
		close(c.ended)
		c.Abandon()
		return nil, err
	}
	e.tell(consumerTells(settings, cap(c.buffer)))
	return c, c.begin(ctx)
}

func (c *consumer) connect(settings *sarama.Config) (err error) {
	if c.client, err = c.engine.client(settings, c.spec.From); err != nil {
		return err
	}
	if c.readers, err = sarama.NewConsumerFromClient(c.client); err != nil {
		return err
	}
	if c.spec.Group == "" {
		return nil
	}
	c.group, err = sarama.NewConsumerGroupFromClient(c.spec.Group, c.client)
	return err
}

func (c *consumer) begin(ctx context.Context) error {
	if c.group != nil {
		go c.join()
		return nil
	}
	if err := c.audit(ctx); err != nil {
		c.Abandon()
		return err
	}
	return nil
}

// Receive takes what is buffered. Records of a partition that was lost since, or from
// before a seek, are skipped.
func (c *consumer) Receive(ctx context.Context, into []broker.Delivery, wait time.Duration) (int, error) {
	if c.spec.Batch > 0 && len(into) > c.spec.Batch {
		into = into[:c.spec.Batch]
	}
	if err := c.gone(); err != nil {
		return 0, err
	}
	if n := c.ready(into); n > 0 || len(into) == 0 {
		return n, nil
	}
	c.timer.Reset(wait)
	for {
		select {
		case first := <-c.buffer:
			if c.deliver(first, &into[0]) {
				return 1 + c.ready(into[1:]), nil
			}
		case <-c.timer.C:
			return 0, nil
		case <-ctx.Done():
			return 0, ctx.Err()
		case <-c.vanished:
			return 0, c.gone()
		case <-c.failed:
			return 0, c.gone()
		}
	}
}

// ready takes what can be had without waiting.
func (c *consumer) ready(into []broker.Delivery) (n int) {
	for n < len(into) {
		select {
		case next := <-c.buffer:
			if c.deliver(next, &into[n]) {
				n++
			}
		default:
			return n
		}
	}
	return n
}

// gone is the error of a consumer that can receive nothing any more.
func (c *consumer) gone() error {
	switch {
	case gone(c.vanished):
		return fmt.Errorf("kafka: consumer %s: %w", c.spec.Name, broker.ErrClosed)
	case gone(c.failed):
		return c.failure
	}
	return nil
}

// fail ends the session for good; the caller makes a new consumer.
func (c *consumer) fail(err error) {
	c.failOnce.Do(func() {
		c.failure = &broker.Error{Op: "receive", Answer: answerOf(err), Code: codeOf(err), Err: reached(err)}
		close(c.failed)
	})
}

// Close commits what was marked, if it commits by itself, and leaves the group. A static
// member does not leave: its partitions wait for it until its session ends (KIP-345).
func (c *consumer) Close(ctx context.Context) error {
	if !c.vanishes() {
		return nil
	}
	err := awaitDone(ctx, c.leave)
	c.sockets.cut()
	if err != nil {
		return fmt.Errorf("kafka: close of consumer %s: %w", c.spec.Name, err)
	}
	return nil
}

// Abandon cuts the sockets, also under a Close that is under way. The group hears
// nothing: the session of the member has to end.
func (c *consumer) Abandon() {
	c.notices.silent.Store(true)
	c.sockets.cut()
	if c.vanishes() {
		go func() { _ = c.leave() }() // without sockets nobody hears it
	}
}

// vanishes lets Receive and Settle know, and reports whether this call did.
func (c *consumer) vanishes() (first bool) {
	c.vanish.Do(func() {
		close(c.vanished)
		c.engine.clients.Leave(c)
		first = true
	})
	return first
}

// leave ends reading, then the membership, then the connections.
func (c *consumer) leave() error {
	c.stop()
	<-c.ended
	var err error
	if c.group != nil {
		err = c.group.Close()
	}
	c.readers.Close()
	c.client.Close()
	return err
}
