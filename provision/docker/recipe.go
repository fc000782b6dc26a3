// SPDX-License-Identifier: Apache-2.0

package docker

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/seed-720a3c77/harness/provision"
)

// recipe knows one engine. All that it answers depends on the site alone, so that another
// process says the same of a broker that it did not start.
type recipe interface {
	engine() string
	// image is the public image, pinned.
	image() string
	// published are the named ports of the host that lead into the container.
	published() map[string]int
	// spare names further ports of the host that the broker must know of.
	spare() []string
	// environment of the container.
	environment(s site) map[string]string
	// files are put into the container before it starts.
	files() map[string]string
	// control names the broker's own control program in the image, "" where there is none.
	control() string
	// ready makes one try to use the broker and returns the version that it tells, if it does.
	ready(ctx context.Context, s site) (version string, err error)
	// endpoint describes the site to clients.
	endpoint(s site) provision.Endpoint
}

// recipeOf returns nil for an engine that is not known.
func recipeOf(engine string) recipe {
	for _, r := range []recipe{kafka{}, localstack{}, rabbitmq{}} {
		if r.engine() == engine {
			return r
		}
	}
	return nil
}

// site is where one broker lives. It is written on the container.
type site struct {
	Image string         `json:"image"`
	Ports map[string]int `json:"ports"` // of the host, by name
}

// address is the loopback address of a named port.
func (s site) address(port string) string { return fmt.Sprintf("127.0.0.1:%d", s.Ports[port]) }

// version is the number at the start of the image's tag, if it has one.
func (s site) version() string {
	image, _, _ := strings.Cut(s.Image, "@")
	tag := image[strings.LastIndexByte(image, ':')+1:]
	version, _, _ := strings.Cut(tag, "-")
	if version == "" || strings.Trim(version, "0123456789.") != "" {
		return ""
	}
	return version
}

// setupOf is the checksum of everything that decides how a broker at s was started by this
// build of the harness. One with another set-up is not what its endpoint would claim.
func setupOf(r recipe, s site) (string, error) {
	text, err := json.Marshal([]any{r.engine(), s, r.published(), r.environment(s), r.files(), r.endpoint(s)})
	if err != nil {
		return "", err
	}
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:]), nil
}
