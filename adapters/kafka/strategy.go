// SPDX-License-Identifier: Apache-2.0

package kafka

import (
	"slices"

	"github.com/IBM/sarama"
)

// cooperative is what the client asks of a strategy that moves only some partitions.
type cooperative interface {
	sarama.RebalanceProtocolBalanceStrategy
	sarama.SubscriptionUserDataBalanceStrategy
	sarama.OnAssignmentBalanceStrategy
}

// watched tells of a new assignment before the client takes partitions away. A claim that
// waits for room in the consumer's buffer would otherwise not hear of it: the client only
// closes its channel, and waits.
type watched struct {
	cooperative
	told func([]int32)
}

func watch(strategy sarama.BalanceStrategy, told func([]int32)) sarama.BalanceStrategy {
	if c, ok := strategy.(cooperative); ok {
		return watched{c, told}
	}
	return strategy
}

// OnAssignment hears the partitions of a new generation. A consumer reads one topic.
func (w watched) OnAssignment(assignment *sarama.ConsumerGroupMemberAssignment, generation int32) {
	w.cooperative.OnAssignment(assignment, generation)
	var all []int32
	for _, partitions := range assignment.Topics {
		all = slices.Concat(all, partitions)
	}
	w.told(all)
}
