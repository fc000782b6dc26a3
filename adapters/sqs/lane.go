// SPDX-License-Identifier: Apache-2.0

package sqs

import (
	"context"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/sqs"
	"github.com/aws/aws-sdk-go-v2/service/sqs/types"

	"github.com/seed-720a3c77/harness/broker"
	"github.com/seed-720a3c77/harness/msg"
)

// publish is one message on its way and who waits for its answer.
type publish struct {
	entry types.SendMessageBatchRequestEntry
	done  func(broker.Receipt, error)
}

// lane batches the publishes of one producer to one queue. It stamps nothing: when a
// message was meant to be sent is in its envelope, so that lingering counts as latency.
type lane struct {
	producer *producer
	url      *string
	in       chan publish
	// over is a publish that did not fit into the batch before it, if full.
	over publish
	full bool
}

func (l *lane) run() {
	for batch := l.collect(); len(batch) > 0; batch = l.collect() {
		if l.producer.engine.fifo() {
			l.send(batch) // side by side, batches would overtake each other
			continue
		}
		go l.send(batch)
	}
}

// collect waits for the first publish and then for others, until the batch is full or
// has lingered long enough. An empty batch is the end.
func (l *lane) collect() []publish {
	first, ok := l.first()
	if !ok {
		return nil
	}
	var end <-chan time.Time
	if linger := l.producer.spec.Linger; linger > 0 && l.producer.spec.BatchMax > 1 {
		timer := time.NewTimer(linger)
		defer timer.Stop()
		end = timer.C
	}
	batch, size := []publish{first}, sizeOf(&first.entry)
	for len(batch) < l.producer.spec.BatchMax {
		one, ok := l.next(end)
		if !ok {
			break
		}
		if size += sizeOf(&one.entry); size > maxBatchBytes {
			l.over, l.full = one, true
			break
		}
		batch = append(batch, one)
	}
	return batch
}

// first waits for a publish until the producer is closed and nothing is left.
func (l *lane) first() (publish, bool) {
	if l.full {
		l.full = false
		return l.over, true
	}
	select {
	case one := <-l.in:
		return one, true
	case <-l.producer.quit:
		return l.next(nil)
	}
}

// next is a publish that is there already, or comes before the end of lingering.
func (l *lane) next(end <-chan time.Time) (one publish, ok bool) {
	select {
	case one = <-l.in:
		return one, true
	default:
	}
	if end == nil {
		return one, false
	}
	select {
	case one = <-l.in:
		return one, true
	case <-end:
	case <-l.producer.quit:
	}
	return one, false
}

// send makes one request of a batch and answers each of its publishes exactly once.
func (l *lane) send(batch []publish) {
	in := &sqs.SendMessageBatchInput{QueueUrl: l.url, Entries: make([]types.SendMessageBatchRequestEntry, len(batch))}
	for i := range batch {
		in.Entries[i] = batch[i].entry
		in.Entries[i].Id = entryID(i)
	}
	ctx, attempts := counted(context.Background())
	out, err := l.producer.link.sqs.SendMessageBatch(ctx, in)
	n := attempts.Load()
	l.producer.retried(n, err)
	for i, one := range batch {
		if err != nil {
			l.producer.answer(one, unsent, outcome("publish", err, n))
			continue
		}
		receipt, err := sent(out, i, n)
		l.producer.answer(one, receipt, err)
	}
}

// unsent is the receipt where there is none.
var unsent = broker.Receipt{Partition: msg.AnyPartition, Offset: -1}

// sent finds what the answer says about one entry.
func sent(out *sqs.SendMessageBatchOutput, i int, attempts int32) (broker.Receipt, error) {
	id := *entryID(i)
	for _, s := range out.Successful {
		if deref(s.Id) == id {
			return broker.Receipt{Partition: msg.AnyPartition, Offset: -1, BrokerID: deref(s.MessageId), Copies: int(attempts)}, nil
		}
	}
	return unsent, entryError("publish", out.Failed, id, attempts)
}
