// SPDX-License-Identifier: Apache-2.0

package profiles

import (
	"time"

	"github.com/seed-720a3c77/harness/contract"
)

func kafka41() contract.Profile {
	return contract.Profile{
		Name: "kafka-4.1-sarama", Product: "kafka", Version: "4.1", Client: "sarama", Configuration: "range",
		Model: contract.Log,
		Nodes: 1,
		Can: contract.Can(contract.Partitions, contract.Groups, contract.OffsetCommit, contract.AutoCommit,
			contract.Seek, contract.PauseConsumer, contract.Confirms, contract.Idempotence, contract.Transactions, contract.Purge),
		Order:   contract.OrderPartition,
		Requeue: contract.PlaceNone,
		Return:  contract.PlaceOriginal,
		Session: contract.Hold{Name: "session timeout", Default: 10 * time.Second, Floor: 6 * time.Second, Step: time.Millisecond},
		Stale:   contract.StaleRefused,
		Publish: contract.OK,
		Settle:  contract.OK,
		// Heartbeat, long poll, claim start, and what else a rebalance takes.
		TakeOver:  2500 * time.Millisecond,
		Tolerance: 500 * time.Millisecond,
		Knobs: map[string]string{
			Heartbeat:          "2s",
			MaxWait:            "50ms",
			RebalanceTimeout:   "60s",
			Strategy:           "range",
			ClaimStart:         "100ms",
			BufferedAfterLoss:  "1",
			CommitBackward:     "false",
			ClientBuffer:       "256",
			TransactionTimeout: "60s",
			MaxBody:            "1048576",
		},
		LeftOut: map[string]string{
			"poll limit":     "sarama sends heartbeats in the background and has no limit between polls",
			"group fencing":  "sarama sends no group metadata with transactional offsets",
			"replication":    "one node: acks=all and min.insync.replicas cannot be told from acks=1",
			"new group type": "sarama has no member of the KIP-848 protocol",
		},
	}
}
