// SPDX-License-Identifier: Apache-2.0

package docker

import (
	"context"
	"fmt"
	"time"

	"github.com/containerd/errdefs"
	"github.com/moby/moby/client"
)

// pullPatience bounds one pull; a slow line needs minutes for half a gigabyte.
const pullPatience = 15 * time.Minute

// provideImage pulls the image unless it is there.
func (h host) provideImage(ctx context.Context, b berth, say func(format string, args ...any)) error {
	_, err := h.ImageInspect(ctx, b.image)
	if err == nil {
		return nil
	}
	if !errdefs.IsNotFound(err) {
		return fmt.Errorf("docker %s: look for image %s: %w", b.engine, b.image, err)
	}
	say("docker: pulling %s (once)", b.image)
	if err := h.pull(ctx, b.image); err != nil {
		return unavailable(b.engine, "image "+b.image+" is not here and cannot be pulled",
			"pull or build it, or name another in "+imageVariable(b.engine), err)
	}
	return nil
}

func (h host) pull(ctx context.Context, image string) error {
	ctx, cancel := context.WithTimeout(ctx, pullPatience)
	defer cancel()
	progress, err := h.ImagePull(ctx, image, client.ImagePullOptions{})
	if err != nil {
		return err
	}
	defer progress.Close()
	return progress.Wait(ctx)
}
