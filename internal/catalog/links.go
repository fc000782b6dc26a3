// SPDX-License-Identifier: Apache-2.0

package catalog

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strings"

	"github.com/seed-720a3c77/harness/broker"
	"github.com/seed-720a3c77/harness/faults"
	"github.com/seed-720a3c77/harness/provision"
	"github.com/seed-720a3c77/harness/provision/link"
)

// Links is an engine whose clients reach the broker through proxies, so that their links
// can be broken. Clients that are broken by the same steps share one; those that no step
// names go directly, and so does whatever belongs to no client.
type Links struct {
	broker.Engine
	clients Clients
	// ways by the targets that break them.
	ways map[string]*way
}

// Clients says which clients a run has and which of them its steps break.
type Clients struct {
	// Producers and Workers are the names that their specs begin with.
	Producers, Workers []string
	// Targets are all, producers, a producer, a group or a worker.
	Targets []string
}

// way is a proxy, and the engine whose connections go through it.
type way struct {
	targets []string
	proxy   *link.Proxy
	engine  broker.Engine
	at      provision.Endpoint
}

// ErrLinks: the broker cannot have as many links as the run's steps tell apart.
var ErrLinks = errors.New("not enough links")

// OpenLinks opens an engine through as many proxies as the targets tell apart. What is
// not the clients' own goes through direct. Close ends the proxies and their engines.
func OpenLinks(ctx context.Context, e Engine, at provision.Endpoint, direct broker.Engine, c Clients) (*Links, error) {
	l := &Links{Engine: direct, clients: c, ways: map[string]*way{}}
	for _, name := range slices.Concat(c.Producers, c.Workers) {
		targets := c.breaking(name)
		key := strings.Join(targets, " ")
		if len(targets) == 0 || l.ways[key] != nil {
			continue
		}
		w, err := openWay(ctx, e, at, len(l.ways), targets)
		if err != nil {
			return nil, errors.Join(err, l.Close(context.WithoutCancel(ctx)))
		}
		l.ways[key] = w
	}
	return l, nil
}

func openWay(ctx context.Context, e Engine, at provision.Endpoint, n int, targets []string) (*way, error) {
	through, listen, upstream, err := detour(at, n)
	if err != nil {
		return nil, err
	}
	proxy, err := link.Open(strings.Join(targets, " and "), listen, upstream)
	if err != nil {
		return nil, err
	}
	w := &way{targets: targets, proxy: proxy, at: through(proxy.Address())}
	if w.engine, err = e.Open(ctx, w.at); err != nil {
		return nil, errors.Join(fmt.Errorf("through the link of %s: %w", proxy.Name(), err), proxy.Close(ctx))
	}
	return w, nil
}

// detour says where the n-th proxy of a broker listens and leads, and what the endpoint is
// for who goes through it.
func detour(at provision.Endpoint, n int) (through func(address string) provision.Endpoint, listen, upstream string, err error) {
	const loopback = "127.0.0.1:0"
	move := func(address string) provision.Endpoint {
		moved := at
		moved.Address = address
		return moved
	}
	switch at.Engine {
	case provision.Kafka:
		if n >= len(at.Links) {
			return nil, "", "", fmt.Errorf("%w: the broker has %d spare listeners, the steps tell more groups of clients apart", ErrLinks, len(at.Links))
		}
		return move, at.Links[n].Advertised, at.Links[n].Upstream, nil
	case provision.SQS:
		service, err := url.Parse(at.Address)
		if err != nil {
			return nil, "", "", err
		}
		return func(address string) provision.Endpoint {
			moved := *service
			moved.Host = address
			return move(moved.String())
		}, loopback, service.Host, nil
	}
	return move, loopback, at.Address, nil
}

// NoLinks says why the clients of a broker cannot have links of their own, or "".
func NoLinks(at provision.Endpoint) string {
	switch {
	case at.Engine == provision.Kafka && len(at.Links) == 0:
		return "the broker tells its clients where to connect, and has no spare listener that names a proxy"
	case at.Credentials.TLS.Enabled, strings.HasPrefix(at.Address, "https:"):
		return "TLS checks the broker's own name, which a proxy does not have"
	}
	return ""
}

// breaking are the targets that a client is broken by.
func (c *Clients) breaking(name string) (targets []string) {
	for _, target := range c.Targets {
		if c.Covers(target, name) {
			targets = append(targets, target)
		}
	}
	return targets
}

// Covers tells whether a target names a client.
func (c *Clients) Covers(target, name string) bool {
	isOne := func(who string) bool { return faults.IsNamed(name, who) }
	switch target {
	case faults.Everybody:
		return slices.ContainsFunc(c.Producers, isOne) || slices.ContainsFunc(c.Workers, isOne)
	case faults.AllProducers:
		return slices.ContainsFunc(c.Producers, isOne)
	}
	return isOne(target)
}

// of is the way of a client, nil if it goes directly.
func (l *Links) of(name string) *way { return l.ways[strings.Join(l.clients.breaking(name), " ")] }

// Producer implements broker.Engine.
func (l *Links) Producer(ctx context.Context, spec broker.ProducerSpec) (broker.Producer, error) {
	if w := l.of(spec.Name); w != nil {
		return w.engine.Producer(ctx, spec)
	}
	return l.Engine.Producer(ctx, spec)
}

// Consumer implements broker.Engine.
func (l *Links) Consumer(ctx context.Context, spec broker.ConsumerSpec) (broker.Consumer, error) {
	if w := l.of(spec.Name); w != nil {
		return w.engine.Consumer(ctx, spec)
	}
	return l.Engine.Consumer(ctx, spec)
}

// Settings adds what the clients' own engines tell.
func (l *Links) Settings() map[string]string {
	all := l.Engine.Settings()
	for _, w := range l.ways {
		maps.Copy(all, w.engine.Settings())
	}
	return all
}

// Endpoint is where a client finds the broker.
func (l *Links) Endpoint(name string, direct provision.Endpoint) provision.Endpoint {
	if w := l.of(name); w != nil {
		return w.at
	}
	return direct
}

// Link finds the links of a target.
func (l *Links) Link(target string) (faults.Link, error) {
	all := links{name: target}
	for _, w := range l.ways {
		if slices.Contains(w.targets, target) {
			all.proxies = append(all.proxies, w.proxy)
		}
	}
	if len(all.proxies) == 0 {
		return nil, fmt.Errorf("%w: no client is %q", faults.ErrNoTarget, target)
	}
	return all, nil
}

// Close ends the proxies and what goes through them, not the direct engine.
func (l *Links) Close(ctx context.Context) error {
	var failed error
	for _, w := range l.ways {
		failed = errors.Join(failed, w.engine.Close(ctx), w.proxy.Close(ctx))
	}
	return failed
}
