// SPDX-License-Identifier: Apache-2.0

package sqs

import (
	"context"
	"errors"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
	"github.com/aws/aws-sdk-go-v2/service/sqs/types"

	"github.com/seed-720a3c77/harness/broker"
)

// errNoVerb: a settlement that says nothing.
var errNoVerb = errors.New("no verb")

// Settle sends settlements in order: neighbours that delete, and neighbours that change
// a visibility, share requests of up to ten. Requests are not cancelled with ctx.
func (c *consumer) Settle(ctx context.Context, settlements []broker.Settlement, results []error) {
	ctx = context.WithoutCancel(ctx)
	for start := 0; start < len(settlements); {
		end := start + 1
		for end < len(settlements) && end-start < maxBatch && kindOf(settlements[end]) == kindOf(settlements[start]) {
			end++
		}
		c.settle(ctx, settlements[start:end], results[start:end])
		start = end
	}
}

// kind is the request that a settlement becomes.
type kind uint8

const (
	refusal kind = iota
	deletion
	visibility
)

func kindOf(s broker.Settlement) kind {
	switch {
	case s.Multiple:
		return refusal
	case s.Verb == broker.Ack:
		return deletion
	case s.Verb == broker.Requeue || s.Verb == broker.Extend:
		return visibility
	}
	return refusal
}

func (c *consumer) settle(ctx context.Context, batch []broker.Settlement, results []error) {
	if c.closed.Load() {
		fill(results, notSent("settle", broker.ErrClosed))
		return
	}
	ctx, cancel := context.WithTimeout(ctx, c.engine.config.Timeout)
	defer cancel()
	switch kindOf(batch[0]) {
	case deletion:
		c.delete(ctx, batch, results)
	case visibility:
		c.change(ctx, batch, results)
	default:
		for i, s := range batch {
			results[i] = refused(s)
		}
	}
}

func refused(s broker.Settlement) error {
	switch {
	case s.Verb == broker.NoVerb:
		return notSent("settle", errNoVerb)
	case s.Multiple:
		return notSent(s.Verb.String(), unsupported("settling several by one handle"))
	}
	return notSent(s.Verb.String(), unsupported("%v", s.Verb))
}

func (c *consumer) delete(ctx context.Context, batch []broker.Settlement, results []error) {
	in := &sqs.DeleteMessageBatchInput{QueueUrl: c.url, Entries: make([]types.DeleteMessageBatchRequestEntry, len(batch))}
	for i, s := range batch {
		in.Entries[i] = types.DeleteMessageBatchRequestEntry{Id: entryID(i), ReceiptHandle: aws.String(s.Token.Handle)}
	}
	out, err := c.link.sqs.DeleteMessageBatch(ctx, in)
	if err != nil {
		fill(results, outcome("ack", err, 1))
		return
	}
	done := map[string]bool{}
	for _, s := range out.Successful {
		done[deref(s.Id)] = true
	}
	perEntry("ack", done, out.Failed, results)
}

func (c *consumer) change(ctx context.Context, batch []broker.Settlement, results []error) {
	in := &sqs.ChangeMessageVisibilityBatchInput{QueueUrl: c.url, Entries: make([]types.ChangeMessageVisibilityBatchRequestEntry, len(batch))}
	for i, s := range batch {
		in.Entries[i] = types.ChangeMessageVisibilityBatchRequestEntry{
			Id: entryID(i), ReceiptHandle: aws.String(s.Token.Handle), VisibilityTimeout: c.hidden(s),
		}
	}
	op := batch[0].Verb.String()
	out, err := c.link.sqs.ChangeMessageVisibilityBatch(ctx, in)
	if err != nil {
		fill(results, outcome(op, err, 1))
		return
	}
	done := map[string]bool{}
	for _, s := range out.Successful {
		done[deref(s.Id)] = true
	}
	perEntry(op, done, out.Failed, results)
}

// hidden is the visibility timeout of a requeue or an extension, in whole seconds and
// never shorter than asked for. A requeue without a delay is 0: visible at once.
func (c *consumer) hidden(s broker.Settlement) int32 {
	if s.Verb == broker.Requeue && s.Delay <= 0 {
		return 0
	}
	return int32(c.engine.profile.Lease.Fit(s.Delay) / time.Second)
}

func perEntry(op string, done map[string]bool, failed []types.BatchResultErrorEntry, results []error) {
	for i := range results {
		results[i] = nil
		if id := *entryID(i); !done[id] {
			results[i] = entryError(op, failed, id, 1)
		}
	}
}

func fill(results []error, err error) {
	for i := range results {
		results[i] = err
	}
}
