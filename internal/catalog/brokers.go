// SPDX-License-Identifier: Apache-2.0

package catalog

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/seed-720a3c77/harness/broker"
	"github.com/seed-720a3c77/harness/internal/suggest"
	"github.com/seed-720a3c77/harness/provision"
	"github.com/seed-720a3c77/harness/provision/docker"
	"github.com/seed-720a3c77/harness/provision/native"
)

// Providing says where brokers may come from.
type Providing struct {
	// Addresses of brokers that run already, by engine.
	Addresses   map[string]string
	AllowRemote bool
	// Only names one provider; empty tries all, in order.
	Only string
	// Images of the docker provider, by engine.
	Images map[string]string
	// Say hears what takes long; nil hears nothing.
	Say func(line string)
	// Guard is called before a broker is started that Close will stop, so that it is
	// stopped too if this process is killed. release is called when it is stopped. nil is
	// nobody.
	Guard func(engine string) (release func(), err error)
}

// providers is the visible list, in the order in which they are tried.
func (p Providing) providers() []provision.Provider {
	return []provision.Provider{
		&provision.External{Addresses: p.Addresses, AllowRemote: p.AllowRemote},
		&docker.Provider{Images: p.Images, Progress: p.Say},
		&native.Provider{Progress: p.Say},
	}
}

// Connection is a real engine, open, and where it runs.
type Connection struct {
	Engine broker.Engine
	At     provision.Endpoint
}

// Brokers brings real brokers up and, at the end, down what it started itself.
type Brokers struct {
	providing Providing
	providers []provision.Provider
	// started are the engines that did not run before, with who releases their guards.
	started map[string]func()
}

// NewBrokers checks the words; nothing is started yet.
func NewBrokers(p Providing) (*Brokers, error) {
	b := &Brokers{providing: p, providers: p.providers(), started: map[string]func(){}}
	for _, engines := range []map[string]string{p.Addresses, p.Images} {
		for engine := range engines {
			if err := KnownBroker(engine); err != nil {
				return nil, err
			}
		}
	}
	for engine, address := range p.Addresses {
		if err := provision.CheckAddress(engine, address); err != nil {
			return nil, err
		}
	}
	if p.Only == "" {
		return b, nil
	}
	var names []string
	for _, provider := range b.providers {
		if provider.Name() == p.Only {
			b.providers = []provision.Provider{provider}
			return b, nil
		}
		names = append(names, provider.Name())
	}
	return nil, errors.New(suggest.Unknown("provider", p.Only, names))
}

// KnownBroker refuses a name that no provider knows.
func KnownBroker(engine string) error {
	if slices.Contains(provision.Engines(), engine) {
		return nil
	}
	return errors.New(suggest.Unknown("broker", engine, provision.Engines()))
}

// Up returns a running broker by the first provider that works, and says which were
// tried in vain.
func (b *Brokers) Up(ctx context.Context, engine string) (provision.Endpoint, error) {
	at, attempts, err := provision.First(ctx, b.providers, engine)
	if err == nil {
		return at, nil
	}
	var tried error
	for _, a := range attempts {
		tried = errors.Join(tried, a.Err)
	}
	return at, fmt.Errorf("no %s: %w", engine, tried)
}

// Connect brings an engine's broker up and opens it. What did not run before is stopped
// by Close.
func (b *Brokers) Connect(ctx context.Context, e Engine) (Connection, error) {
	before, err := b.Status(ctx)
	if err != nil {
		return Connection{}, err
	}
	ran := slices.ContainsFunc(before, func(other provision.Endpoint) bool { return other.Engine == e.Broker })
	if !ran {
		if err := b.guard(e.Broker); err != nil {
			return Connection{}, err
		}
	}
	at, err := b.Up(ctx, e.Broker)
	if err != nil {
		return Connection{}, err
	}
	engine, err := e.Open(ctx, at)
	return Connection{engine, at}, err
}

// guard notes that a broker is to be stopped at the end.
func (b *Brokers) guard(engine string) error {
	if _, noted := b.started[engine]; noted {
		return nil
	}
	release := func() {}
	if b.providing.Guard != nil {
		var err error
		if release, err = b.providing.Guard(engine); err != nil {
			return err
		}
	}
	b.started[engine] = release
	return nil
}

// Status lists what runs.
func (b *Brokers) Status(ctx context.Context) ([]provision.Endpoint, error) {
	var all []provision.Endpoint
	for _, p := range b.providers {
		some, err := p.Status(ctx)
		if err != nil {
			return all, fmt.Errorf("%s: %w", p.Name(), err)
		}
		all = append(all, some...)
	}
	return all, nil
}

// Down stops a broker, whichever provider has it.
func (b *Brokers) Down(ctx context.Context, engine string) error {
	var failed error
	for _, p := range b.providers {
		failed = errors.Join(failed, p.Down(ctx, engine))
	}
	return failed
}

// Close stops what Connect started.
func (b *Brokers) Close(ctx context.Context) error {
	var failed error
	for engine, release := range b.started {
		err := b.Down(ctx, engine)
		if err == nil {
			release()
			delete(b.started, engine)
		}
		failed = errors.Join(failed, err)
	}
	return failed
}

// Environment is what the external provider of another process has to be told: lines
// of NAME=value without any secret.
func Environment(at provision.Endpoint) []string {
	stem := "HARNESS_" + strings.ToUpper(at.Engine)
	lines := []string{stem + "=" + at.Address}
	if at.Admin != "" {
		lines = append(lines, stem+"_ADMIN="+at.Admin)
	}
	var settings []string
	for key, value := range at.Settings {
		settings = append(settings, key+"="+value)
	}
	if slices.Sort(settings); len(settings) > 0 {
		lines = append(lines, stem+"_SETTINGS="+strings.Join(settings, ","))
	}
	return lines
}
