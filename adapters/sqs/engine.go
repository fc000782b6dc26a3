// SPDX-License-Identifier: Apache-2.0

package sqs

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/sqs"

	"github.com/seed-720a3c77/harness/adapters/roster"
	"github.com/seed-720a3c77/harness/contract"
)

type engine struct {
	config   Config
	profile  contract.Profile
	settings map[string]string
	link     *link
	clients  roster.Roster[client]
}

// client is a producer or a consumer.
type client interface{ Close(context.Context) error }

// Close closes what is still open. It does not remove queues.
func (e *engine) Close(ctx context.Context) error {
	var all []error
	for _, c := range e.clients.Close() {
		all = append(all, c.Close(ctx))
	}
	e.link.close()
	return errors.Join(all...)
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
