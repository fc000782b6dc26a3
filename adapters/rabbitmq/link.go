// SPDX-License-Identifier: Apache-2.0

package rabbitmq

import (
	"cmp"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"time"

	amqp "github.com/rabbitmq/amqp091-go"

	"github.com/seed-720a3c77/harness/broker"
)

// connectTimeout bounds dialling and the handshakes, also that of closing.
const connectTimeout = 10 * time.Second

// link is one AMQP connection with its socket in hand, so that it can be cut underneath
// the client.
type link struct {
	conn   *amqp.Connection
	socket net.Conn
}

// dial opens a connection whose name the broker's operators can see.
func dial(ctx context.Context, c Config, name string, heartbeat time.Duration) (*link, error) {
	ctx, cancel := context.WithTimeout(ctx, connectTimeout)
	defer cancel()
	socket, err := c.Dial(ctx, "tcp", c.Address)
	if err != nil {
		return nil, fmt.Errorf("rabbitmq at %s: tried TCP: %w: %w", c.Address, broker.ErrUnreachable, err)
	}
	release := context.AfterFunc(ctx, func() { socket.Close() })
	conn, err := handshake(ctx, c, socket, name, heartbeat)
	if !release() && err == nil {
		err = context.Cause(ctx)
	}
	if err != nil {
		socket.Close()
		return nil, refusal(ctx, c, err)
	}
	return &link{conn, socket}, nil
}

func handshake(ctx context.Context, c Config, socket net.Conn, name string, heartbeat time.Duration) (*amqp.Connection, error) {
	transport, err := secure(ctx, c, socket)
	if err != nil {
		return nil, err
	}
	properties := amqp.NewConnectionProperties()
	properties.SetClientConnectionName(name)
	return amqp.Open(transport, amqp.Config{
		SASL:       []amqp.Authentication{&amqp.PlainAuth{Username: c.User, Password: c.Password.Reveal()}},
		Vhost:      c.VHost,
		Heartbeat:  heartbeat,
		Properties: properties,
		Locale:     "en_US",
	})
}

func secure(ctx context.Context, c Config, socket net.Conn) (net.Conn, error) {
	if c.TLS == nil {
		return socket, nil
	}
	settings := c.TLS.Clone()
	if host, _, err := net.SplitHostPort(c.Address); err == nil {
		settings.ServerName = cmp.Or(settings.ServerName, host)
	}
	secured := tls.Client(socket, settings)
	return secured, secured.HandshakeContext(ctx)
}

// refusal says which address failed and what was tried.
func refusal(ctx context.Context, c Config, err error) error {
	tried := "AMQP 0-9-1 with user and password"
	if c.TLS != nil {
		tried += " over TLS"
	}
	if ctx.Err() != nil {
		err = context.Cause(ctx)
	}
	return fmt.Errorf("rabbitmq at %s: tried %s on vhost %q: %w: %w", c.Address, tried, c.VHost, handshakeKind(err), err)
}

// handshakeKind tells a refusal from a broker that is not there. RabbitMQ names a missing
// vhost or a limit with 530, credentials with 403 or by closing the socket.
func handshakeKind(err error) error {
	var said *amqp.Error
	if !errors.As(err, &said) {
		return broker.ErrUnreachable
	}
	if said.Code == amqp.AccessRefused || said.Code == amqp.NotAllowed {
		return broker.ErrDenied
	}
	return broker.ErrUnreachable
}

// channel opens a channel, and cuts the connection when ctx ends first.
func (l *link) channel(ctx context.Context) (*amqp.Channel, error) {
	defer context.AfterFunc(ctx, l.cut)()
	return l.conn.Channel()
}

// cut ends the connection as a crash would: the client learns of it from its socket.
func (l *link) cut() { l.socket.Close() }

// close leaves politely, and cuts when ctx ends or the broker does not answer in time.
func (l *link) close(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, connectTimeout)
	defer cancel()
	defer context.AfterFunc(ctx, l.cut)()
	if err := l.conn.Close(); err != nil && !errors.Is(err, amqp.ErrClosed) {
		return fmt.Errorf("rabbitmq: close the connection: %w", errors.Join(err, ctx.Err()))
	}
	return nil
}
