// SPDX-License-Identifier: Apache-2.0

package profiles

import (
	"time"

	"github.com/seed-720a3c77/harness/contract"
)

// pushQueue is what all RabbitMQ profiles share.
func pushQueue(version string) contract.Profile {
	return contract.Profile{
		Product: "rabbitmq", Version: version, Client: "amqp091-go",
		Model: contract.PushQueue,
		Nodes: 1,
		Can: contract.Can(contract.Acks, contract.Requeue, contract.Reject, contract.AckMultiple,
			contract.RedeliveredFlag, contract.Confirms, contract.Returns, contract.Prefetch, contract.FanOut,
			contract.Purge),
		Order:         contract.OrderQueue,
		OrderBrokenBy: "what comes back",
		Lease:         contract.Hold{Name: "consumer timeout", Default: 30 * time.Minute, Floor: time.Second, Step: time.Millisecond, Tick: time.Minute},
		// A heartbeat of H finds a frozen peer after 1.5 H to 3 H; a cut socket at once.
		Session:     contract.Hold{Name: "heartbeat", Default: 10 * time.Second, Floor: time.Second, Step: time.Second},
		Stale:       contract.StaleCloses,
		FlagTrusted: true,
		Publish:     contract.OK,
		Settle:      contract.AcceptedOnly,
		TakeOver:    2 * time.Second,
		Tolerance:   200 * time.Millisecond,
		Knobs:       map[string]string{MaxBody: "16777216"},
		LeftOut: map[string]string{
			"offsets":       "a queue forgets what is acked: there is nothing to replay",
			"requeue delay": "needs a second queue with a TTL and a dead-letter exchange",
			"message ttl":   "not built yet",
			"priorities":    "not built yet",
			"overflow":      "not built yet",
		},
	}
}

func classic(p contract.Profile) contract.Profile {
	p.Configuration = "classic"
	p.Requeue, p.Return = contract.PlaceOriginal, contract.PlaceOriginal
	p.LeftOut["delivery limit"] = "classic queues refuse x-delivery-limit and have no count"
	return p
}

func quorum(p contract.Profile) contract.Profile {
	p.Configuration = "quorum"
	p.Can = p.Can.With(contract.DeliveryCount, contract.DeadLetter)
	p.Requeue, p.Return = contract.PlaceHead, contract.PlaceHead
	// A limit of n means n+1 deliveries, and a push to the client counts.
	p.Limit = contract.Limit{Extra: 1, CountsHandlerless: true}
	p.CountTrusted = true
	p.Knobs[PrefetchCap] = "2000"
	return p
}

func rabbitmq310Classic() contract.Profile {
	p := classic(pushQueue("3.10"))
	p.Name = "rabbitmq-3.10-classic"
	return withoutQueueTimeout(p)
}

// rabbitmq310Quorum puts a nacked message last, unless the queue has a delivery limit.
func rabbitmq310Quorum() contract.Profile {
	p := quorum(pushQueue("3.10"))
	p.Name = "rabbitmq-3.10-quorum"
	p.Requeue = contract.PlaceTail
	p.Knobs[RequeueWithLimit] = string(contract.PlaceHead)
	return withoutQueueTimeout(p)
}

// withoutQueueTimeout: 3.10 ignores x-consumer-timeout, only the broker's own setting works.
func withoutQueueTimeout(p contract.Profile) contract.Profile {
	p.LeftOut["lease per queue"] = "3.10 ignores x-consumer-timeout without an error"
	return p
}

func rabbitmq40Classic() contract.Profile {
	p := classic(pushQueue("4.0"))
	p.Name = "rabbitmq-4.0-classic"
	p.Can = p.Can.With(contract.Lease)
	return p
}

// rabbitmq40Quorum limits deliveries to 21 where nothing is asked for.
func rabbitmq40Quorum() contract.Profile {
	p := quorum(pushQueue("4.0"))
	p.Name = "rabbitmq-4.0-quorum"
	p.Can = p.Can.With(contract.Lease)
	p.Limit.Default = 21
	p.Knobs[DeadLetterCountCarried] = "true"
	return p
}
