// SPDX-License-Identifier: Apache-2.0

package profiles

import (
	"time"

	"github.com/seed-720a3c77/harness/contract"
)

// leaseQueue is what all SQS profiles share.
func leaseQueue() contract.Profile {
	return contract.Profile{
		Product: "sqs", Client: "aws-sdk-go-v2",
		Model: contract.LeaseQueue,
		Nodes: 1,
		Can: contract.Can(contract.Acks, contract.Requeue, contract.RequeueDelay, contract.Lease, contract.Extend,
			contract.DeliveryCount, contract.DeadLetter, contract.Confirms, contract.BatchEntries, contract.Purge),
		Requeue: contract.PlaceOriginal,
		Return:  contract.PlaceOriginal,
		Lease:   contract.Hold{Name: "visibility timeout", Default: 30 * time.Second, Floor: time.Second, Step: time.Second},
		// A receive counts, whether a handler ran or not.
		Limit:        contract.Limit{CountsHandlerless: true},
		CountTrusted: true,
		Publish:      contract.OK,
		Settle:       contract.OK,
		BatchMax:     10,
		Knobs:        map[string]string{MaxBody: "1048576"},
		LeftOut: map[string]string{
			"reject":            "SQS has no reject: a message leaves by its receive count",
			"redelivered flag":  "SQS has a receive count instead",
			"crash of a client": "nobody notices it: its deliveries come back when their visibility timeout ends",
		},
	}
}

// sqsStandard follows the documentation of SQS: at-least-once, best-effort order, only
// the newest receipt handle deletes.
func sqsStandard() contract.Profile {
	p := leaseQueue()
	p.Name, p.Version, p.Configuration = "sqs-standard", "aws", "standard"
	p.Can = p.Can.With(contract.Delay)
	p.Order = contract.OrderNone
	p.Stale = contract.StaleSilent
	// ApproximateReceiveCount is what its name says, and a copy may come back without a cause.
	p.CountTrusted = false
	p.SpontaneousCopies = true
	p.Tolerance = time.Second
	p.Knobs[StaleExtend] = string(contract.StaleSilent)
	p.Knobs[StaleAfterExpiry] = string(contract.StaleApplies)
	p.Knobs[MaxInFlight] = "120000"
	p.Retention = true
	return p
}

// sqsFIFO follows the documentation of SQS: order and blocking within a message group.
func sqsFIFO() contract.Profile {
	p := leaseQueue()
	p.Name, p.Version, p.Configuration = "sqs-fifo", "aws", "fifo"
	p.Can = p.Can.With(contract.FIFOGroups, contract.Deduplication)
	p.Order = contract.OrderGroup
	p.Stale = contract.StaleRefused
	p.DedupWindow = 5 * time.Minute
	p.Tolerance = time.Second
	p.Knobs[StaleExtend] = string(contract.StaleRefused)
	p.Knobs[StaleAfterExpiry] = string(contract.StaleRefused)
	p.Knobs[MaxInFlight] = "20000"
	p.Retention = true
	p.LeftOut["delay"] = "FIFO queues refuse a delay per message"
	return p
}

// localstack49Standard is LocalStack 4.9.0 as measured: a sweep every second, and any
// handle of a message settles it.
func localstack49Standard() contract.Profile {
	p := localstack(leaseQueue())
	p.Name, p.Configuration = "localstack-4.9-standard", "standard"
	p.Can = p.Can.With(contract.Delay)
	p.Order = contract.OrderNone
	p.OrderBrokenBy = "several senders or receivers at a time"
	p.Stale = contract.StaleApplies
	p.Knobs[StaleAfterExpiry] = string(contract.StaleApplies)
	p.LeftOut["spontaneous copies"] = "none in 18,000 deliveries: LocalStack is kinder than SQS"
	return p
}

// localstack49FIFO is LocalStack 4.9.0 as measured.
func localstack49FIFO() contract.Profile {
	p := localstack(leaseQueue())
	p.Name, p.Configuration = "localstack-4.9-fifo", "fifo"
	p.Can = p.Can.With(contract.FIFOGroups, contract.Deduplication)
	p.Order = contract.OrderGroup
	p.OrderBrokenBy = "changing the visibility of part of a received batch"
	p.Stale = contract.StaleRefused
	p.DedupWindow = 5 * time.Minute
	p.Knobs[StaleAfterExpiry] = string(contract.StaleRefused)
	p.Knobs[ExtendSplitsGroup] = "true"
	p.LeftOut["delay"] = "FIFO queues refuse a delay per message"
	return p
}

func localstack(p contract.Profile) contract.Profile {
	p.Version = "localstack-4.9"
	p.Lease.Tick = time.Second
	p.Tolerance = time.Second
	p.Knobs[StaleExtend] = string(contract.StaleApplies)
	p.Knobs[CancelledPollSwallows] = "true"
	p.LeftOut["retention"] = "whether LocalStack holds to MessageRetentionPeriod was not measured"
	p.LeftOut["in-flight cap"] = "LocalStack enforces none"
	p.LeftOut["broker restart"] = "LocalStack forgets every queue"
	return p
}
