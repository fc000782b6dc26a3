// SPDX-License-Identifier: Apache-2.0

package provision

import (
	"errors"
	"io"
	"net"
	"strings"
	"testing"
)

// listen answers every connection by serve and returns the address.
func listen(t *testing.T, serve func(net.Conn)) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	go func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			serve(conn)
			conn.Close()
		}
	}()
	return l.Addr().String()
}

// closedAddress is one that nothing listens on.
func closedAddress(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return l.Addr().String()
}

func external(set map[string]string) *External {
	return &External{Getenv: func(name string) string { return set[name] }, resolver: hosts{"far": {"10.0.0.7"}}}
}

func TestExternalWithoutAnAddressIsUnavailable(t *testing.T) {
	for _, engine := range Engines() {
		_, err := external(nil).Up(t.Context(), engine)
		if !errors.Is(err, ErrUnavailable) || !strings.Contains(err.Error(), variable(engine, "")) {
			t.Errorf("%s: %v, want ErrUnavailable that names the variable", engine, err)
		}
	}
}

func TestExternalTakesTheFlagBeforeTheEnvironment(t *testing.T) {
	up := listen(t, func(net.Conn) {})
	x := external(map[string]string{"HARNESS_KAFKA": closedAddress(t)})
	x.Addresses = map[string]string{Kafka: up}
	e, err := x.Up(t.Context(), Kafka)
	if err != nil || e.Address != up || e.Provider != "external" {
		t.Errorf("Up() = %+v, %v, want the address %s", e, err, up)
	}
}

func TestExternalWantsOneOfTheAddressesToAnswer(t *testing.T) {
	up, down := listen(t, func(net.Conn) {}), closedAddress(t)
	if _, err := external(map[string]string{"HARNESS_KAFKA": down + "," + up}).Up(t.Context(), Kafka); err != nil {
		t.Errorf("one of two answers: %v", err)
	}
	_, err := external(map[string]string{"HARNESS_KAFKA": down}).Up(t.Context(), Kafka)
	if err == nil || errors.Is(err, ErrUnavailable) {
		t.Fatalf("nothing answers: %v, want a failure that is not ErrUnavailable", err)
	}
	for _, part := range []string{down, "TCP connect", "5s"} {
		if !strings.Contains(err.Error(), part) {
			t.Errorf("error %q does not name %q", err, part)
		}
	}
}

func TestExternalRefusesRemoteAddresses(t *testing.T) {
	x := external(map[string]string{"HARNESS_RABBITMQ": "far:5672"})
	if _, err := x.Up(t.Context(), RabbitMQ); !errors.Is(err, ErrAddress) || !strings.Contains(err.Error(), "--allow-remote") {
		t.Errorf("Up() = %v, want ErrAddress with the flag that allows it", err)
	}
}

func TestExternalAsksRabbitMQForItsVersion(t *testing.T) {
	properties := "\x07versionS\x00\x00\x00\x063.10.8"
	start := "\x00\x0a\x00\x0a\x00\x09" + properties
	frame := "\x01\x00\x00\x00\x00\x00" + string(rune(len(start))) + start + "\xce"
	address := listen(t, func(conn net.Conn) {
		io.ReadFull(conn, make([]byte, 8))
		io.WriteString(conn, frame)
	})
	e, err := external(map[string]string{"HARNESS_RABBITMQ": address}).Up(t.Context(), RabbitMQ)
	if err != nil || e.Version != "3.10.8" {
		t.Errorf("Up() = version %q, %v", e.Version, err)
	}

	silent := listen(t, func(net.Conn) {})
	if _, err := external(map[string]string{"HARNESS_RABBITMQ": silent}).Up(t.Context(), RabbitMQ); err == nil {
		t.Error("a server that does not speak AMQP was accepted")
	}
}

func TestExternalStatusListsWhatIsConfigured(t *testing.T) {
	x := external(map[string]string{"HARNESS_KAFKA": closedAddress(t), "HARNESS_SQS": "http://k:hunter2@127.0.0.1:1"})
	got, err := x.Status(t.Context())
	if len(got) != 2 || got[0].Engine != Kafka || got[1].Engine != SQS || got[1].Address != "" {
		t.Errorf("Status() = %+v", got)
	}
	if !errors.Is(err, ErrAddress) || strings.Contains(err.Error(), "hunter2") {
		t.Errorf("Status() error = %v", err)
	}
}
