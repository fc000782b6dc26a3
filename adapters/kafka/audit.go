// SPDX-License-Identifier: Apache-2.0

package kafka

import (
	"context"
	"fmt"
	"sync"

	"github.com/IBM/sarama"

	"github.com/seed-720a3c77/harness/broker"
)

// audit reads every partition from the start without a group: nothing is committed.
func (c *consumer) audit(ctx context.Context) error {
	partitions, err := await(ctx, func() ([]int32, error) { return c.client.Partitions(c.spec.From) })
	if err != nil {
		close(c.ended)
		return reached(err)
	}
	var reading sync.WaitGroup
	defer func() {
		go func() {
			reading.Wait()
			close(c.ended)
		}()
	}()
	for _, partition := range partitions {
		h := c.newHolding(partition, nil)
		reader, err := c.readerAt(ctx, partition, initial(c.spec.Start))
		if err != nil {
			c.stop()
			return fmt.Errorf("partition %d: %w", partition, err)
		}
		h.reader = reader
		c.hold(h)
		c.notices.tell(broker.Notice{Kind: broker.Assigned, Partition: partition, Generation: noGeneration, Offset: c.startAt(h), Text: startText(c.spec.Start)})
		reading.Go(func() { c.readAll(h) })
	}
	return nil
}

func startText(start broker.Start) string {
	if start == broker.Latest {
		return "latest"
	}
	return "earliest"
}

// startAt is where a reader begins, or noOffset if the broker does not say.
func (c *consumer) startAt(h *holding) int64 {
	if c.spec.Start == broker.Latest {
		return h.reader.HighWaterMarkOffset()
	}
	oldest, err := c.client.GetOffset(c.spec.From, h.partition, sarama.OffsetOldest)
	if err != nil {
		return noOffset
	}
	return oldest
}

// readAll reads a partition until the consumer leaves. A reader that ends by itself, as
// its position was trimmed away, is the end of the consumer.
func (c *consumer) readAll(h *holding) {
	h.read(c.ctx, nil)
	c.release(h)
	if c.ctx.Err() != nil {
		return
	}
	err := c.heard()
	if err == nil {
		err = sarama.ErrOffsetOutOfRange
	}
	c.fail(fmt.Errorf("partition %d: %w", h.partition, err))
}

// readerAt opens a reader of its own for a partition, outside the group.
func (c *consumer) readerAt(ctx context.Context, partition int32, offset int64) (sarama.PartitionConsumer, error) {
	reader, err := await(ctx, func() (sarama.PartitionConsumer, error) {
		return c.readers.ConsumePartition(c.spec.From, partition, offset)
	})
	if err != nil {
		return nil, reached(err)
	}
	go func() {
		for err := range reader.Errors() {
			c.hear(err)
		}
	}()
	return reader, nil
}

// shut ends a reader and waits until the client has let go of the partition.
func shut(reader sarama.PartitionConsumer) {
	reader.AsyncClose()
	for range reader.Messages() {
	}
}
