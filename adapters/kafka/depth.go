// SPDX-License-Identifier: Apache-2.0

package kafka

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/IBM/sarama"

	"github.com/seed-720a3c77/harness/broker"
)

// Depth sums positions over the partitions. A partition for which the group has committed
// nothing counts from its start. The stable end is before an open transaction.
func (e *engine) Depth(ctx context.Context, destination, group string) (broker.Depth, error) {
	d, err := e.depth(ctx, destination, group)
	if err != nil {
		return broker.Depth{}, fmt.Errorf("kafka: depth of %s: %w", destination, err)
	}
	return d, nil
}

func (e *engine) depth(ctx context.Context, destination, group string) (d broker.Depth, err error) {
	began := time.Now()
	d.Ready, d.InFlight, d.Delayed = broker.Unmeasured, broker.Unmeasured, broker.Unmeasured
	committed := map[int32]int64{}
	d.Committed = broker.Unmeasured
	if group != "" {
		if committed, err = e.committed(ctx, destination, group); err != nil {
			return d, err
		}
	}
	starts, err := e.offsets(ctx, destination, sarama.OffsetOldest, sarama.ReadUncommitted)
	if err != nil {
		return d, err
	}
	ends, err := e.offsets(ctx, destination, sarama.OffsetNewest, sarama.ReadUncommitted)
	if err != nil {
		return d, err
	}
	stable, err := e.offsets(ctx, destination, sarama.OffsetNewest, sarama.ReadCommitted)
	if err != nil {
		return d, err
	}
	d.Start, d.End, d.Stable = sum(starts), sum(ends), sum(stable)
	if group != "" {
		maps.Copy(starts, committed)
		d.Committed, d.Positions = sum(starts), starts
	}
	d.Took = time.Since(began)
	return d, nil
}

func sum(positions map[int32]int64) (total int64) {
	for _, position := range positions {
		total += position
	}
	return total
}

// partitions asks the broker, not the client's memory, so that a topic that was deleted
// is not found.
func (e *engine) partitions(ctx context.Context, topic string) ([]int32, error) {
	all, err := ask(ctx, func() ([]int32, error) {
		if err := e.shared.RefreshMetadata(topic); err != nil {
			return nil, err
		}
		return e.shared.Partitions(topic)
	})
	return all, reached(err)
}

// offsets reads one position of every partition.
func (e *engine) offsets(ctx context.Context, topic string, at int64, isolation sarama.IsolationLevel) (map[int32]int64, error) {
	partitions, err := e.partitions(ctx, topic)
	if err != nil {
		return nil, err
	}
	positions := map[int32]int64{}
	for _, partition := range partitions {
		positions[partition] = at
	}
	found, err := ask(ctx, func() (map[string]map[int32]*sarama.OffsetResult, error) {
		return e.admin.ListOffsets(map[string]map[int32]int64{topic: positions}, &sarama.ListOffsetsOptions{IsolationLevel: isolation})
	})
	if err != nil {
		return nil, reached(err)
	}
	for partition := range positions {
		result := found[topic][partition]
		if result == nil {
			return nil, fmt.Errorf("partition %d: no position in the answer", partition)
		}
		if result.Err != nil && !errors.Is(result.Err, sarama.ErrNoError) {
			return nil, fmt.Errorf("partition %d: %w", partition, reached(result.Err))
		}
		positions[partition] = result.Offset
	}
	return positions, nil
}

// committed reads the positions of a group; a partition without one is left out.
func (e *engine) committed(ctx context.Context, topic, group string) (map[int32]int64, error) {
	partitions, err := e.partitions(ctx, topic)
	if err != nil {
		return nil, err
	}
	found, err := ask(ctx, func() (*sarama.OffsetFetchResponse, error) {
		return e.admin.ListConsumerGroupOffsets(group, map[string][]int32{topic: slices.Clone(partitions)})
	})
	if err != nil {
		return nil, fmt.Errorf("positions of group %s: %w", group, reached(err))
	}
	positions := map[int32]int64{}
	for _, partition := range partitions {
		if block := found.GetBlock(topic, partition); block != nil && block.Err == sarama.ErrNoError && block.Offset >= 0 {
			positions[partition] = block.Offset
		}
	}
	return positions, nil
}
