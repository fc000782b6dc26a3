// SPDX-License-Identifier: Apache-2.0

package rabbitmq

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/seed-720a3c77/harness/adapters/roster"
	"github.com/seed-720a3c77/harness/broker"
	"github.com/seed-720a3c77/harness/contract"
)

type engine struct {
	config   Config
	profile  contract.Profile
	settings map[string]string
	admin    admin
	// epochs counts the channels of this engine, so that a token names the one it came from.
	epochs  atomic.Uint32
	clients roster.Roster[client]

	mu    sync.Mutex // guards known
	known map[string]facts
}

// facts are what was declared here and cannot be read back over AMQP.
type facts struct {
	exchange bool
	// rejects: a plain reject-publish queue, whose nack proves that nothing was stored.
	rejects bool
	// single: a queue with a single active consumer.
	single bool
	// lease is the queue's consumer timeout; 0 is the broker's own.
	lease time.Duration
}

// client is a producer or a consumer.
type client interface{ Close(context.Context) error }

func (e *engine) factsOf(name string) (facts, bool) {
	e.mu.Lock()
	defer e.mu.Unlock()
	f, declared := e.known[name]
	return f, declared
}

func (e *engine) learn(name string, f facts) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.known[name] = f
}

func (e *engine) forget(name string) {
	e.mu.Lock()
	defer e.mu.Unlock()
	delete(e.known, name)
}

// Close closes what is still open. It does not remove destinations.
func (e *engine) Close(ctx context.Context) error {
	var all []error
	for _, c := range e.clients.Close() {
		all = append(all, c.Close(ctx))
	}
	return errors.Join(append(all, e.admin.close(ctx))...)
}

func (e *engine) can(c contract.Capability) bool { return e.profile.Can.Has(c) }

// unsupported says what was asked for and why this engine refuses it.
func unsupported(format string, args ...any) error {
	return fmt.Errorf("rabbitmq: %s: %w", fmt.Sprintf(format, args...), broker.ErrUnsupported)
}
