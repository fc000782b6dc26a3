// SPDX-License-Identifier: Apache-2.0

package docker

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/url"
	"os"
	"strings"
	"sync"
	"time"

	"github.com/testcontainers/testcontainers-go"
	"github.com/testcontainers/testcontainers-go/log"
)

// connectPatience bounds the question whether a container engine answers.
const connectPatience = 10 * time.Second

// errElsewhere refuses an engine whose published ports would not be on this machine.
var errElsewhere = errors.New("the container engine is not on this machine")

// host is a connection to the container engine. Closing it stops nothing.
type host struct {
	*testcontainers.DockerClient
}

// tame makes testcontainers-go, which is set up by the process's environment alone, keep
// quiet and leave out its reaper: brokers outlive the process that started them.
var tame = sync.OnceFunc(func() {
	os.Setenv("TESTCONTAINERS_RYUK_DISABLED", "true")
	log.SetDefault(log.NewNoopLogger())
})

// connect finds the engine: DOCKER_HOST, then the usual sockets. The library looks once in
// the life of a process.
func connect(ctx context.Context) (host, error) {
	tame()
	ctx, cancel := context.WithTimeout(ctx, connectPatience)
	defer cancel()
	cli, err := testcontainers.NewDockerClientWithOpts(ctx)
	if err != nil {
		return host{}, errors.New(strings.ReplaceAll(err.Error(), "\n", "; ")) // a line for every socket tried
	}
	if address := cli.DaemonHost(); !onThisMachine(address) {
		cli.Close()
		return host{}, fmt.Errorf("%w: it is at %s", errElsewhere, address)
	}
	return host{cli}, nil
}

// onThisMachine tells whether ports published by the engine at address are ports of here.
func onThisMachine(address string) bool {
	u, err := url.Parse(address)
	if err != nil {
		return false
	}
	switch u.Scheme {
	case "unix", "npipe":
		return true
	case "tcp", "http", "https":
		ip := net.ParseIP(u.Hostname())
		return u.Hostname() == "localhost" || ip.IsLoopback()
	}
	return false
}

// noEngine says that containers cannot be used here.
func noEngine(engine string, err error) error {
	if errors.Is(err, errElsewhere) {
		return unavailable(engine, "it would listen elsewhere", "point DOCKER_HOST at an engine of this machine, or give the broker's address", err)
	}
	return unavailable(engine, "no container engine answers", "start Docker, or set DOCKER_HOST", err)
}
