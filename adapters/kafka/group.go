// SPDX-License-Identifier: Apache-2.0

package kafka

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/IBM/sarama"

	"github.com/seed-720a3c77/harness/broker"
)

// join is a member of the group until the consumer leaves or cannot be one.
func (c *consumer) join() {
	defer close(c.ended)
	go c.listen(c.group.Errors())
	for c.ctx.Err() == nil {
		err := c.group.Consume(c.ctx, []string{c.spec.From}, c)
		switch {
		case err == nil || c.ctx.Err() != nil:
		case hopeless(err):
			c.fail(err)
			return
		default:
			c.hear(err)
			c.rest(retryBackoff)
		}
	}
}

// hopeless tells errors that another attempt to join would only meet again.
func hopeless(err error) bool {
	for _, code := range []error{
		sarama.ErrInvalidSessionTimeout, sarama.ErrInconsistentGroupProtocol, sarama.ErrInvalidGroupId,
		sarama.ErrGroupAuthorizationFailed, sarama.ErrTopicAuthorizationFailed, sarama.ErrFencedInstancedId,
		sarama.ErrGroupMaxSizeReached, sarama.ErrSASLAuthenticationFailed, sarama.ErrClosedConsumerGroup,
		sarama.ErrClosedClient,
	} {
		if errors.Is(err, code) {
			return true
		}
	}
	var config sarama.ConfigurationError
	return errors.As(err, &config)
}

func (c *consumer) rest(d time.Duration) {
	select {
	case <-time.After(d):
	case <-c.ctx.Done():
	}
}

func (c *consumer) listen(errs <-chan error) {
	for err := range errs {
		c.hear(err)
	}
}

// hear keeps an error that the client tells beside its calls, such as a fenced automatic
// commit; the end of the session shows it.
func (c *consumer) hear(err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.trouble = err
}

func (c *consumer) heard() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	err := c.trouble
	c.trouble = nil
	return err
}

// Setup is called when a session begins.
func (c *consumer) Setup(s sarama.ConsumerGroupSession) error {
	c.notices.tell(broker.Notice{Kind: broker.SessionOpen, Generation: s.GenerationID(), Text: s.MemberID()})
	return nil
}

// Cleanup is called when a session has ended and all its partitions are given back.
func (c *consumer) Cleanup(s sarama.ConsumerGroupSession) error {
	notice := broker.Notice{Kind: broker.SessionClose, Generation: s.GenerationID()}
	notice.Code, notice.Text = codeOf(context.Cause(s.Context())), endOf(s)
	if trouble := c.heard(); trouble != nil {
		notice.Text += "; " + trouble.Error()
	}
	c.notices.tell(notice)
	return nil
}

// ConsumeClaim reads one partition as long as the session gives it to this member.
func (c *consumer) ConsumeClaim(s sarama.ConsumerGroupSession, claim sarama.ConsumerGroupClaim) error {
	h := c.newHolding(claim.Partition(), s)
	c.hold(h)
	offset, why := c.startOf(claim)
	c.notices.tell(broker.Notice{Kind: broker.Assigned, Partition: h.partition, Generation: h.since, Offset: offset, Text: why})
	h.read(s.Context(), claim.Messages())
	c.release(h)
	c.notices.tell(broker.Notice{Kind: ending(s), Partition: h.partition, Generation: h.generation(), Text: endOf(s)})
	return nil
}

// ending tells a partition that was taken away in order from one that the group had
// already given away.
func ending(s sarama.ConsumerGroupSession) broker.NoticeKind {
	cause := context.Cause(s.Context())
	var code sarama.KError
	if errors.As(cause, &code) && fencesCommit(code) && code != sarama.ErrRebalanceInProgress {
		return broker.Lost
	}
	if errors.Is(cause, sarama.ErrSessionHeartbeatFailed) {
		return broker.Lost
	}
	return broker.Revoked
}

func endOf(s sarama.ConsumerGroupSession) string {
	switch cause := context.Cause(s.Context()); {
	case cause == nil:
		return "moved to another member"
	case errors.Is(cause, context.Canceled):
		return "left the group"
	default:
		return cause.Error()
	}
}

// startOf is where a claim begins, and why there.
func (c *consumer) startOf(claim sarama.ConsumerGroupClaim) (int64, string) {
	at := claim.InitialOffset()
	if at >= 0 {
		return at, "committed"
	}
	why := startText(c.spec.Start)
	if at == sarama.OffsetNewest {
		at = claim.HighWaterMarkOffset()
	} else if oldest, err := c.client.GetOffset(claim.Topic(), claim.Partition(), at); err == nil {
		at = oldest
	}
	if committed, ok := c.position(claim.Partition()); ok {
		return at, fmt.Sprintf("%s, as the committed %d is out of range", why, committed)
	}
	return at, why
}

// position is what the group has committed for a partition.
func (c *consumer) position(partition int32) (int64, bool) {
	coordinator, err := c.client.Coordinator(c.spec.Group)
	if err != nil {
		return 0, false
	}
	request := sarama.NewOffsetFetchRequest(c.engine.protocol, c.spec.Group, map[string][]int32{c.spec.From: {partition}})
	answer, err := coordinator.FetchOffset(request)
	if err != nil {
		return 0, false
	}
	block := answer.GetBlock(c.spec.From, partition)
	if block == nil || block.Err != sarama.ErrNoError || block.Offset < 0 {
		return 0, false
	}
	return block.Offset, true
}

func (c *consumer) hold(h *holding) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.holdings[h.partition] = h
	if c.paused && h.session != nil {
		c.group.Pause(c.only(h))
	}
}

// release forgets a partition: what is buffered of it is not handed out any more.
func (c *consumer) release(h *holding) {
	c.mu.Lock()
	defer c.mu.Unlock()
	h.current.stop()
	if c.holdings[h.partition] == h {
		delete(c.holdings, h.partition)
	}
	if h.reader != nil {
		go shut(h.reader)
	}
	if h.session != nil && !c.paused {
		c.group.Resume(c.only(h)) // the client remembers a pause for the next claim
	}
}

func (c *consumer) only(h *holding) map[string][]int32 {
	return map[string][]int32{c.spec.From: {h.partition}}
}

// reassigned hears a cooperative assignment: what is not in it is being taken away.
func (c *consumer) reassigned(partitions []int32) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for partition, h := range c.holdings {
		if !slices.Contains(partitions, partition) {
			h.take()
		}
	}
}
