// SPDX-License-Identifier: Apache-2.0

package rabbitmq

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	amqp "github.com/rabbitmq/amqp091-go"

	"github.com/seed-720a3c77/harness/broker"
)

// adminTimeout bounds one exchange, so that a frozen broker is an error and not a hang.
const adminTimeout = 30 * time.Second

// admin is the connection for declarations and measurements, opened again when it died.
type admin struct {
	config Config

	mu     sync.Mutex
	link   *link
	closed bool
}

// do runs one exchange with the broker on a channel of its own, because a refusal closes
// the channel. When ctx ends first the connection is cut.
func (a *admin) do(ctx context.Context, use func(*amqp.Channel) error) error {
	a.mu.Lock()
	defer a.mu.Unlock()
	ctx, cancel := context.WithTimeout(ctx, adminTimeout)
	defer cancel()
	channel, err := a.channel(ctx)
	if err != nil {
		return err
	}
	defer context.AfterFunc(ctx, a.link.cut)()
	defer channel.Close()
	if err := use(channel); err != nil {
		return errors.Join(ctx.Err(), portError(err))
	}
	return nil
}

// channel tries a connection that turns out to be dead once more with a fresh one.
func (a *admin) channel(ctx context.Context) (*amqp.Channel, error) {
	if a.closed {
		return nil, fmt.Errorf("rabbitmq: engine: %w", broker.ErrClosed)
	}
	if channel, err := a.link.channel(ctx); err == nil {
		return channel, nil
	}
	a.link.cut()
	fresh, err := dial(ctx, a.config, "harness-admin", 0)
	if err != nil {
		return nil, err
	}
	a.link = fresh
	channel, err := fresh.channel(ctx)
	if err != nil {
		return nil, fmt.Errorf("rabbitmq at %s: open a channel: %w: %w", a.config.Address, broker.ErrUnreachable, err)
	}
	return channel, nil
}

func (a *admin) close(ctx context.Context) error {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.closed {
		return nil
	}
	a.closed = true
	return a.link.close(ctx)
}

// portError puts the port's word before what the broker said.
func portError(err error) error {
	var said *amqp.Error
	if !errors.As(err, &said) {
		return err
	}
	switch said.Code {
	case amqp.NotFound:
		return fmt.Errorf("%w: %w", broker.ErrNotFound, err)
	case amqp.AccessRefused, amqp.NotAllowed, amqp.ResourceLocked:
		return fmt.Errorf("%w: %w", broker.ErrDenied, err)
	}
	return err
}
