// SPDX-License-Identifier: Apache-2.0

package docker

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/containerd/errdefs"
	"github.com/moby/moby/api/types/container"
	"github.com/moby/moby/client"
)

// Labels of every container of ours.
const (
	labelEngine = "io.github.seed-720a3c77.harness.engine"
	labelOwner  = "io.github.seed-720a3c77.harness.owner" // the cache folder
	labelSetup  = "io.github.seed-720a3c77.harness.setup" // checksum of how it was set up
	labelSite   = "io.github.seed-720a3c77.harness.site"  // image and ports, as JSON
)

// goneEvery is the pause between two looks whether a container is gone.
const goneEvery = 50 * time.Millisecond

// errNoContainer means that the broker was never started, or taken down.
var errNoContainer = errors.New("no such broker: it was never up, or was taken down")

// box is a container of ours as the engine reports it.
type box struct {
	id    string
	setup string
	site  site
	state container.ContainerState
}

// runs tells whether the container has processes, frozen or not.
func (c box) runs() bool {
	return c.state == container.StateRunning || c.state == container.StatePaused
}

// find returns the container of a berth or errNoContainer.
func (h host) find(ctx context.Context, b berth) (box, error) {
	all, err := h.list(ctx, b)
	if err != nil {
		return box{}, err
	}
	if len(all) == 0 {
		return box{}, errNoContainer
	}
	found := box{id: all[0].ID, state: all[0].State, setup: all[0].Labels[labelSetup]}
	if err := json.Unmarshal([]byte(all[0].Labels[labelSite]), &found.site); err != nil {
		return found, fmt.Errorf("docker %s: label of container %.12s: %w", b.engine, found.id, err)
	}
	return found, nil
}

func (h host) list(ctx context.Context, b berth) ([]container.Summary, error) {
	mine := client.Filters{}.Add("label", labelOwner+"="+b.owner, labelEngine+"="+b.engine)
	list, err := h.ContainerList(ctx, client.ContainerListOptions{All: true, Filters: mine})
	if err != nil {
		return nil, fmt.Errorf("docker %s: list containers: %w", b.engine, err)
	}
	return list.Items, nil
}

// sweep removes the containers of a berth with their data, in whatever state they are, and
// returns when they are gone.
func (h host) sweep(ctx context.Context, b berth) error {
	ctx, cancel := context.WithTimeout(ctx, killPatience)
	defer cancel()
	for {
		left, err := h.list(ctx, b)
		if err != nil || len(left) == 0 {
			return err
		}
		for _, c := range left {
			_, err := h.ContainerRemove(ctx, c.ID, client.ContainerRemoveOptions{Force: true, RemoveVolumes: true})
			if err != nil && !errdefs.IsNotFound(err) && !errdefs.IsConflict(err) { // conflict: is being removed
				return fmt.Errorf("docker %s: remove container %.12s: %w", b.engine, c.ID, err)
			}
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("docker %s: remove containers: %w", b.engine, context.Cause(ctx))
		case <-time.After(goneEvery):
		}
	}
}
