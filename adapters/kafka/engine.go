// SPDX-License-Identifier: Apache-2.0

package kafka

import (
	"context"
	"fmt"
	"maps"
	"sync"
	"time"

	"github.com/IBM/sarama"

	"github.com/seed-720a3c77/harness/broker"
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

	mu     sync.Mutex
	tells  map[string]string // what Settings shows
	open   map[leaver]struct{}
	closed bool
}

// leaver is a producer or consumer that is still open.
type leaver interface{ Abandon() }

func newEngine(config Config) *engine {
	return &engine{
		config:   config,
		sockets:  newSockets(config.Dial, config.Timeout),
		protocol: sarama.MaxVersion,
		tells:    map[string]string{"client": clientName},
		open:     map[leaver]struct{}{},
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

// opened keeps a producer or consumer until it leaves, so that Close leaves nothing behind.
func (e *engine) opened(l leaver) error {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.closed {
		return fmt.Errorf("kafka: engine: %w", broker.ErrClosed)
	}
	e.open[l] = struct{}{}
	return nil
}

func (e *engine) left(l leaver) {
	e.mu.Lock()
	defer e.mu.Unlock()
	delete(e.open, l)
}

// Close abandons what is still open and gives back the engine's own connections.
func (e *engine) Close(ctx context.Context) error {
	for _, l := range e.closing() {
		l.Abandon()
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

func (e *engine) closing() []leaver {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.closed = true
	var all []leaver
	for l := range e.open {
		all = append(all, l)
	}
	return all
}
