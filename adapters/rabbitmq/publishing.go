// SPDX-License-Identifier: Apache-2.0

package rabbitmq

import (
	"context"
	"fmt"
	"strconv"

	amqp "github.com/rabbitmq/amqp091-go"

	"github.com/seed-720a3c77/harness/contract"
	"github.com/seed-720a3c77/harness/msg"
)

// target is where basic.publish sends a message.
type target struct {
	exchange, key string
	rejects       bool
}

// refuseMessage names the first thing that a message asks for and this engine cannot do.
func (e *engine) refuseMessage(m *msg.Message) error {
	switch {
	case m.Delay > 0:
		return unsupported("publish %v: a delay", m.ID)
	case m.Dedup != "":
		return unsupported("publish %v: a deduplication id", m.ID)
	case m.TTL > 0 && !e.can(contract.MessageTTL):
		return unsupported("publish %v: a time to live", m.ID)
	case m.Priority > 0 && !e.can(contract.Priorities):
		return unsupported("publish %v: a priority", m.ID)
	}
	return nil
}

// target routes to an exchange by the message's routing key and to a queue by its name. A
// message with a routing key to something unknown is meant for an exchange.
func (p *producer) target(ctx context.Context, m *msg.Message) (target, error) {
	to, err := p.facts(ctx, m)
	if err != nil {
		return target{}, err
	}
	if to.exchange {
		return target{exchange: m.To, key: m.Route}, nil
	}
	return target{key: m.To, rejects: to.rejects}, nil
}

// facts asks the broker, once, about a destination that another process declared.
func (p *producer) facts(ctx context.Context, m *msg.Message) (facts, error) {
	if f, cached := p.routes[m.To]; cached {
		return f, nil
	}
	f, declared := p.engine.factsOf(m.To)
	switch {
	case declared:
	case m.Route != "":
		return facts{exchange: true}, nil
	default:
		exchange, err := p.engine.hasExchange(ctx, m.To)
		if err != nil {
			return facts{}, fmt.Errorf("rabbitmq: look for %s: %w", m.To, err)
		}
		f.exchange = exchange
	}
	p.routes[m.To] = f
	return f, nil
}

// seal fills the headers, which the client has written when its publish returns, and
// returns the envelope.
func (p *producer) seal(m *msg.Message) string {
	p.text = msg.Seal(p.spec.Run, m).Append(p.text[:0])
	envelope := string(p.text)
	clear(p.headers)
	for name, value := range m.Headers {
		p.headers[name] = value
	}
	if m.Key != "" {
		p.headers[msg.KeyHeader] = m.Key
	}
	p.headers[msg.HeaderName] = envelope
	return envelope
}

func (p *producer) publishing(m *msg.Message) amqp.Publishing {
	out := amqp.Publishing{Headers: p.headers, DeliveryMode: amqp.Persistent, Priority: m.Priority, Body: m.Body}
	if m.Transient {
		out.DeliveryMode = amqp.Transient
	}
	if m.TTL > 0 {
		out.Expiration = strconv.FormatInt(milliseconds(m.TTL), 10)
	}
	return out
}
