// SPDX-License-Identifier: Apache-2.0

package rabbitmq

import (
	"context"
	"fmt"

	amqp "github.com/rabbitmq/amqp091-go"

	"github.com/seed-720a3c77/harness/broker"
)

// live returns an open channel. After a channel exception it opens the next one, after a
// lost connection also the next connection.
func (p *producer) live(ctx context.Context) (*outlet, error) {
	p.mu.Lock()
	l, o := p.link, p.outlet
	p.mu.Unlock()
	if o != nil && !o.channel.IsClosed() {
		return o, nil
	}
	if err := p.settled(ctx, o); err != nil {
		return nil, err
	}
	if l == nil || l.conn.IsClosed() {
		var err error
		if l, err = p.connect(ctx); err != nil {
			return nil, err
		}
	}
	return p.openChannel(ctx, l)
}

// settled waits until everything on a dead channel is answered, so that the notice of its
// end comes before the next one's beginning.
func (p *producer) settled(ctx context.Context, o *outlet) error {
	if o == nil {
		return nil
	}
	select {
	case <-o.ended:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (p *producer) connect(ctx context.Context) (*link, error) {
	l, err := dial(ctx, p.engine.config, p.spec.Name, p.engine.profile.Session.Default)
	if err != nil {
		return nil, err
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.shut {
		l.cut()
		return nil, p.closed()
	}
	p.link = l
	go watchBlocked(l.conn, p.notify)
	return l, nil
}

func (p *producer) openChannel(ctx context.Context, l *link) (*outlet, error) {
	defer context.AfterFunc(ctx, l.cut)()
	channel, err := l.conn.Channel()
	if err != nil {
		return nil, fmt.Errorf("rabbitmq: producer %s: open a channel: %w", p.spec.Name, err)
	}
	if !p.spec.NoConfirms {
		if err := channel.Confirm(false); err != nil {
			return nil, fmt.Errorf("rabbitmq: producer %s: confirm mode: %w", p.spec.Name, err)
		}
	}
	o := newOutlet(channel, p.engine.epochs.Add(1), p.spec.InFlight, p.spec.Timeout)
	o.answer = p.answer
	p.notify(broker.Notice{Kind: broker.SessionOpen, Epoch: o.epoch, Text: "channel of " + p.spec.Name})
	go p.attend(o, listenTo(channel))
	p.mu.Lock()
	defer p.mu.Unlock()
	p.outlet = o
	return o, nil
}

// attend listens to a channel until it ends.
func (p *producer) attend(o *outlet, s signals) {
	defer close(o.ended)
	cause := o.listen(s)
	p.notify(closeNotice(o.epoch, cause))
}

// closeNotice tells why a channel ended: cause is nil if this side closed it.
func closeNotice(epoch uint32, cause *amqp.Error) broker.Notice {
	n := broker.Notice{Kind: broker.SessionClose, Epoch: epoch, Code: code(cause), Text: "closed by this client"}
	if cause != nil {
		n.Text = cause.Reason
	}
	return n
}

// watchBlocked passes on that the broker stopped or resumed reading from publishers.
// https://www.rabbitmq.com/docs/connection-blocked
func watchBlocked(conn *amqp.Connection, notify func(broker.Notice)) {
	for b := range conn.NotifyBlocked(make(chan amqp.Blocking, 1)) {
		kind := broker.Unblocked
		if b.Active {
			kind = broker.Blocked
		}
		notify(broker.Notice{Kind: kind, Text: b.Reason})
	}
}
