// SPDX-License-Identifier: Apache-2.0

package docker

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/netip"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/moby/moby/api/pkg/stdcopy"
	"github.com/moby/moby/api/types/container"
	"github.com/moby/moby/api/types/network"
	"github.com/moby/moby/client"
	"github.com/testcontainers/testcontainers-go"

	"github.com/seed-720a3c77/harness/provision"
	"github.com/seed-720a3c77/harness/provision/local"
)

const (
	// readyEvery is the pause between two tries to use a broker that is starting.
	readyEvery = 100 * time.Millisecond
	// logLines of a broker that did not start are shown.
	logLines = 20
)

// errEnded means that a container did not run until its broker answered.
var errEnded = errors.New("the container ended while starting")

// adopt returns the broker that runs, if it answers and was set up as this build would do it.
// One that was left frozen is thawed first.
func (h host) adopt(ctx context.Context, b berth) (provision.Endpoint, bool) {
	c, err := h.find(ctx, b)
	if err != nil || !c.runs() {
		return provision.Endpoint{}, false
	}
	setup, err := setupOf(b.recipe, site{Image: b.image, Ports: c.site.Ports})
	if err != nil || setup != c.setup {
		return provision.Endpoint{}, false
	}
	ctx, cancel := context.WithTimeout(ctx, healthPatience)
	defer cancel()
	if err := h.thaw(ctx, c); err != nil {
		return provision.Endpoint{}, false
	}
	version, err := h.await(ctx, b, c)
	return b.describe(c.site, version), err == nil
}

// create starts a fresh broker and waits until it answers. If that fails its container is
// gone again, and the error has its last words.
func (h host) create(ctx context.Context, b berth) (provision.Endpoint, error) {
	ctx, cancel := context.WithTimeout(ctx, startPatience)
	defer cancel()
	c, version, err := h.start(ctx, b)
	if err == nil {
		return b.describe(c.site, version), nil
	}
	after := context.WithoutCancel(ctx)
	err = fmt.Errorf("docker %s: %w%s", b.engine, err, h.lastWords(after, b))
	return provision.Endpoint{}, errors.Join(err, h.sweep(after, b))
}

func (h host) start(ctx context.Context, b berth) (box, string, error) {
	ports, err := local.FreePorts(append(slices.Sorted(maps.Keys(b.recipe.published())), b.recipe.spare()...))
	if err != nil {
		return box{}, "", err
	}
	if err := h.run(ctx, b, site{Image: b.image, Ports: ports}); err != nil {
		return box{}, "", err
	}
	c, err := h.find(ctx, b)
	if err != nil {
		return box{}, "", err
	}
	version, err := h.await(ctx, b, c)
	return c, version, err
}

// run creates a container at s and starts it.
func (h host) run(ctx context.Context, b berth, s site) error {
	labels, err := b.labels(s)
	if err != nil {
		return err
	}
	_, err = testcontainers.Run(ctx, s.Image,
		testcontainers.WithName(b.container()),
		testcontainers.WithLabels(labels),
		testcontainers.WithEnv(b.recipe.environment(s)),
		testcontainers.WithFiles(files(b.recipe)...),
		testcontainers.WithExposedPorts(exposed(b.recipe)...),
		testcontainers.WithHostConfigModifier(func(c *container.HostConfig) {
			c.PortBindings = bindings(b.recipe, s)
		}),
	)
	return err
}

// container is its name: readable, and different for every owner.
func (b berth) container() string {
	return fmt.Sprintf("harness-%s-%.4x", b.engine, sha256.Sum256([]byte(b.owner)))
}

func (b berth) labels(s site) (map[string]string, error) {
	setup, err := setupOf(b.recipe, s)
	if err != nil {
		return nil, err
	}
	text, err := json.Marshal(s)
	return map[string]string{
		labelEngine: b.engine, labelOwner: b.owner, labelSetup: setup, labelSite: string(text),
	}, err
}

func files(r recipe) []testcontainers.ContainerFile {
	var all []testcontainers.ContainerFile
	for path, text := range r.files() {
		all = append(all, testcontainers.ContainerFile{
			Reader: strings.NewReader(text), ContainerFilePath: path, FileMode: 0o644,
		})
	}
	return all
}

func exposed(r recipe) []string {
	var ports []string
	for _, port := range r.published() {
		ports = append(ports, fmt.Sprintf("%d/tcp", port))
	}
	return ports
}

// bindings publish the ports of a site, at loopback and nowhere else.
func bindings(r recipe, s site) network.PortMap {
	all := network.PortMap{}
	for name, port := range r.published() {
		all[network.MustParsePort(fmt.Sprintf("%d/tcp", port))] = []network.PortBinding{{
			HostIP: netip.AddrFrom4([4]byte{127, 0, 0, 1}), HostPort: strconv.Itoa(s.Ports[name]),
		}}
	}
	return all
}

// await waits until the broker of a container answers.
func (h host) await(ctx context.Context, b berth, c box) (version string, err error) {
	return ready(ctx, b.recipe, c.site, func() error {
		now, err := h.find(ctx, b)
		if err == nil && now.state == container.StateExited {
			return errEnded
		}
		return nil
	})
}

// ready repeats the recipe's probe until it succeeds, the broker does not run any more, or ctx
// ends.
func ready(ctx context.Context, r recipe, s site, running func() error) (version string, err error) {
	ticker := time.NewTicker(readyEvery)
	defer ticker.Stop()
	for {
		version, err = r.ready(ctx, s)
		if err == nil {
			return version, nil
		}
		if ended := running(); ended != nil {
			return "", fmt.Errorf("%w (last answer: %w)", ended, err)
		}
		select {
		case <-ctx.Done():
			return "", fmt.Errorf("not ready at %s: %w (last answer: %w)", r.endpoint(s).Address, context.Cause(ctx), err)
		case <-ticker.C:
		}
	}
}

// lastWords are the last lines of the container's log, for an error message.
func (h host) lastWords(ctx context.Context, b berth) string {
	c, err := h.find(ctx, b)
	if err != nil {
		return ""
	}
	log, err := h.ContainerLogs(ctx, c.id, client.ContainerLogsOptions{ShowStdout: true, ShowStderr: true, Tail: strconv.Itoa(logLines)})
	if err != nil {
		return ""
	}
	defer log.Close()
	var text bytes.Buffer
	if _, err := stdcopy.StdCopy(&text, &text, log); err != nil {
		return ""
	}
	return fmt.Sprintf("\nlast lines of container %.12s:\n%s", c.id, text.String())
}
