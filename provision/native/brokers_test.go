// SPDX-License-Identifier: Apache-2.0

//go:build linux || darwin

package native

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/seed-720a3c77/harness/internal/testenv"
	"github.com/seed-720a3c77/harness/provision"
)

// realProvider has the user's downloads and a cache of its own for the rest, so that it does
// not touch brokers that run.
func realProvider(t *testing.T) *Provider {
	t.Helper()
	root, err := (&Provider{}).root()
	if err != nil {
		t.Fatal(err)
	}
	install, cache := filepath.Join(root, "install"), t.TempDir()
	if err := os.MkdirAll(install, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(install, filepath.Join(cache, "install")); err != nil {
		t.Fatal(err)
	}
	return &Provider{Cache: cache, Progress: func(line string) { t.Log(line) }}
}

func TestKafkaRuns(t *testing.T)    { runs(t, provision.Kafka) }
func TestSQSRuns(t *testing.T)      { runs(t, provision.SQS) }
func TestRabbitMQRuns(t *testing.T) { runs(t, provision.RabbitMQ) }

// saysItReads are the files that a broker must name in its log; RabbitMQ starts without a
// word when it does not find one.
func saysItReads(r recipe) []string {
	if r.engine() == provision.RabbitMQ {
		return []string{"rabbitmq.conf", "advanced.config"}
	}
	return nil
}

func readsItsFiles(t *testing.T, r recipe, c corner, s site) {
	t.Helper()
	commands := r.commands(s)
	log, err := os.ReadFile(c.logPath(commands[len(commands)-1].Name))
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range saysItReads(r) {
		if !strings.Contains(string(log), ": "+filepath.Join(s.Dir, name)) {
			t.Errorf("%s did not read %s", r.engine(), name)
		}
	}
}

// runs takes one engine through its whole life: up, frozen, thawed, killed, restarted, down.
func runs(t *testing.T, engine string) {
	testenv.Need(t, "native")
	p := realProvider(t)
	r, c, err := p.prepare(engine)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { p.Down(context.Background(), engine) })
	timed := func(what string, do func() error) {
		t.Helper()
		start := time.Now()
		if err := do(); err != nil {
			t.Fatalf("%s: %v", what, err)
		}
		t.Logf("%s %s: %v", engine, what, time.Since(start).Round(time.Millisecond))
	}

	var e provision.Endpoint
	timed("up", func() (err error) { e, err = p.Up(t.Context(), engine); return err })
	timed("up again", func() error { _, err := p.Up(t.Context(), engine); return err })
	if e.Version == "" || len(e.Settings) == 0 || len(e.Nodes) != 1 {
		t.Errorf("endpoint %+v tells too little", e)
	}
	s, err := c.load()
	if err != nil {
		t.Fatal(err)
	}
	listensOnLoopbackOnly(t, s.Site)
	readsItsFiles(t, r, c, s.Site)

	node := e.Nodes[0]
	timed("control", func() error { return controlled(t, engine, node) })
	timed("freeze", func() error { return node.Freeze(t.Context()) })
	if _, err := r.ready(soon(t), s.Site); err == nil {
		t.Error("a frozen broker answers")
	}
	timed("thaw", func() error { return node.Thaw(t.Context()) })
	timed("answer", func() error { _, err := c.await(t.Context(), r, s); return err })
	timed("kill", func() error { return node.Kill(t.Context()) })
	if _, err := r.ready(soon(t), s.Site); err == nil {
		t.Error("a killed broker answers")
	}
	timed("restart", func() error { return node.Restart(t.Context()) })
	timed("down", func() error { return p.Down(t.Context(), engine) })
	if left := marked(s.Site.Dir); len(left) != 0 || exists(s.Site.Dir) {
		t.Errorf("left over: processes %v, data %v", left, exists(s.Site.Dir))
	}
}

// controlled asks the broker's own control program for something, where there is one.
func controlled(t *testing.T, engine string, node provision.Node) error {
	printed, err := node.Control(t.Context(), "status", "--formatter", "json")
	if engine != provision.RabbitMQ {
		if !errors.Is(err, errors.ErrUnsupported) {
			t.Errorf("Control() = %q, %v; there is no such program", printed, err)
		}
		return nil
	}
	if err == nil && !strings.Contains(printed, `"alarms"`) {
		t.Errorf("Control() = %q", printed)
	}
	return err
}

func soon(t *testing.T) context.Context {
	ctx, cancel := context.WithTimeout(t.Context(), time.Second)
	t.Cleanup(cancel)
	return ctx
}

// listensOnLoopbackOnly dials every port of a site at the machine's other addresses.
func listensOnLoopbackOnly(t *testing.T, s site) {
	t.Helper()
	addresses, err := net.InterfaceAddrs()
	if err != nil {
		t.Fatal(err)
	}
	for _, a := range addresses {
		network, ok := a.(*net.IPNet)
		if !ok || network.IP.IsLoopback() || network.IP.IsLinkLocalUnicast() {
			continue
		}
		for name, port := range s.Ports {
			address := net.JoinHostPort(network.IP.String(), fmt.Sprint(port))
			if conn, err := net.DialTimeout("tcp", address, time.Second); err == nil {
				conn.Close()
				t.Errorf("port %s listens at %s", name, address)
			}
		}
	}
}
