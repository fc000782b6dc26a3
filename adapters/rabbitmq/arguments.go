// SPDX-License-Identifier: Apache-2.0

package rabbitmq

import (
	"strconv"
	"time"

	amqp "github.com/rabbitmq/amqp091-go"

	"github.com/seed-720a3c77/harness/broker"
	"github.com/seed-720a3c77/harness/contract"
)

const singleActiveConsumer = "x-single-active-consumer"

// refuse names the first thing that a destination asks for and this engine cannot do.
func (e *engine) refuse(d broker.Destination) error {
	switch {
	case d.Kind != broker.Stored && d.Kind != broker.Exchange:
		return unsupported("%s: kind %q", d.Name, d.Kind)
	case d.Partitions > 1:
		return unsupported("%s: %d partitions: a queue has none", d.Name, d.Partitions)
	case d.FIFO:
		return unsupported("%s: message groups", d.Name)
	case d.DedupWindow > 0:
		return unsupported("%s: deduplication", d.Name)
	case d.Delay > 0:
		return unsupported("%s: a delay", d.Name)
	case d.Kind == broker.Exchange:
		return refuseExchange(d)
	case len(d.Bindings) > 0:
		return unsupported("%s: bindings of a queue (declare them on the exchange)", d.Name)
	}
	return e.refuseQueue(d)
}

func refuseExchange(d broker.Destination) error {
	if d.Lease != 0 || d.MaxDeliveries != 0 || d.DeadLetter != "" || d.MaxLength != 0 || d.Overflow != "" || d.TTL != 0 {
		return unsupported("%s: an exchange keeps no messages", d.Name)
	}
	return nil
}

func (e *engine) refuseQueue(d broker.Destination) error {
	switch {
	case d.MaxDeliveries > 0 && !e.can(contract.DeadLetter):
		return unsupported("%s: a limit of %d deliveries: a %s queue has none", d.Name, d.MaxDeliveries, e.config.Queue)
	case d.Lease > 0 && !e.can(contract.Lease):
		return unsupported("%s: a consumer timeout of %v: version %s ignores it", d.Name, d.Lease, e.profile.Version)
	case e.config.Queue == Quorum && d.Overflow == "reject-publish-dlx":
		return unsupported("%s: reject-publish-dlx: a quorum queue accepts it and drops the head", d.Name)
	}
	return nil
}

// arguments are those of queue.declare.
// https://www.rabbitmq.com/docs/queues#optional-arguments
func (e *engine) arguments(d broker.Destination) amqp.Table {
	args := amqp.Table{"x-queue-type": e.config.Queue}
	if limit, set := e.deliveryLimit(d); set {
		args["x-delivery-limit"] = limit
	}
	if d.DeadLetter != "" {
		args["x-dead-letter-exchange"] = ""
		args["x-dead-letter-routing-key"] = d.DeadLetter
	}
	if d.Lease > 0 {
		args["x-consumer-timeout"] = milliseconds(d.Lease)
	}
	if d.MaxLength > 0 {
		args["x-max-length"] = int64(d.MaxLength)
	}
	if d.Overflow != "" {
		args["x-overflow"] = d.Overflow
	}
	if d.TTL > 0 {
		args["x-message-ttl"] = milliseconds(d.TTL)
	}
	for name, value := range d.Native {
		args[name] = typed(value)
	}
	return args
}

// deliveryLimit is n-1 for n deliveries. Unlimited must be asked for (-1) only where the
// version has a limit by default; an older one takes -1 as a limit.
func (e *engine) deliveryLimit(d broker.Destination) (limit int64, set bool) {
	switch {
	case d.MaxDeliveries > 0:
		return int64(d.MaxDeliveries - e.profile.Limit.Extra), true
	case d.MaxDeliveries < 0 && e.profile.Limit.Default > 0:
		return -1, true
	}
	return 0, false
}

// milliseconds rounds up: 0 would mean at once.
func milliseconds(d time.Duration) int64 {
	return int64((d + time.Millisecond - 1) / time.Millisecond)
}

// typed guesses the AMQP type of a raw argument: the broker refuses a number written as text.
func typed(value string) any {
	if n, err := strconv.ParseInt(value, 10, 64); err == nil {
		return n
	}
	if value == "true" || value == "false" {
		return value == "true"
	}
	return value
}

// factsFrom keeps what a producer or consumer of the destination must know.
func (e *engine) factsFrom(d broker.Destination) facts {
	if d.Kind == broker.Exchange {
		return facts{exchange: true}
	}
	args := e.arguments(d)
	return facts{
		rejects: args["x-overflow"] == "reject-publish" && args["x-queue-type"] == Classic,
		single:  args[singleActiveConsumer] == true,
		lease:   d.Lease,
	}
}
