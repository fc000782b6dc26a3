// SPDX-License-Identifier: Apache-2.0

package probe

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
)

// RabbitMQ greets the AMQP 0-9-1 server at address (host:port) and returns the version that
// it tells in connection.start, which it sends before any authentication.
// https://www.rabbitmq.com/resources/specs/amqp0-9-1.pdf sections 2.2.4 and 2.3.5
func RabbitMQ(ctx context.Context, address string) (version string, err error) {
	conn, err := dial(ctx, address)
	if err != nil {
		return "", err
	}
	defer conn.Close()
	if _, err := io.WriteString(conn, "AMQP\x00\x00\x09\x01"); err != nil {
		return "", fmt.Errorf("amqp greeting: %w", err)
	}
	var head [7]byte // frame type, channel, size
	if _, err := io.ReadFull(conn, head[:]); err != nil {
		return "", fmt.Errorf("amqp connection.start: %w", err)
	}
	size := binary.BigEndian.Uint32(head[3:])
	if head[0] != 1 || size < 4 || size > maxAnswer {
		return "", errors.New("amqp connection.start: the answer is not AMQP 0-9-1")
	}
	start := make([]byte, size)
	if _, err := io.ReadFull(conn, start); err != nil {
		return "", fmt.Errorf("amqp connection.start: %w", err)
	}
	return serverVersion(start)
}

// serverVersion finds the long string called version in the server properties.
func serverVersion(start []byte) (string, error) {
	if !bytes.HasPrefix(start, []byte{0, 10, 0, 10}) {
		return "", errors.New("amqp: the server did not begin with connection.start")
	}
	_, rest, found := bytes.Cut(start, []byte("\x07versionS"))
	if !found || len(rest) < 4 {
		return "", nil
	}
	size := binary.BigEndian.Uint32(rest)
	if int64(size) > int64(len(rest)-4) {
		return "", errors.New("amqp: server properties are cut short")
	}
	return string(rest[4 : 4+size]), nil
}
