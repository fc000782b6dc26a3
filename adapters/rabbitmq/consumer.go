// SPDX-License-Identifier: Apache-2.0

package rabbitmq

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"sync"
	"time"

	amqp "github.com/rabbitmq/amqp091-go"

	"github.com/seed-720a3c77/harness/broker"
	"github.com/seed-720a3c77/harness/contract"
)

// defaultPrefetch is the push window where neither Prefetch nor Batch is set. Without one
// the broker would push everything into the client's unbounded buffer.
const defaultPrefetch = 100

type consumer struct {
	engine     *engine
	spec       broker.ConsumerSpec
	link       *link
	channel    settler
	deliveries <-chan amqp.Delivery
	epoch      uint32
	lease      time.Duration
	timer      *time.Timer

	// gone is closed by Close and Abandon, cancelled when the broker ends the
	// subscription, over when the channel ended, for the reason in cause.
	gone, cancelled, over chan struct{}
	cause                 *amqp.Error

	mu     sync.Mutex
	shut   bool
	silent bool
}

// Consumer opens a connection and a channel and subscribes. With AutoAck the broker knows
// no window: it pushes everything into the client's buffer.
func (e *engine) Consumer(ctx context.Context, spec broker.ConsumerSpec) (broker.Consumer, error) {
	if err := refuseConsumer(spec); err != nil {
		return nil, err
	}
	f, _ := e.factsOf(spec.From)
	if spec.Exclusive && !f.single && e.config.Queue == Quorum {
		return nil, unsupported("consumer %s: exclusive: a quorum queue accepts it and ignores it (declare %s)", spec.Name, singleActiveConsumer)
	}
	c := &consumer{
		engine: e, spec: spec, epoch: e.epochs.Add(1), lease: e.leaseOf(f, spec.AutoAck), timer: time.NewTimer(time.Hour),
		gone: make(chan struct{}), cancelled: make(chan struct{}), over: make(chan struct{}),
	}
	if err := e.clients.Enter(c); err != nil {
		return nil, err
	}
	if err := c.open(ctx, spec.Exclusive && !f.single); err != nil {
		c.leave(true)
		return nil, fmt.Errorf("rabbitmq: consumer %s of %s: %w", spec.Name, spec.From, err)
	}
	return c, nil
}

func refuseConsumer(spec broker.ConsumerSpec) error {
	switch {
	case spec.AutoCommit > 0:
		return unsupported("consumer %s: automatic commit: a queue has no positions", spec.Name)
	case spec.Start != broker.Earliest:
		return unsupported("consumer %s: start %q: a queue has no positions", spec.Name, spec.Start)
	case spec.StaticID != "" || spec.Strategy != "":
		return unsupported("consumer %s: membership of a group", spec.Name)
	case pushWindow(spec) > math.MaxUint16:
		return unsupported("consumer %s: prefetch %d (at most %d)", spec.Name, pushWindow(spec), math.MaxUint16)
	}
	return nil
}

func pushWindow(spec broker.ConsumerSpec) int {
	return cmp.Or(spec.Prefetch, spec.Batch, defaultPrefetch)
}

// leaseOf is how long a delivery may stay unsettled, where that is known to be enforced.
func (e *engine) leaseOf(f facts, autoAck bool) time.Duration {
	if autoAck {
		return 0
	}
	if f.lease > 0 {
		return f.lease
	}
	return e.config.ConsumerTimeout
}

func (c *consumer) open(ctx context.Context, exclusive bool) error {
	heartbeat := c.engine.profile.Session.Default
	if c.spec.Session > 0 {
		heartbeat = c.engine.profile.Session.Fit(c.spec.Session)
	}
	l, err := dial(ctx, c.engine.config, c.spec.Name, heartbeat)
	if err != nil {
		return err
	}
	defer context.AfterFunc(ctx, l.cut)()
	c.link = l
	if err := c.subscribe(exclusive); err != nil {
		l.cut()
		return errors.Join(ctx.Err(), portError(err))
	}
	return nil
}

func (c *consumer) subscribe(exclusive bool) error {
	channel, err := c.link.conn.Channel()
	if err != nil {
		return err
	}
	closed := channel.NotifyClose(make(chan *amqp.Error, 1))
	cancels := channel.NotifyCancel(make(chan string))
	if err := channel.Qos(pushWindow(c.spec), 0, false); err != nil {
		return err
	}
	c.notify(broker.Notice{Kind: broker.SessionOpen, Epoch: c.epoch, Text: "channel of " + c.spec.Name})
	go c.watch(closed, cancels)
	go watchBlocked(c.link.conn, c.notify)
	c.channel = channel
	c.deliveries, err = channel.Consume(c.spec.From, c.spec.Name, c.spec.AutoAck, exclusive, false, false, nil)
	return err
}

// watch waits for the end of the channel or of the subscription.
func (c *consumer) watch(closed <-chan *amqp.Error, cancels <-chan string) {
	defer close(c.over)
	for {
		select {
		case _, open := <-cancels:
			if !open {
				cancels = nil
				continue
			}
			close(c.cancelled)
			c.notify(broker.Notice{Kind: broker.SessionClose, Epoch: c.epoch, Code: "basic.cancel", Text: errCancelled.Error()})
		case c.cause = <-closed:
			c.notify(closeNotice(c.epoch, c.cause))
			return
		}
	}
}

// errCancelled is what a consumer hears whose queue went away.
var errCancelled = errors.New("the broker cancelled the consumer: its queue was deleted or moved")

func (c *consumer) notify(n broker.Notice) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.silent && c.spec.Notify != nil {
		c.spec.Notify(n)
	}
}

// Seek answers ErrUnsupported.
func (c *consumer) Seek(context.Context, int32, int64) error { return unsupported("seek") }

// Pause answers ErrUnsupported: without a cancel the broker goes on pushing.
func (c *consumer) Pause(context.Context) error { return unsupported("pause") }

// Resume answers ErrUnsupported.
func (c *consumer) Resume(context.Context) error { return unsupported("resume") }

// Close leaves politely; what is unsettled goes back to the queue.
func (c *consumer) Close(ctx context.Context) error {
	if !c.leave(false) {
		return nil
	}
	return c.link.close(ctx)
}

// Abandon cuts the socket. No notice comes after it.
func (c *consumer) Abandon() {
	if c.leave(true) {
		c.link.cut()
	}
}

// leave ends the consumer and tells whether this was the first call.
func (c *consumer) leave(silent bool) (first bool) {
	c.engine.clients.Leave(c)
	c.mu.Lock()
	defer c.mu.Unlock()
	c.silent = c.silent || silent
	first = !c.shut
	if first {
		c.shut = true
		close(c.gone)
	}
	return first
}

func (c *consumer) closed() error {
	return fmt.Errorf("rabbitmq: consumer %s: %w", c.spec.Name, broker.ErrClosed)
}

func (c *consumer) left() bool {
	select {
	case <-c.gone:
		return true
	default:
		return false
	}
}

// counted tells whether deliveries carry a count.
func (c *consumer) counted() bool { return c.engine.can(contract.DeliveryCount) }
