// SPDX-License-Identifier: Apache-2.0

package probe

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
)

// API keys and versions of the three requests; these versions are the oldest that Kafka 4
// still serves and have no tagged fields. https://kafka.apache.org/protocol.html
const (
	apiVersions     = 18 // version 0
	metadata        = 3  // version 1
	findCoordinator = 10 // version 1
)

const maxAnswer = 1 << 20 // bytes; a probe's answers are a few hundred

// Kafka asks the broker at address (host:port) whether it speaks the protocol, knows at
// least one live broker, and has a coordinator for consumer groups. The last makes a fresh
// broker create its offsets topic, so that the first consumer group does not pay for it.
func Kafka(ctx context.Context, address string) error {
	conn, err := dial(ctx, address)
	if err != nil {
		return err
	}
	defer conn.Close()
	answer, err := ask(conn, apiVersions, 0, nil)
	if err != nil {
		return fmt.Errorf("kafka api versions: %w", err)
	}
	if err := refusal("api versions", answer, 0); err != nil {
		return err
	}
	if err := kafkaBrokers(conn); err != nil {
		return err
	}
	return kafkaCoordinator(conn)
}

func kafkaBrokers(conn net.Conn) error {
	answer, err := ask(conn, metadata, 1, binary.BigEndian.AppendUint32(nil, 0)) // no topics
	if err != nil {
		return fmt.Errorf("kafka metadata: %w", err)
	}
	if len(answer) < 4 || binary.BigEndian.Uint32(answer) == 0 {
		return errors.New("kafka metadata: no live broker yet")
	}
	return nil
}

func kafkaCoordinator(conn net.Conn) error {
	const group = "harness-probe"
	body := binary.BigEndian.AppendUint16(nil, uint16(len(group)))
	body = append(append(body, group...), 0) // key type 0: a consumer group
	answer, err := ask(conn, findCoordinator, 1, body)
	if err != nil {
		return fmt.Errorf("kafka group coordinator: %w", err)
	}
	return refusal("group coordinator", answer, 4)
}

// refusal reads the error code at an offset of an answer.
func refusal(what string, answer []byte, at int) error {
	if len(answer) < at+2 {
		return fmt.Errorf("kafka %s: answer of %d bytes is too short", what, len(answer))
	}
	if code := int16(binary.BigEndian.Uint16(answer[at:])); code != 0 {
		return fmt.Errorf("kafka %s: error code %d", what, code)
	}
	return nil
}

// ask sends one request without client id and returns the answer behind its correlation id.
func ask(conn net.Conn, key, version uint16, body []byte) ([]byte, error) {
	const correlation = 7
	request := binary.BigEndian.AppendUint32(nil, uint32(10+len(body)))
	request = binary.BigEndian.AppendUint16(request, key)
	request = binary.BigEndian.AppendUint16(request, version)
	request = binary.BigEndian.AppendUint32(request, correlation)
	request = append(request, 0xff, 0xff) // null client id
	if _, err := conn.Write(append(request, body...)); err != nil {
		return nil, err
	}
	var head [8]byte
	if _, err := io.ReadFull(conn, head[:]); err != nil {
		return nil, err
	}
	size := binary.BigEndian.Uint32(head[:])
	if size < 4 || size > maxAnswer || binary.BigEndian.Uint32(head[4:]) != correlation {
		return nil, errors.New("the answer is not Kafka's protocol")
	}
	answer := make([]byte, size-4)
	_, err := io.ReadFull(conn, answer)
	return answer, err
}
