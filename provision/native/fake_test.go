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
	"sync/atomic"
	"testing"

	"github.com/seed-720a3c77/harness/provision"
	"github.com/seed-720a3c77/harness/provision/probe"
)

// Environment of the fake broker, which is this test binary run again.
const (
	fakeAddress = "FAKE_BROKER_ADDRESS" // listen here until killed
	fakeWords   = "FAKE_BROKER_WORDS"   // print this and fail
)

func TestMain(m *testing.M) {
	if words := os.Getenv(fakeWords); words != "" {
		fmt.Println(words)
		os.Exit(1)
	}
	if address := os.Getenv(fakeAddress); address != "" {
		listenUntilKilled(address)
	}
	os.Exit(m.Run())
}

func listenUntilKilled(address string) {
	l, err := net.Listen("tcp", address)
	if err != nil {
		fmt.Println(err)
		os.Exit(1)
	}
	for {
		if conn, err := l.Accept(); err == nil {
			conn.Close()
		}
	}
}

// fake is a recipe whose broker is this test binary. Counters tell what was done.
type fake struct {
	version    string
	words      string // the broker prints them and ends, instead of listening
	installErr error
	downloads  *atomic.Int32
	starts     *atomic.Int32 // fresh sites
}

func newFake(version string) fake {
	return fake{version: version, downloads: new(atomic.Int32), starts: new(atomic.Int32)}
}

func (f fake) engine() string  { return provision.Kafka }
func (f fake) system() string  { return "" }
func (f fake) proof() string   { return "broker" }
func (f fake) stamp() string   { return stampOf(f.version) }
func (f fake) ports() []string { return []string{"client"} }

func (f fake) install(_ context.Context, dir string) error {
	f.downloads.Add(1)
	return errors.Join(f.installErr, os.WriteFile(filepath.Join(dir, "broker"), nil, 0o600))
}

func (f fake) configure(_ context.Context, s site) error {
	f.starts.Add(1)
	return writeFiles(s.Dir, map[string]string{"data": f.version})
}

func (f fake) commands(s site) []command {
	self, err := os.Executable()
	if err != nil {
		panic(err)
	}
	return []command{
		{Name: "helper", Path: "/bin/sleep", Args: []string{"600"}},
		{Name: "fake", Path: self, Env: []string{fakeAddress + "=" + s.address("client"), fakeWords + "=" + f.words}},
	}
}

func (f fake) control(s site) command {
	return command{Name: "ctl", Path: "/bin/sh", Args: []string{"-c", `[ "$0" = status ] && echo "$0 $PLACE" || { echo "what is $0?" >&2; exit 64; }`}, Env: []string{"PLACE=here"}}
}

func (f fake) ready(ctx context.Context, s site) (string, error) {
	return f.version, probe.TCP(ctx, s.address("client"))
}

func (f fake) endpoint(s site) provision.Endpoint {
	return provision.Endpoint{Address: s.address("client")}
}

// providerOf makes a provider of one recipe with a cache of its own, swept after the test.
func providerOf(t *testing.T, r recipe, cache string) *Provider {
	t.Helper()
	p := &Provider{Cache: cache, recipes: []recipe{r}}
	t.Cleanup(func() {
		if err := p.Down(context.Background(), r.engine()); err != nil {
			t.Errorf("down: %v", err)
		}
	})
	return p
}

func up(t *testing.T, p *Provider) provision.Endpoint {
	t.Helper()
	e, err := p.Up(t.Context(), provision.Kafka)
	if err != nil {
		t.Fatal(err)
	}
	return e
}
