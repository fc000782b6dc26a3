// SPDX-License-Identifier: Apache-2.0

package rabbitmq

import (
	"context"
	"errors"
	"fmt"

	amqp "github.com/rabbitmq/amqp091-go"

	"github.com/seed-720a3c77/harness/broker"
)

// Declare creates durable queues and exchanges, all of them or none.
func (e *engine) Declare(ctx context.Context, t broker.Topology) error {
	if err := e.check(ctx, t.Destinations); err != nil {
		return err
	}
	for i, d := range t.Destinations {
		if err := e.create(ctx, d); err != nil {
			return errors.Join(err, e.Remove(ctx, names(t.Destinations[:i+1])...))
		}
	}
	for _, d := range t.Destinations {
		if err := e.bind(ctx, d); err != nil {
			return errors.Join(err, e.Remove(ctx, names(t.Destinations)...))
		}
	}
	return nil
}

func names(all []broker.Destination) []string {
	out := make([]string, len(all))
	for i, d := range all {
		out[i] = d.Name
	}
	return out
}

// check refuses what cannot be done or is there already, before anything is created.
func (e *engine) check(ctx context.Context, all []broker.Destination) error {
	seen := map[string]bool{}
	for _, d := range all {
		if err := e.refuse(d); err != nil {
			return err
		}
	}
	for _, d := range all {
		exists, err := e.exists(ctx, d)
		if err != nil {
			return fmt.Errorf("rabbitmq: look for %s: %w", d.Name, err)
		}
		if exists || seen[d.Name] {
			return fmt.Errorf("rabbitmq: declare %s: %w", d.Name, broker.ErrExists)
		}
		seen[d.Name] = true
	}
	return nil
}

func (e *engine) exists(ctx context.Context, d broker.Destination) (bool, error) {
	if d.Kind == broker.Exchange {
		return e.hasExchange(ctx, d.Name)
	}
	return found(e.admin.do(ctx, func(channel *amqp.Channel) error {
		_, err := channel.QueueDeclarePassive(d.Name, true, false, false, false, nil)
		return err
	}))
}

// hasExchange asks passively, for which the broker ignores the kind.
func (e *engine) hasExchange(ctx context.Context, name string) (bool, error) {
	return found(e.admin.do(ctx, func(channel *amqp.Channel) error {
		return channel.ExchangeDeclarePassive(name, amqp.ExchangeDirect, true, false, false, false, nil)
	}))
}

// found reads the answer to a passive declaration: denied means that it is there.
func found(err error) (bool, error) {
	switch {
	case errors.Is(err, broker.ErrNotFound):
		return false, nil
	case errors.Is(err, broker.ErrDenied):
		return true, nil
	}
	return err == nil, err
}

func (e *engine) create(ctx context.Context, d broker.Destination) error {
	err := e.admin.do(ctx, func(channel *amqp.Channel) error {
		if d.Kind == broker.Exchange {
			return channel.ExchangeDeclare(d.Name, exchangeType(d), true, false, false, false, native(d))
		}
		_, err := channel.QueueDeclare(d.Name, true, false, false, false, e.arguments(d))
		return err
	})
	if err != nil {
		return fmt.Errorf("rabbitmq: declare %s: %w", d.Name, err)
	}
	e.learn(d.Name, e.factsFrom(d))
	return nil
}

// exchangeType is fan-out unless a binding has a routing key.
func exchangeType(d broker.Destination) string {
	for _, key := range d.Bindings {
		if key != "" {
			return amqp.ExchangeDirect
		}
	}
	return amqp.ExchangeFanout
}

func native(d broker.Destination) amqp.Table {
	args := amqp.Table{}
	for name, value := range d.Native {
		args[name] = typed(value)
	}
	return args
}

func (e *engine) bind(ctx context.Context, d broker.Destination) error {
	for queue, key := range d.Bindings {
		err := e.admin.do(ctx, func(channel *amqp.Channel) error {
			return channel.QueueBind(queue, key, d.Name, false, nil)
		})
		if err != nil {
			return fmt.Errorf("rabbitmq: bind %s to %s: %w", queue, d.Name, err)
		}
	}
	return nil
}

// Remove deletes queues and exchanges; the broker answers ok for one that is gone. A name
// that another process declared is deleted as both.
func (e *engine) Remove(ctx context.Context, names ...string) error {
	var all []error
	for _, name := range names {
		if err := e.remove(ctx, name); err != nil {
			all = append(all, fmt.Errorf("rabbitmq: remove %s: %w", name, err))
			continue
		}
		e.forget(name)
	}
	return errors.Join(all...)
}

func (e *engine) remove(ctx context.Context, name string) error {
	f, declared := e.factsOf(name)
	return e.admin.do(ctx, func(channel *amqp.Channel) error {
		if f.exchange || !declared {
			if err := channel.ExchangeDelete(name, false, false); err != nil {
				return err
			}
		}
		if f.exchange {
			return nil
		}
		_, err := channel.QueueDelete(name, false, false, false)
		return err
	})
}

// Purge drops what is ready; what is unacked stays with its consumers.
func (e *engine) Purge(ctx context.Context, destination string) error {
	err := e.admin.do(ctx, func(channel *amqp.Channel) error {
		_, err := channel.QueuePurge(destination, false)
		return err
	})
	if err != nil {
		return fmt.Errorf("rabbitmq: purge %s: %w", destination, err)
	}
	return nil
}
