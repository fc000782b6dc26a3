// SPDX-License-Identifier: Apache-2.0

package docker

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/seed-720a3c77/harness/provision"
	"github.com/seed-720a3c77/harness/provision/local"
)

const (
	name = "docker"
	// startPatience bounds the time from starting a container to a broker that answers.
	startPatience = 90 * time.Second
	// healthPatience bounds the question whether a broker that runs still answers.
	healthPatience = 10 * time.Second
)

// Provider starts brokers as containers. The zero value uses the pinned images.
type Provider struct {
	// Images by engine, instead of those of the environment and the pinned ones.
	Images map[string]string
	// Cache is the folder whose user owns the containers, and where the locks are; empty means
	// HARNESS_CACHE, else the user's cache folder.
	Cache string
	// Progress, if set, is told in one line what takes long (pulling, starting).
	Progress func(line string)
}

var _ provision.Provider = (*Provider)(nil)

// Name returns "docker".
func (*Provider) Name() string { return name }

// Up returns the running broker if it answers; otherwise it removes what is left of it, pulls
// its image if that is missing, starts it and waits until it answers. Concurrent callers, also
// in other processes, wait for each other.
func (p *Provider) Up(ctx context.Context, engine string) (provision.Endpoint, error) {
	b, err := p.berth(engine)
	if err != nil {
		return provision.Endpoint{}, err
	}
	host, err := connect(ctx)
	if err != nil {
		return provision.Endpoint{}, noEngine(engine, err)
	}
	defer host.Close()
	unlock, err := b.lock(ctx)
	if err != nil {
		return provision.Endpoint{}, err
	}
	defer unlock()
	if endpoint, ok := host.adopt(ctx, b); ok {
		return endpoint, nil
	}
	if err := host.sweep(ctx, b); err != nil {
		return provision.Endpoint{}, err
	}
	if err := host.provideImage(ctx, b, p.say); err != nil {
		return provision.Endpoint{}, err
	}
	p.say("docker: starting %s", engine)
	return host.create(ctx, b)
}

// Down removes the broker's container with its data. The image stays.
func (p *Provider) Down(ctx context.Context, engine string) error {
	b, err := p.berth(engine)
	if errors.Is(err, provision.ErrUnavailable) {
		return nil
	}
	if err != nil {
		return err
	}
	host, err := connect(ctx)
	if err != nil {
		return nil // where no engine answers, no broker of ours runs
	}
	defer host.Close()
	unlock, err := b.lock(ctx)
	if err != nil {
		return err
	}
	defer unlock()
	return host.sweep(ctx, b)
}

// Status returns the brokers whose containers run. It asks no broker and takes no lock.
func (p *Provider) Status(ctx context.Context) ([]provision.Endpoint, error) {
	host, err := connect(ctx)
	if err != nil {
		return nil, nil // no engine, no brokers
	}
	defer host.Close()
	var running []provision.Endpoint
	for _, engine := range provision.Engines() {
		b, err := p.berth(engine)
		if err != nil {
			return nil, err
		}
		c, err := host.find(ctx, b)
		if errors.Is(err, errNoContainer) {
			continue
		}
		if err != nil {
			return nil, err
		}
		if c.runs() {
			running = append(running, b.describe(c.site, ""))
		}
	}
	return running, nil
}

// berth finds the recipe of an engine, its image, and whose it is.
func (p *Provider) berth(engine string) (berth, error) {
	r := recipeOf(engine)
	if r == nil {
		return berth{}, fmt.Errorf("docker: unknown engine %q (one of %s)", engine, strings.Join(provision.Engines(), ", "))
	}
	owner, err := p.owner()
	if err != nil {
		return berth{}, unavailable(engine, "no cache folder", "set HARNESS_CACHE to a folder", err)
	}
	return berth{recipe: r, engine: engine, image: p.image(r), owner: owner}, nil
}

// image is the one asked for, by code before environment, else the pinned one.
func (p *Provider) image(r recipe) string {
	if image := p.Images[r.engine()]; image != "" {
		return image
	}
	if image := os.Getenv(imageVariable(r.engine())); image != "" {
		return image
	}
	return r.image()
}

func imageVariable(engine string) string { return "HARNESS_DOCKER_IMAGE_" + strings.ToUpper(engine) }

func (p *Provider) owner() (string, error) {
	owner := p.Cache
	if owner == "" {
		owner = os.Getenv("HARNESS_CACHE")
	}
	if owner != "" {
		return filepath.Abs(owner)
	}
	user, err := os.UserCacheDir()
	if err != nil {
		return "", err
	}
	return filepath.Join(user, "harness"), nil
}

func (p *Provider) say(format string, args ...any) {
	if p.Progress != nil {
		p.Progress(fmt.Sprintf(format, args...))
	}
}

// berth is the place of one owner's broker of one engine.
type berth struct {
	recipe               recipe
	engine, image, owner string
}

func (b berth) lock(ctx context.Context) (unlock func(), err error) {
	unlock, err = local.Lock(ctx, filepath.Join(b.owner, "state", "docker-"+b.engine+".lock"))
	if err != nil {
		return nil, fmt.Errorf("docker %s: %w", b.engine, err)
	}
	return unlock, nil
}

// describe is the broker of a site as clients see it. The version that the broker tells, if
// it does, stands above that of its image.
func (b berth) describe(s site, version string) provision.Endpoint {
	e := b.recipe.endpoint(s)
	e.Engine, e.Provider = b.engine, name
	if version != "" {
		e.Version = version
	}
	e.Nodes = []provision.Node{&Node{berth: b}}
	return e
}

func unavailable(engine, why, help string, err error) error {
	return &provision.Unavailable{Provider: name, Engine: engine, Why: why, Help: help, Err: err}
}
