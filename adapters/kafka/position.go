// SPDX-License-Identifier: Apache-2.0

package kafka

import (
	"context"
	"fmt"

	"github.com/IBM/sarama"

	"github.com/seed-720a3c77/harness/broker"
)

// Seek reads a partition that this consumer holds from another offset on, at once and
// inside the session. Through a session the client only moves back, and only when it
// begins; so the claim is paused and the partition read beside it. An offset outside the
// log is refused.
func (c *consumer) Seek(ctx context.Context, partition int32, offset int64) error {
	if err := c.gone(); err != nil {
		return err
	}
	if err := awaitDone(ctx, func() error { return c.inRange(partition, offset) }); err != nil {
		return fmt.Errorf("kafka: seek partition %d to %d: %w", partition, offset, err)
	}
	h, old := c.leaveStream(partition)
	if h == nil {
		return fmt.Errorf("kafka: seek: partition %d is not held by consumer %s: %w", partition, c.spec.Name, broker.ErrStale)
	}
	reader, err := c.reopen(ctx, old, partition, offset)
	if err != nil {
		c.fail(err) // the old position is gone and the new one was not reached
		return fmt.Errorf("kafka: seek partition %d to %d: %w", partition, offset, err)
	}
	c.enterStream(h, reader)
	if h.session != nil && c.spec.AutoCommit > 0 {
		h.session.ResetOffset(c.spec.From, partition, offset, "") // so that later marks count
	}
	return nil
}

func (c *consumer) inRange(partition int32, offset int64) error {
	start, err := c.client.GetOffset(c.spec.From, partition, sarama.OffsetOldest)
	if err != nil {
		return reached(err)
	}
	end, err := c.client.GetOffset(c.spec.From, partition, sarama.OffsetNewest)
	if err != nil {
		return reached(err)
	}
	if offset < start || offset > end {
		return fmt.Errorf("the log goes from %d to %d: %w", start, end, sarama.ErrOffsetOutOfRange)
	}
	return nil
}

// reopen replaces a reader: the client reads a partition only once at a time.
func (c *consumer) reopen(ctx context.Context, old sarama.PartitionConsumer, partition int32, offset int64) (sarama.PartitionConsumer, error) {
	if old != nil {
		if err := awaitDone(ctx, func() error { shut(old); return nil }); err != nil {
			return nil, err
		}
	}
	return c.readerAt(ctx, partition, offset)
}

// leaveStream ends the reading so far: nothing of it is handed out any more.
func (c *consumer) leaveStream(partition int32) (*holding, sarama.PartitionConsumer) {
	c.mu.Lock()
	defer c.mu.Unlock()
	h := c.holdings[partition]
	if h == nil {
		return nil, nil
	}
	if h.session != nil {
		c.group.Pause(c.only(h))
	}
	h.current.stop()
	old := h.reader
	h.reader = nil
	return h, old
}

func (c *consumer) enterStream(h *holding, reader sarama.PartitionConsumer) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.paused {
		reader.Pause()
	}
	h.reader = reader
	h.current = newStream(h)
	if c.holdings[h.partition] != h { // lost meanwhile
		h.current.stop()
		go shut(reader)
		return
	}
	select {
	case h.moved <- struct{}{}:
	default:
	}
}

// Pause stops fetching; the member stays in the group.
func (c *consumer) Pause(context.Context) error { return c.setPaused(true) }

// Resume goes on where Pause stopped.
func (c *consumer) Resume(context.Context) error { return c.setPaused(false) }

func (c *consumer) setPaused(paused bool) error {
	if err := c.gone(); err != nil {
		return err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.paused = paused
	for _, h := range c.holdings {
		c.pauseOne(h, paused)
	}
	return nil
}

// pauseOne stops or starts whichever of claim and reader is in use.
func (c *consumer) pauseOne(h *holding, paused bool) {
	switch {
	case h.reader != nil && paused:
		h.reader.Pause()
	case h.reader != nil:
		h.reader.Resume()
	case h.session == nil: // between two readers
	case paused:
		c.group.Pause(c.only(h))
	default:
		c.group.Resume(c.only(h))
	}
}
