// SPDX-License-Identifier: Apache-2.0

package docker

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
	"github.com/seed-720a3c77/harness/provision/probe"
)

// dockerProvider owns containers that no user has. Its folder is always the same, so that a
// test sweeps what one left behind that was killed.
func dockerProvider(t *testing.T, engine string) *Provider {
	t.Helper()
	testenv.Need(t, "docker")
	cache := filepath.Join(os.TempDir(), "harness-docker-tests")
	p := &Provider{Cache: cache, Progress: func(line string) { t.Log(line) }}
	if err := p.Down(t.Context(), engine); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := p.Down(context.Background(), engine); err != nil {
			t.Error(err)
		}
	})
	return p
}

func up(t *testing.T, p *Provider, engine string) provision.Endpoint {
	t.Helper()
	e, err := p.Up(t.Context(), engine)
	if err != nil {
		t.Fatal(err)
	}
	return e
}

func TestKafkaRuns(t *testing.T)    { runs(t, provision.Kafka) }
func TestSQSRuns(t *testing.T)      { runs(t, provision.SQS) }
func TestRabbitMQRuns(t *testing.T) { runs(t, provision.RabbitMQ) }

// runs takes one engine through its whole life: up, frozen, thawed, killed, restarted, down.
func runs(t *testing.T, engine string) {
	p := dockerProvider(t, engine)
	timed := func(what string, do func() error) {
		t.Helper()
		start := time.Now()
		if err := do(); err != nil {
			t.Fatalf("%s: %v", what, err)
		}
		t.Logf("%s %s: %v", engine, what, time.Since(start).Round(time.Millisecond))
	}
	answers := func() error { return awaitAnswer(t, p, engine) }

	var first provision.Endpoint
	timed("up", func() (err error) { first, err = p.Up(t.Context(), engine); return err })
	if first.Version == "" || len(first.Settings) == 0 || len(first.Nodes) != 1 {
		t.Errorf("endpoint %+v tells too little", first)
	}
	listensOnLoopbackOnly(t, p, engine)

	if seen, err := p.Status(t.Context()); err != nil || len(seen) != 1 || seen[0].Address != first.Address {
		t.Errorf("Status() = %+v, %v", seen, err)
	}
	node := first.Nodes[0]
	if node.PID() == 0 {
		t.Error("a running node has no process id")
	}
	timed("control", func() error { return controlled(t, engine, node) })
	timed("freeze", func() error { return node.Freeze(t.Context()) })
	timed("freeze again", func() error { return node.Freeze(t.Context()) })
	if ask(soon(t), first) == nil {
		t.Error("a frozen broker answers")
	}
	timed("thaw", func() error { return node.Thaw(t.Context()) })
	timed("thaw again", func() error { return node.Thaw(t.Context()) })
	timed("answer", answers)
	timed("kill", func() error { return node.Kill(t.Context()) })
	timed("kill again", func() error { return node.Kill(t.Context()) })
	if ask(soon(t), first) == nil || node.PID() != 0 {
		t.Error("a killed broker answers")
	}
	timed("restart", func() error { return node.Restart(t.Context()) })
	timed("answer", answers)
	if again := up(t, p, engine); again.Address != first.Address {
		t.Errorf("restarted at %s, was at %s", again.Address, first.Address)
	}
	timed("down", func() error { return p.Down(t.Context(), engine) })
	timed("down again", func() error { return p.Down(t.Context(), engine) })
	if err := node.Kill(t.Context()); !errors.Is(err, errNoContainer) {
		t.Errorf("killing what was taken down: %v", err)
	}
}

// ask makes one try to use a broker.
func ask(ctx context.Context, e provision.Endpoint) error {
	switch e.Engine {
	case provision.Kafka:
		return probe.Kafka(ctx, e.Address)
	case provision.SQS:
		return probe.SQS(ctx, e.Address)
	}
	_, err := probe.RabbitMQ(ctx, e.Address)
	return err
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

// listensOnLoopbackOnly dials every published port at the machine's other addresses.
func listensOnLoopbackOnly(t *testing.T, p *Provider, engine string) {
	t.Helper()
	_, _, c := lookUp(t, p, engine)
	addresses, err := net.InterfaceAddrs()
	if err != nil {
		t.Fatal(err)
	}
	for _, a := range addresses {
		network, ok := a.(*net.IPNet)
		if !ok || network.IP.IsLoopback() || network.IP.IsLinkLocalUnicast() {
			continue
		}
		for name := range recipeOf(engine).published() {
			address := net.JoinHostPort(network.IP.String(), fmt.Sprint(c.site.Ports[name]))
			if conn, err := net.DialTimeout("tcp", address, time.Second); err == nil {
				conn.Close()
				t.Errorf("port %s listens at %s", name, address)
			}
		}
	}
}

// awaitAnswer waits for a broker that runs.
func awaitAnswer(t *testing.T, p *Provider, engine string) error {
	t.Helper()
	h, b, c := lookUp(t, p, engine)
	ctx, cancel := context.WithTimeout(t.Context(), startPatience)
	defer cancel()
	_, err := h.await(ctx, b, c)
	return err
}

// lookUp finds the container of a broker as another process would.
func lookUp(t *testing.T, p *Provider, engine string) (host, berth, box) {
	t.Helper()
	b, err := p.berth(engine)
	if err != nil {
		t.Fatal(err)
	}
	h, err := connect(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { h.Close() })
	c, err := h.find(t.Context(), b)
	if err != nil {
		t.Fatal(err)
	}
	return h, b, c
}
