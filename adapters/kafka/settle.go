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

// Settle commits and marks positions. Commits that follow each other and come from the
// same member travel in one request; each has a result of its own.
func (c *consumer) Settle(ctx context.Context, all []broker.Settlement, results []error) {
	for i := 0; i < len(all); {
		n := 1
		switch all[i].Verb {
		case broker.Commit:
			n = c.sameOwner(all[i:])
			c.commit(ctx, all[i:i+n], results[i:i+n])
		case broker.Mark:
			results[i] = c.mark(all[i].Token)
		default:
			results[i] = refuseSettle(all[i].Verb.String(), contract.Refused, broker.ErrUnsupported)
		}
		i += n
	}
}

// owner is in whose name a position is committed.
type owner struct {
	member     string
	generation int32
}

// ownerOf passes a stale token through as it is. A cooperative session that kept the
// partition commits in the name of its present generation.
func (c *consumer) ownerOf(t broker.Token) owner {
	c.mu.Lock()
	defer c.mu.Unlock()
	if h := c.holder(t); h != nil {
		return owner{t.Member, h.generation()}
	}
	return owner{t.Member, t.Generation}
}

// sameOwner counts the commits at the beginning that one request can carry.
func (c *consumer) sameOwner(all []broker.Settlement) int {
	first := c.ownerOf(all[0].Token)
	for i, s := range all {
		if s.Verb != broker.Commit || c.ownerOf(s.Token) != first {
			return max(i, 1)
		}
	}
	return len(all)
}

// refuseSettle is the error of a settlement that never left.
func refuseSettle(op string, answer contract.Answer, err error) error {
	return &broker.Error{Op: op, Answer: answer, Class: contract.Rejected, Err: err}
}

// errMarked is what a mark proves: that the client will commit it some day.
var errMarked = &broker.Error{Op: "mark", Class: contract.AcceptedOnly, Err: errors.New("left to the automatic commit")}

func (c *consumer) mark(t broker.Token) error {
	if c.spec.AutoCommit == 0 {
		return refuseSettle("mark", contract.Refused, fmt.Errorf("%w without auto-commit", broker.ErrUnsupported))
	}
	if gone(c.vanished) {
		return refuseSettle("mark", contract.Closed, broker.ErrClosed)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	h := c.holder(t)
	if h == nil {
		return refuseSettle("mark", contract.Refused, broker.ErrStale)
	}
	h.session.MarkOffset(c.spec.From, t.Partition, t.Offset+1, "")
	return errMarked
}

// holder is the holding that a token came from, or nil if it is over: the consumer's lock
// is held. A cooperative session keeps partitions over several generations.
func (c *consumer) holder(t broker.Token) *holding {
	h := c.holdings[t.Partition]
	if h == nil || h.session == nil || t.Member != h.member() || t.Generation < h.since || t.Generation > h.generation() {
		return nil
	}
	return h
}

// commit sends positions and waits for the coordinator's answer.
func (c *consumer) commit(ctx context.Context, all []broker.Settlement, results []error) {
	answer, err := c.sendCommit(ctx, all)
	for i, s := range all {
		results[i] = err
		if err == nil {
			results[i] = committed(answer, c.spec.From, s.Token.Partition)
		}
	}
}

// committed is the coordinator's word on one partition.
func committed(answer *sarama.OffsetCommitResponse, topic string, partition int32) error {
	code, found := answer.Errors[topic][partition]
	switch {
	case !found:
		return commitError(sarama.ErrIncompleteResponse)
	case code == sarama.ErrNoError:
		return nil
	default:
		return commitError(code)
	}
}

func (c *consumer) sendCommit(ctx context.Context, all []broker.Settlement) (*sarama.OffsetCommitResponse, error) {
	if c.spec.Group == "" {
		return nil, refuseSettle("commit", contract.Refused, fmt.Errorf("%w without a group", broker.ErrUnsupported))
	}
	if gone(c.vanished) {
		return nil, refuseSettle("commit", contract.Closed, broker.ErrClosed)
	}
	if err := ctx.Err(); err != nil {
		return nil, refuseSettle("commit", contract.Timeout, err)
	}
	request := c.commitRequest(all)
	answer, err := await(ctx, func() (*sarama.OffsetCommitResponse, error) { return c.toCoordinator(request) })
	if err != nil {
		return nil, commitError(err)
	}
	return answer, nil
}

// commitRequest carries the positions after the tokens. A stale token is passed through
// as it is; through a live session a position only moves forward, as the client's own
// marks do.
func (c *consumer) commitRequest(all []broker.Settlement) *sarama.OffsetCommitRequest {
	by := c.ownerOf(all[0].Token)
	request := sarama.NewOffsetCommitRequest(c.client.Config(), c.spec.Group)
	request.ConsumerID, request.ConsumerGroupGeneration = by.member, by.generation
	if c.spec.StaticID != "" {
		request.GroupInstanceId = &c.spec.StaticID
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, s := range all {
		next := s.Token.Offset + 1
		if h := c.holder(s.Token); h != nil {
			h.current.mark = max(h.current.mark, next)
			next = h.current.mark
		}
		request.AddBlock(c.spec.From, s.Token.Partition, next, 0, "")
	}
	return request
}

// redirects is how often a commit asks again for a coordinator that says it is not the
// one, or not yet. Such an answer proves that nothing was stored.
const redirects = 5

func (c *consumer) toCoordinator(request *sarama.OffsetCommitRequest) (answer *sarama.OffsetCommitResponse, err error) {
	for range redirects {
		answer, err = c.toOneCoordinator(request)
		if err != nil || !redirected(answer.Errors[c.spec.From]) || gone(c.vanished) {
			break
		}
		c.rest(retryBackoff)
		_ = c.client.RefreshCoordinator(c.spec.Group) // or the next attempt asks for it
	}
	return answer, err
}

// toOneCoordinator sends on the group's own connection, as a session's commit does. A
// connection that failed is given up, so that the next commit opens another.
func (c *consumer) toOneCoordinator(request *sarama.OffsetCommitRequest) (*sarama.OffsetCommitResponse, error) {
	coordinator, err := c.client.Coordinator(c.spec.Group)
	if err != nil {
		return nil, err
	}
	answer, err := coordinator.CommitOffset(request)
	if err != nil {
		coordinator.Close()
	}
	return answer, err
}

func redirected(codes map[int32]sarama.KError) bool {
	for _, code := range codes {
		switch code {
		case sarama.ErrNotCoordinatorForConsumer, sarama.ErrConsumerCoordinatorNotAvailable, sarama.ErrOffsetsLoadInProgress:
			return true
		}
	}
	return false
}
