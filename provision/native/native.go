// SPDX-License-Identifier: Apache-2.0

package native

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/seed-720a3c77/harness/provision"
)

const (
	name = "native"
	// startPatience bounds the time from starting the processes to a broker that answers.
	startPatience = 90 * time.Second
	// healthPatience bounds the question whether a broker that runs still answers.
	healthPatience = 10 * time.Second
)

// Provider starts brokers from one cache folder. The zero value uses the default folder.
type Provider struct {
	// Cache is the folder; empty means HARNESS_CACHE, else the user's cache folder.
	Cache string
	// Progress, if set, is told in one line what takes long (downloads, starting).
	Progress func(line string)

	recipes []recipe // those of this package if nil
}

var _ provision.Provider = (*Provider)(nil)

// Name returns "native".
func (*Provider) Name() string { return name }

// Up returns the running broker if it answers; otherwise it sweeps what is left of it,
// installs what is missing, starts it and waits until it answers. Concurrent callers, also in
// other processes, wait for each other.
func (p *Provider) Up(ctx context.Context, engine string) (provision.Endpoint, error) {
	r, c, err := p.prepare(engine)
	if err != nil {
		return provision.Endpoint{}, err
	}
	unlock, err := c.lock(ctx)
	if err != nil {
		return provision.Endpoint{}, err
	}
	defer unlock()
	if s, ok := p.healthy(ctx, r, c); ok {
		return p.describe(r, c, s), nil
	}
	if err := c.sweep(ctx); err != nil {
		return provision.Endpoint{}, err
	}
	home, err := p.home(ctx, r, c)
	if err != nil {
		return provision.Endpoint{}, err
	}
	s, err := p.create(ctx, r, c, home)
	if err != nil {
		return provision.Endpoint{}, err
	}
	return p.describe(r, c, s), nil
}

// Down kills the broker's processes and removes its data, but not what was downloaded.
func (p *Provider) Down(ctx context.Context, engine string) error {
	_, c, err := p.prepare(engine)
	if errors.Is(err, provision.ErrUnavailable) {
		return nil
	}
	if err != nil {
		return err
	}
	unlock, err := c.lock(ctx)
	if err != nil {
		return err
	}
	defer unlock()
	return c.sweep(ctx)
}

// Status returns the brokers whose processes are alive. It asks no broker and takes no lock.
func (p *Provider) Status(context.Context) ([]provision.Endpoint, error) {
	var running []provision.Endpoint
	for _, r := range p.known() {
		_, c, err := p.prepare(r.engine())
		if errors.Is(err, provision.ErrUnavailable) {
			continue
		}
		if err != nil {
			return nil, err
		}
		if s, err := c.load(); err == nil && s.alive() {
			running = append(running, p.describe(r, c, s))
		}
	}
	return running, nil
}

// prepare finds the recipe and the engine's corner of the cache.
func (p *Provider) prepare(engine string) (recipe, corner, error) {
	known := p.known()
	i := slices.IndexFunc(known, func(r recipe) bool { return r.engine() == engine })
	if i < 0 {
		return nil, corner{}, fmt.Errorf("native: unknown engine %q (one of %s)", engine, strings.Join(provision.Engines(), ", "))
	}
	if !supported {
		return nil, corner{}, unavailable(engine, "not on "+runtime.GOOS, "give an address or use docker", nil)
	}
	root, err := p.root()
	if err != nil {
		return nil, corner{}, unavailable(engine, "no cache folder", "set HARNESS_CACHE to a folder", err)
	}
	return known[i], corner{root: root, engine: engine}, nil
}

func (p *Provider) known() []recipe {
	if p.recipes != nil {
		return p.recipes
	}
	return []recipe{kafka{}, localstack{}, rabbitmq{}}
}

func (p *Provider) root() (string, error) {
	root := p.Cache
	if root == "" {
		root = os.Getenv("HARNESS_CACHE")
	}
	if root != "" {
		return filepath.Abs(root)
	}
	user, err := os.UserCacheDir()
	if err != nil {
		return "", err
	}
	return filepath.Join(user, "harness"), nil
}

// healthy finds a broker that runs, answers and was set up as this build would do it. One
// that was left frozen is thawed first.
func (p *Provider) healthy(ctx context.Context, r recipe, c corner) (state, bool) {
	s, err := c.load()
	if err != nil || !s.alive() || len(s.Processes) < len(r.commands(s.Site)) {
		return state{}, false
	}
	if setup, err := setupOf(r, s.Site); err != nil || s.Setup != setup {
		return state{}, false
	}
	for _, process := range s.Processes {
		process.Thaw()
	}
	ctx, cancel := context.WithTimeout(ctx, healthPatience)
	defer cancel()
	if s.Version, err = c.await(ctx, r, s); err != nil {
		return state{}, false
	}
	return s, c.save(s) == nil // the one who started it may have been killed before it was ready
}

func (p *Provider) describe(r recipe, c corner, s state) provision.Endpoint {
	e := r.endpoint(s.Site)
	e.Engine, e.Provider, e.Version = r.engine(), name, s.Version
	e.Nodes = []provision.Node{&Node{recipe: r, corner: c}}
	return e
}

func (p *Provider) say(format string, args ...any) {
	if p.Progress != nil {
		p.Progress(fmt.Sprintf(format, args...))
	}
}

func unavailable(engine, why, help string, err error) error {
	return &provision.Unavailable{Provider: name, Engine: engine, Why: why, Help: help, Err: err}
}
