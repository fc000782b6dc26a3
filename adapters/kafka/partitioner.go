// SPDX-License-Identifier: Apache-2.0

package kafka

import (
	"github.com/IBM/sarama"

	"github.com/seed-720a3c77/harness/msg"
)

// partitioner keeps a partition that the workload pinned, puts the records of a key where
// Java's producer would (murmur2), and spreads the others in turn.
type partitioner struct {
	byKey  sarama.Partitioner
	inTurn sarama.Partitioner
}

func newPartitioner(topic string) sarama.Partitioner {
	return &partitioner{byKey: sarama.NewMurmur2Partitioner(topic), inTurn: sarama.NewRoundRobinPartitioner(topic)}
}

func (p *partitioner) Partition(m *sarama.ProducerMessage, partitions int32) (int32, error) {
	switch {
	case m.Partition != msg.AnyPartition:
		return m.Partition, nil
	case m.Key != nil:
		return p.byKey.Partition(m, partitions)
	default:
		return p.inTurn.Partition(m, partitions)
	}
}

// RequiresConsistency makes the client count partitions without a leader too.
func (p *partitioner) RequiresConsistency() bool { return true }
