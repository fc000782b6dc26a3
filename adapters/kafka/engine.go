// SPDX-License-Identifier: Apache-2.0

package kafka

import (
	"context"
	"maps"
	"sync"
	"time"

	"github.com/IBM/sarama"

	"github.com/seed-720a3c77/harness/adapters/roster"
	"github.com/seed-720a3c77/harness/contract"
)

// engine is one cluster through one client library.
type engine struct {
	config   Config
	sockets  *sockets
	shared   sarama.Client // for what belongs to no producer or consumer
	admin    sarama.ClusterAdmin
	version  string // as the broker reports it: "4.1"
	protocol sarama.KafkaVersion
	profile  contract.Profile
	// minSession is the shortest session that the broker allows.
	minSession time.Duration
	clients    roster.Roster[client]

	mu    sync.Mutex        // guards tells
	tells map[string]string // what Settings shows
}

// client is a producer or a consumer.
type client interface{ Abandon() }

func newEngine(config Config) *engine {
	return &engine{
		config:   config,
		sockets:  newSockets(config.Dial, config.Timeout),
		protocol: sarama.MaxVersion,
		tells:    map[string]string{"client": clientName},
	}
}

// clientName is the client library with its version.
const clientName = "sarama v1.61.1"

func (e *engine) Profile() contract.Profile { return e.profile }

// Settings are the settings in effect of the broker, of the last topic that was declared,
// and of the last producer and consumer that were opened.
func (e *engine) Settings() map[string]string {
	e.mu.Lock()
	defer e.mu.Unlock()
	return maps.Clone(e.tells)
}

// tell adds settings that are in effect from now on.
func (e *engine) tell(settings map[string]string) {
	e.mu.Lock()
	defer e.mu.Unlock()
	maps.Copy(e.tells, settings)
}

// Close abandons what is still open and gives back the engine's own connections.
func (e *engine) Close(ctx context.Context) error {
	for _, c := range e.clients.Close() {
		c.Abandon()
	}
	err := awaitDone(ctx, func() error {
		if e.shared.Closed() {
			return nil
		}
		return e.admin.Close() // closes the client too
	})
	e.sockets.cut()
	return err
}
