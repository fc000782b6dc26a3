// SPDX-License-Identifier: Apache-2.0

package probe

import (
	"context"
	"net"
	"time"
)

// patience bounds one try when the context has no deadline.
const patience = 5 * time.Second

// TCP tells whether something accepts connections at address (host:port).
func TCP(ctx context.Context, address string) error {
	conn, err := dial(ctx, address)
	if err != nil {
		return err
	}
	return conn.Close()
}

// dial connects and puts the deadline of ctx, or patience, on the whole conversation.
func dial(ctx context.Context, address string) (net.Conn, error) {
	deadline := time.Now().Add(patience)
	if d, ok := ctx.Deadline(); ok && d.Before(deadline) {
		deadline = d
	}
	conn, err := (&net.Dialer{Deadline: deadline}).DialContext(ctx, "tcp", address)
	if err != nil {
		return nil, err
	}
	return conn, conn.SetDeadline(deadline)
}
