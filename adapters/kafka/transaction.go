// SPDX-License-Identifier: Apache-2.0

package kafka

import (
	"context"
	"errors"
	"fmt"

	"github.com/IBM/sarama"

	"github.com/seed-720a3c77/harness/broker"
	"github.com/seed-720a3c77/harness/contract"
)

// Begin opens a transaction. What is published outside of one is refused.
func (p *producer) Begin(ctx context.Context) error {
	return p.transact(ctx, "begin", p.async.BeginTxn)
}

// Commit waits for what is in flight and ends the transaction, with positions of groups
// inside it. The group does not fence them: they carry no member and no generation.
func (p *producer) Commit(ctx context.Context, offsets ...broker.OffsetCommit) error {
	return p.transact(ctx, "commit", func() error {
		for group, positions := range positionsOf(offsets) {
			if err := p.async.AddOffsetsToTxn(positions, group); err != nil {
				return err
			}
		}
		return p.async.CommitTxn()
	})
}

// Abort ends the transaction; its records stay in the log, for nobody who reads what is
// committed.
func (p *producer) Abort(ctx context.Context) error {
	return p.transact(ctx, "abort", p.async.AbortTxn)
}

// transact makes one call of the client with the producer to itself, also when the
// context ends before the client is done.
func (p *producer) transact(ctx context.Context, op string, call func() error) error {
	if p.spec.TransactionID == "" {
		return &broker.Error{Op: op, Answer: contract.Refused, Class: contract.Rejected,
			Err: fmt.Errorf("%w without a transaction id", broker.ErrUnsupported)}
	}
	err := awaitDone(ctx, func() error {
		p.sending.Lock()
		defer p.sending.Unlock()
		if p.closed || gone(p.vanished) {
			return broker.ErrClosed
		}
		return call()
	})
	if err != nil {
		return transactionError(op, err)
	}
	return nil
}

// positionsOf sorts positions by group and topic, as the client wants them.
func positionsOf(offsets []broker.OffsetCommit) map[string]map[string][]*sarama.PartitionOffsetMetadata {
	groups := map[string]map[string][]*sarama.PartitionOffsetMetadata{}
	for _, o := range offsets {
		if groups[o.Group] == nil {
			groups[o.Group] = map[string][]*sarama.PartitionOffsetMetadata{}
		}
		one := &sarama.PartitionOffsetMetadata{Partition: o.Partition, Offset: o.Next}
		groups[o.Group][o.Destination] = append(groups[o.Group][o.Destination], one)
	}
	return groups
}

// transactionError classes what the client said about the end of a transaction. Only a
// refusal proves that it did not end that way; whoever is fenced holds a stale token.
func transactionError(op string, err error) error {
	e := &broker.Error{Op: op, Answer: answerOf(err), Class: contract.Unknown, Code: codeOf(err), Err: reached(err)}
	var code sarama.KError
	refused := errors.As(err, &code) && refusesPublish(code)
	for _, own := range []error{sarama.ErrTransitionNotAllowed, sarama.ErrTransactionNotReady, broker.ErrClosed} {
		refused = refused || errors.Is(err, own)
	}
	if refused {
		e.Class = contract.Rejected
	}
	if code == sarama.ErrInvalidProducerEpoch || code == sarama.ErrProducerFenced {
		e.Err = fmt.Errorf("%w: %w", broker.ErrStale, err)
	}
	return e
}
