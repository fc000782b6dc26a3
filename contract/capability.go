// SPDX-License-Identifier: Apache-2.0

package contract

import (
	"iter"
	"strings"
)

// Capability is one thing a profile can or cannot do. The conformance suite has one
// case for each, for both answers.
type Capability uint8

const (
	// Partitions: a destination has numbered partitions and records have offsets.
	Partitions Capability = iota
	// Groups: consumers of one group share the work; every group sees every message.
	Groups
	// OffsetCommit: a group's position is committed by Commit settlements.
	OffsetCommit
	// AutoCommit: the client commits marked positions on an interval.
	AutoCommit
	// Seek: a consumer moves its own position (replay).
	Seek
	// PauseConsumer: a consumer stops and resumes fetching without leaving.
	PauseConsumer
	// Acks: messages are settled one by one with Ack.
	Acks
	// Requeue: a message is given back for redelivery.
	Requeue
	// RequeueDelay: a message is given back to reappear after a delay.
	RequeueDelay
	// Reject: a message is refused for good (dead-lettered or dropped).
	Reject
	// AckMultiple: one Ack settles all up to a delivery tag.
	AckMultiple
	// Lease: a delivery is held until a deadline, after which it is given to others.
	Lease
	// Extend: a holder moves its lease's deadline.
	Extend
	// DeliveryCount: deliveries carry how often the message was delivered.
	DeliveryCount
	// RedeliveredFlag: deliveries carry whether the message was delivered before.
	RedeliveredFlag
	// DeadLetter: the broker moves a message to a dead-letter queue after a limit of deliveries.
	DeadLetter
	// FIFOGroups: messages of one key are held back while an earlier one is in flight.
	FIFOGroups
	// Confirms: the producer gets an answer for every message.
	Confirms
	// Returns: an unroutable mandatory message comes back to its producer.
	Returns
	// Prefetch: the broker pushes up to a window of unsettled messages.
	Prefetch
	// FanOut: one publish reaches several queues through an exchange.
	FanOut
	// Idempotence: the producer's own retries are stored once.
	Idempotence
	// Deduplication: the broker swallows a second send with the same deduplication id inside a window.
	Deduplication
	// Transactions: publishes and offset commits are atomic.
	Transactions
	// BatchEntries: a batch request has one result an entry.
	BatchEntries
	// Delay: a message is hidden for a time after it was published.
	Delay
	// MessageTTL: a message expires unread.
	MessageTTL
	// Priorities: messages overtake by priority.
	Priorities
	// Purge: a destination is emptied on demand.
	Purge

	capabilities
)

var capabilityNames = [capabilities]string{
	"partitions", "groups", "offset-commit", "auto-commit", "seek", "pause-consumer", "acks", "requeue",
	"requeue-delay", "reject", "ack-multiple", "lease", "extend", "delivery-count", "redelivered-flag",
	"dead-letter", "fifo-groups", "confirms", "returns", "prefetch", "fan-out", "idempotence",
	"deduplication", "transactions", "batch-entries", "delay", "message-ttl", "priorities", "purge",
}

func (c Capability) String() string { return word(capabilityNames[:], int(c)) }

// Capabilities is a set; the zero value can do nothing.
type Capabilities uint64

// Can makes a set.
func Can(all ...Capability) Capabilities {
	var set Capabilities
	for _, c := range all {
		set |= 1 << c
	}
	return set
}

// Has tells whether the set holds a capability.
func (s Capabilities) Has(c Capability) bool { return s&(1<<c) != 0 }

// With adds capabilities.
func (s Capabilities) With(all ...Capability) Capabilities { return s | Can(all...) }

// Without removes capabilities.
func (s Capabilities) Without(all ...Capability) Capabilities { return s &^ Can(all...) }

// AllCapabilities yields every capability that exists, so that a test can ask for each.
func AllCapabilities() iter.Seq[Capability] {
	return func(yield func(Capability) bool) {
		for c := range capabilities {
			if !yield(c) {
				return
			}
		}
	}
}

// MarshalText lists the names, separated by commas.
func (s Capabilities) MarshalText() ([]byte, error) {
	var names []string
	for c := range AllCapabilities() {
		if s.Has(c) {
			names = append(names, c.String())
		}
	}
	return []byte(strings.Join(names, ",")), nil
}

// UnmarshalText reads what MarshalText wrote; unknown names of a newer version are dropped.
func (s *Capabilities) UnmarshalText(text []byte) error {
	*s = 0
	for name := range strings.SplitSeq(string(text), ",") {
		for c := range AllCapabilities() {
			if c.String() == name {
				*s |= 1 << c
			}
		}
	}
	return nil
}
