// SPDX-License-Identifier: Apache-2.0

package kafka

import (
	"context"
	"net"
	"sync"
	"time"
)

// sockets opens the connections of one client and can cut them all under it, as the death
// of its process would: what the client wrote is still sent, nothing else is, and no
// goodbye. It is the proxy dialer of a client's configuration.
type sockets struct {
	dial    Dial
	timeout time.Duration

	ctx  context.Context // ends when the sockets are cut
	stop context.CancelFunc

	mu   sync.Mutex
	open map[*socket]struct{}
}

func newSockets(dial Dial, timeout time.Duration) *sockets {
	ctx, stop := context.WithCancel(context.Background())
	return &sockets{dial: dial, timeout: timeout, ctx: ctx, stop: stop, open: map[*socket]struct{}{}}
}

// Dial opens a connection, or fails at once when the sockets were cut.
func (s *sockets) Dial(network, address string) (net.Conn, error) {
	ctx, cancel := context.WithTimeout(s.ctx, s.timeout)
	defer cancel()
	conn, err := s.dial(ctx, network, address)
	if err != nil {
		return nil, err
	}
	return s.keep(conn)
}

func (s *sockets) keep(conn net.Conn) (net.Conn, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.ctx.Err(); err != nil {
		conn.Close()
		return nil, &net.OpError{Op: "dial", Net: "tcp", Err: err}
	}
	c := &socket{Conn: conn, owner: s}
	s.open[c] = struct{}{}
	return c, nil
}

// cut closes every connection and lets no other be opened. It may be called twice.
func (s *sockets) cut() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.stop()
	for c := range s.open {
		c.Conn.Close()
	}
	clear(s.open)
}

// socket tells its owner when the client closes it.
type socket struct {
	net.Conn
	owner *sockets
}

// Close closes the connection and forgets it.
func (c *socket) Close() error {
	c.owner.mu.Lock()
	delete(c.owner.open, c)
	c.owner.mu.Unlock()
	return c.Conn.Close()
}
