// SPDX-License-Identifier: Apache-2.0

package sqs

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/sqs"

	"github.com/seed-720a3c77/harness/broker"
	"github.com/seed-720a3c77/harness/contract"
)

type engine struct {
	config   Config
	profile  contract.Profile
	settings map[string]string
	link     *link

	mu     sync.Mutex
	open   map[client]struct{}
	closed bool
}

// client is a producer or a consumer.
type client interface{ Close(context.Context) error }

// enter registers a client, which leave takes out again.
func (e *engine) enter(c client) error {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.closed {
		return fmt.Errorf("sqs: engine: %w", broker.ErrClosed)
	}
	e.open[c] = struct{}{}
	return nil
}

func (e *engine) leave(c client) {
	e.mu.Lock()
	defer e.mu.Unlock()
	delete(e.open, c)
}

// Close closes what is still open. It does not remove queues.
func (e *engine) Close(ctx context.Context) error {
	var all []error
	for _, c := range e.shut() {
		all = append(all, c.Close(ctx))
	}
	e.link.close()
	return errors.Join(all...)
}

func (e *engine) shut() (left []client) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.closed = true
	for c := range e.open {
		left = append(left, c)
	}
	return left
}

func (e *engine) can(c contract.Capability) bool { return e.profile.Can.Has(c) }

func (e *engine) fifo() bool { return e.config.Queue == FIFO }

// wire is the name of a destination's queue at the service.
func (e *engine) wire(destination string) string {
	if e.fifo() && !strings.HasSuffix(destination, ".fifo") {
		return destination + ".fifo"
	}
	return destination
}

// url finds a destination's queue; one that is not there is broker.ErrNotFound.
func (e *engine) url(ctx context.Context, destination string) (*string, error) {
	out, err := e.link.sqs.GetQueueUrl(ctx, &sqs.GetQueueUrlInput{QueueName: aws.String(e.wire(destination))})
	if err != nil {
		return nil, fmt.Errorf("sqs: queue %s: %w", destination, explain(err))
	}
	return out.QueueUrl, nil
}
