// SPDX-License-Identifier: Apache-2.0

package rabbitmq

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"errors"
	"fmt"
	"github.com/seed-720a3c77/harness/contract"
	"io"
	"net"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	amqp "github.com/rabbitmq/amqp091-go"

	"github.com/seed-720a3c77/harness/broker"
	"github.com/seed-720a3c77/harness/contract/profiles"
	"github.com/seed-720a3c77/harness/internal/testenv"
)

func TestPasswordIsNeverShown(t *testing.T) {
	c := Config{User: "u", Password: contract.NewSecret("swordfish")}
	encoded, err := json.Marshal(struct{ Password contract.Secret }{c.Password})
	if err != nil {
		t.Fatal(err)
	}
	hidden := struct{ inner Config }{c}
	for _, text := range []string{
		fmt.Sprint(c), fmt.Sprintf("%+v", c), fmt.Sprintf("%#v", c), fmt.Sprintf("%x", c.Password),
		fmt.Sprintf("%+v", hidden), fmt.Sprintf("%#v", hidden), string(encoded),
	} {
		if strings.Contains(text, "swordfish") || strings.Contains(text, fmt.Sprintf("%x", "swordfish")) {
			t.Errorf("the password shows in %s", text)
		}
	}
}

func TestBadConfig(t *testing.T) {
	for _, c := range []Config{{}, {Address: "127.0.0.1:1", Queue: "stream"}} {
		if _, err := Open(t.Context(), c); err == nil {
			t.Errorf("%+v was opened", c)
		}
	}
}

func TestUnreachableNamesTheAddress(t *testing.T) {
	closed := listen(t)
	closed.Close()
	web := listen(t)
	go serve(web, "HTTP/1.1 400 Bad Request\r\n\r\n")
	for what, address := range map[string]string{
		"nobody listens": closed.Addr().String(),
		"no AMQP":        web.Addr().String(),
	} {
		_, err := Open(t.Context(), Config{Address: address})
		if !errors.Is(err, broker.ErrUnreachable) || !strings.Contains(err.Error(), address) {
			t.Errorf("%s: %v; want ErrUnreachable with the address", what, err)
		}
	}
}

func TestSilentPeerEndsWithTheContext(t *testing.T) {
	silent := listen(t)
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	_, err := Open(ctx, Config{Address: silent.Addr().String()})
	if !errors.Is(err, broker.ErrUnreachable) || !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("%v; want ErrUnreachable and the deadline", err)
	}
}

// serve says one thing to everybody, until the listener is closed.
func serve(l net.Listener, text string) {
	for {
		conn, err := l.Accept()
		if err != nil {
			return
		}
		io.WriteString(conn, text)
		conn.Close()
	}
}

func listen(t *testing.T) net.Listener {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	return l
}

func TestUnknownVersionSaysSo(t *testing.T) {
	conn := &amqp.Connection{Properties: amqp.Table{"version": "9.1.0"}}
	profile, exact, err := profiles.For("rabbitmq", "9.1.0", Quorum)
	if err != nil {
		t.Fatal(err)
	}
	if note := settings(Config{}, conn, profile, exact)["profile-note"]; !strings.Contains(note, "9.1.0") || !strings.Contains(note, profile.Name) {
		t.Errorf("note %q; want the version and the profile taken", note)
	}
}

func TestKnownTimeoutsAreInTheProfile(t *testing.T) {
	profile, _, _ := profiles.For("rabbitmq", "3.10.8", Classic)
	p := fitted(profile, Config{ConsumerTimeout: 3 * time.Second, ChannelTick: time.Second})
	if p.Lease.Default != 3*time.Second || p.Lease.Tick != time.Second {
		t.Errorf("lease %+v", p.Lease)
	}
}

func TestDenied(t *testing.T) {
	address := testenv.Broker(t, "rabbitmq")
	for _, c := range []Config{
		{Address: address, User: "nobody", Password: contract.NewSecret("swordfish")},
		{Address: address, VHost: "no-such-vhost"},
	} {
		_, err := Open(t.Context(), c)
		if !errors.Is(err, broker.ErrDenied) || !strings.Contains(err.Error(), address) || strings.Contains(err.Error(), "swordfish") {
			t.Errorf("user %q vhost %q: %v; want ErrDenied with the address", c.User, c.VHost, err)
		}
	}
}

func TestProfileIsThatOfTheServer(t *testing.T) {
	e := open(t, Config{Queue: Classic})
	version := e.Settings()["server.version"]
	want, _, _ := profiles.For("rabbitmq", version, Classic)
	if version == "" || e.Profile().Name != want.Name {
		t.Errorf("version %q has profile %s, want %s", version, e.Profile().Name, want.Name)
	}
}

// TestTLS speaks to the broker through a listener that takes the TLS off.
func TestTLS(t *testing.T) {
	address := testenv.Broker(t, "rabbitmq")
	certified := httptest.NewTLSServer(nil)
	defer certified.Close()
	front := tls.NewListener(listen(t), &tls.Config{Certificates: certified.TLS.Certificates})
	go forward(front, address)
	roots := x509.NewCertPool()
	roots.AddCert(certified.Certificate())
	e, err := Open(t.Context(), Config{Address: front.Addr().String(), TLS: &tls.Config{RootCAs: roots}})
	if err != nil {
		t.Fatalf("open over TLS: %v", err)
	}
	defer e.Close(context.Background())
	if e.Settings()["tls"] != "true" {
		t.Errorf("settings %v do not tell of TLS", e.Settings())
	}
	if _, err := Open(t.Context(), Config{Address: front.Addr().String(), TLS: &tls.Config{}}); !errors.Is(err, broker.ErrUnreachable) {
		t.Errorf("an unknown authority: %v, want ErrUnreachable", err)
	}
}

// forward copies between each accepted connection and one to address.
func forward(l net.Listener, address string) {
	for {
		in, err := l.Accept()
		if err != nil {
			return
		}
		out, err := net.Dial("tcp", address)
		if err != nil {
			in.Close()
			continue
		}
		go func() { defer out.Close(); io.Copy(out, in) }()
		go func() { defer in.Close(); io.Copy(in, out) }()
	}
}

func TestLease(t *testing.T) {
	e := &engine{config: Config{ConsumerTimeout: time.Minute}}
	for _, c := range []struct {
		f       facts
		autoAck bool
		want    time.Duration
	}{
		{facts{}, false, time.Minute},
		{facts{lease: time.Second}, false, time.Second},
		{facts{lease: time.Second}, true, 0},
	} {
		if got := e.leaseOf(c.f, c.autoAck); got != c.want {
			t.Errorf("%+v, auto ack %t: lease %v, want %v", c.f, c.autoAck, got, c.want)
		}
	}
}
