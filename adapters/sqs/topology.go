// SPDX-License-Identifier: Apache-2.0

package sqs

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
	"github.com/aws/aws-sdk-go-v2/service/sqs/types"

	"github.com/seed-720a3c77/harness/broker"
	"github.com/seed-720a3c77/harness/contract"
)

// Declare creates queues, dead-letter queues first, and takes back what it made if one
// fails. CreateQueue itself would answer a left-over with success.
func (e *engine) Declare(ctx context.Context, t broker.Topology) error {
	for _, d := range t.Destinations {
		if err := e.check(d); err != nil {
			return err
		}
	}
	for _, d := range t.Destinations {
		if err := e.absent(ctx, d.Name); err != nil {
			return err
		}
	}
	var made []string
	for _, d := range deadLettersFirst(t.Destinations) {
		if err := e.create(ctx, d); err != nil {
			return errors.Join(err, e.Remove(ctx, made...))
		}
		made = append(made, d.Name)
	}
	return nil
}

// check refuses what SQS or this kind of queue cannot do.
func (e *engine) check(d broker.Destination) error {
	lease := e.profile.Lease
	switch {
	case d.Kind == broker.Exchange:
		return unsupported("%s: an exchange", d.Name)
	case d.Partitions > 1:
		return unsupported("%s: %d partitions", d.Name, d.Partitions)
	case d.FIFO && !e.can(contract.FIFOGroups):
		return unsupported("%s: message groups on a standard queue", d.Name)
	case d.Lease > 0 && lease.Fit(d.Lease) != d.Lease:
		return unsupported("%s: a visibility timeout of %v (want whole seconds, at least %v)", d.Name, d.Lease, lease.Floor)
	case d.MaxDeliveries > 0 && d.DeadLetter == "":
		return unsupported("%s: %d deliveries without a dead-letter queue (SQS never drops)", d.Name, d.MaxDeliveries)
	case d.MaxDeliveries <= 0 && d.DeadLetter != "":
		return unsupported("%s: a dead-letter queue without a limit of deliveries (SQS has no reject)", d.Name)
	case d.DedupWindow > 0 && d.DedupWindow != e.profile.DedupWindow:
		return unsupported("%s: a deduplication window of %v", d.Name, d.DedupWindow)
	case d.MaxLength > 0 || d.Overflow != "":
		return unsupported("%s: a maximum length", d.Name)
	case d.TTL > 0:
		return unsupported("%s: a time to live", d.Name)
	case d.Delay > 0 && !e.can(contract.Delay):
		return unsupported("%s: a delay", d.Name)
	case d.Delay%time.Second != 0:
		return unsupported("%s: a delay of %v (want whole seconds)", d.Name, d.Delay)
	}
	return nil
}

func (e *engine) absent(ctx context.Context, name string) error {
	_, err := e.url(ctx, name)
	switch {
	case err == nil:
		return fmt.Errorf("sqs: queue %s: %w", name, broker.ErrExists)
	case errors.Is(err, broker.ErrNotFound):
		return nil
	}
	return err
}

// deadLettersFirst orders queues so that a redrive policy finds its target.
func deadLettersFirst(all []broker.Destination) []broker.Destination {
	left := map[string]broker.Destination{}
	for _, d := range all {
		left[d.Name] = d
	}
	ordered := make([]broker.Destination, 0, len(all))
	var visit func(name string)
	visit = func(name string) {
		d, waiting := left[name]
		if !waiting {
			return
		}
		delete(left, name)
		visit(d.DeadLetter)
		ordered = append(ordered, d)
	}
	for _, d := range all {
		visit(d.Name)
	}
	return ordered
}

func (e *engine) create(ctx context.Context, d broker.Destination) error {
	attributes, err := e.attributes(ctx, d)
	if err != nil {
		return err
	}
	_, err = e.link.sqs.CreateQueue(ctx, &sqs.CreateQueueInput{QueueName: aws.String(e.wire(d.Name)), Attributes: attributes})
	if err != nil {
		return fmt.Errorf("sqs: create queue %s: %w", d.Name, explain(err))
	}
	return nil
}

// attributes are the settings of a queue by their own names.
// https://docs.aws.amazon.com/AWSSimpleQueueService/latest/APIReference/API_SetQueueAttributes.html
func (e *engine) attributes(ctx context.Context, d broker.Destination) (map[string]string, error) {
	all := map[string]string{}
	if e.fifo() {
		all["FifoQueue"] = "true"
	}
	if d.Lease > 0 {
		all["VisibilityTimeout"] = seconds(d.Lease)
	}
	if d.Delay > 0 {
		all["DelaySeconds"] = seconds(d.Delay)
	}
	if d.DeadLetter != "" {
		policy, err := e.redrive(ctx, d)
		if err != nil {
			return nil, err
		}
		all["RedrivePolicy"] = policy
	}
	for name, value := range d.Native {
		all[name] = value
	}
	return all, nil
}

// redrive moves a message at the receive that would be one too many: maxReceiveCount
// counts deliveries, as MaxDeliveries does.
func (e *engine) redrive(ctx context.Context, d broker.Destination) (string, error) {
	url, err := e.url(ctx, d.DeadLetter)
	if err != nil {
		return "", err
	}
	arn, err := e.attribute(ctx, url, types.QueueAttributeNameQueueArn)
	if err != nil {
		return "", err
	}
	policy, err := json.Marshal(map[string]string{"deadLetterTargetArn": arn, "maxReceiveCount": strconv.Itoa(d.MaxDeliveries)})
	return string(policy), err
}

// attribute reads one attribute of a queue.
func (e *engine) attribute(ctx context.Context, url *string, name types.QueueAttributeName) (string, error) {
	out, err := e.link.sqs.GetQueueAttributes(ctx, &sqs.GetQueueAttributesInput{QueueUrl: url, AttributeNames: []types.QueueAttributeName{name}})
	if err != nil {
		return "", fmt.Errorf("sqs: %s of %s: %w", name, deref(url), explain(err))
	}
	return out.Attributes[string(name)], nil
}

// Remove deletes queues; one that is gone is no error.
func (e *engine) Remove(ctx context.Context, names ...string) error {
	var all []error
	for _, name := range names {
		if err := e.remove(ctx, name); !errors.Is(err, broker.ErrNotFound) {
			all = append(all, err)
		}
	}
	return errors.Join(all...)
}

func (e *engine) remove(ctx context.Context, name string) error {
	url, err := e.url(ctx, name)
	if err != nil {
		return err
	}
	if _, err = e.link.sqs.DeleteQueue(ctx, &sqs.DeleteQueueInput{QueueUrl: url}); err != nil {
		return fmt.Errorf("sqs: delete queue %s: %w", name, explain(err))
	}
	return nil
}

// Purge empties a queue. The service itself takes up to a minute, and takes one purge a minute.
func (e *engine) Purge(ctx context.Context, destination string) error {
	url, err := e.url(ctx, destination)
	if err != nil {
		return err
	}
	if _, err = e.link.sqs.PurgeQueue(ctx, &sqs.PurgeQueueInput{QueueUrl: url}); err != nil {
		return fmt.Errorf("sqs: purge queue %s: %w", destination, explain(err))
	}
	return nil
}

func seconds(d time.Duration) string { return strconv.FormatInt(int64(d/time.Second), 10) }
