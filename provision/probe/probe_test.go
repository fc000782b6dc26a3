// SPDX-License-Identifier: Apache-2.0

package probe

import (
	"encoding/binary"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

// serve answers one connection and returns the address.
func serve(t *testing.T, talk func(net.Conn)) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	go func() {
		conn, err := l.Accept()
		if err != nil {
			return
		}
		defer conn.Close()
		talk(conn)
	}()
	return l.Addr().String()
}

// kafkaBroker answers requests by their key, until one has no answer.
func kafkaBroker(t *testing.T, answers map[uint16]string) string {
	return serve(t, func(conn net.Conn) {
		for {
			var size [4]byte
			if _, err := io.ReadFull(conn, size[:]); err != nil {
				return
			}
			request := make([]byte, binary.BigEndian.Uint32(size[:]))
			if _, err := io.ReadFull(conn, request); err != nil {
				return
			}
			answer, ok := answers[binary.BigEndian.Uint16(request)]
			if !ok {
				return
			}
			head := binary.BigEndian.AppendUint32(nil, uint32(4+len(answer)))
			conn.Write(append(append(head, request[4:8]...), answer...))
		}
	})
}

func TestKafka(t *testing.T) {
	const fine, oneBroker, coordinator = "\x00\x00", "\x00\x00\x00\x01", "\x00\x00\x00\x00\x00\x00"
	for name, tc := range map[string]struct {
		answers map[uint16]string
		fails   string // part of the error, "" for ready
	}{
		"ready":             {map[uint16]string{apiVersions: fine, metadata: oneBroker, findCoordinator: coordinator}, ""},
		"versions refused":  {map[uint16]string{apiVersions: "\x00\x23"}, "api versions: error code 35"},
		"no broker yet":     {map[uint16]string{apiVersions: fine, metadata: "\x00\x00\x00\x00"}, "no live broker"},
		"no coordinator":    {map[uint16]string{apiVersions: fine, metadata: oneBroker, findCoordinator: "\x00\x00\x00\x00\x00\x0f"}, "error code 15"},
		"short coordinator": {map[uint16]string{apiVersions: fine, metadata: oneBroker, findCoordinator: "\x00"}, "too short"},
		"hangs up":          {nil, "EOF"},
	} {
		err := Kafka(t.Context(), kafkaBroker(t, tc.answers))
		if (tc.fails == "") != (err == nil) || (err != nil && !strings.Contains(err.Error(), tc.fails)) {
			t.Errorf("%s: %v, want %q", name, err, tc.fails)
		}
	}
}

func TestKafkaAgainstAnotherProtocol(t *testing.T) {
	address := serve(t, func(conn net.Conn) {
		io.WriteString(conn, "HTTP/1.1 400 Bad Request\r\n\r\n")
		io.Copy(io.Discard, conn)
	})
	if err := Kafka(t.Context(), address); err == nil || !strings.Contains(err.Error(), "not Kafka's protocol") {
		t.Errorf("Kafka() = %v", err)
	}
}

func TestRabbitMQ(t *testing.T) {
	frame := func(payload string) string {
		return "\x01\x00\x00" + string(binary.BigEndian.AppendUint32(nil, uint32(len(payload)))) + payload + "\xce"
	}
	const start = "\x00\x0a\x00\x0a\x00\x09"
	for name, tc := range map[string]struct {
		answer, version string
		ok              bool
	}{
		"version":         {frame(start + "\x07versionS\x00\x00\x00\x054.0.5tail"), "4.0.5", true},
		"no version":      {frame(start), "", true},
		"cut short":       {frame(start + "\x07versionS\x00\x00\x00\x094.0.5"), "", false},
		"other method":    {frame("\x00\x0a\x00\x32\x00\x00"), "", false},
		"other protocol":  {"HTTP/1.1 400 Bad", "", false},
		"protocol header": {"AMQP\x00\x01\x00\x00", "", false},
		"nothing":         {"", "", false},
	} {
		address := serve(t, func(conn net.Conn) {
			io.ReadFull(conn, make([]byte, 8))
			io.WriteString(conn, tc.answer)
		})
		version, err := RabbitMQ(t.Context(), address)
		if version != tc.version || tc.ok != (err == nil) {
			t.Errorf("%s: %q, %v", name, version, err)
		}
	}
}

func TestLocalStackAndSQS(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch {
		case r.URL.Path == "/_localstack/health":
			io.WriteString(w, `{"version": "4.9.0"}`)
		case r.Header.Get("X-Amz-Target") == "AmazonSQS.ListQueues":
			io.WriteString(w, `{}`)
		default:
			http.Error(w, "no", http.StatusBadRequest)
		}
	}))
	defer server.Close()
	if version, err := LocalStack(t.Context(), server.URL+"/"); version != "4.9.0" || err != nil {
		t.Errorf("LocalStack() = %q, %v", version, err)
	}
	if err := SQS(t.Context(), server.URL); err != nil {
		t.Errorf("SQS() = %v", err)
	}
	if _, err := LocalStack(t.Context(), server.URL+"/elsewhere"); err == nil {
		t.Error("LocalStack() took a refusal for health")
	}
}

func TestTCP(t *testing.T) {
	if err := TCP(t.Context(), serve(t, func(net.Conn) {})); err != nil {
		t.Errorf("listening: %v", err)
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	l.Close()
	var refused *net.OpError
	if err := TCP(t.Context(), l.Addr().String()); !errors.As(err, &refused) {
		t.Errorf("closed: %v", err)
	}
}
