// SPDX-License-Identifier: Apache-2.0

package broker

import "time"

// Topology is what a workload needs to exist, with run-unique names.
type Topology struct {
	Destinations []Destination
}

// Kind of a destination. The zero value is a Stored one.
type Kind string

const (
	// Stored keeps messages: a topic or a queue.
	Stored Kind = ""
	// Exchange routes to its Bindings and keeps nothing.
	Exchange Kind = "exchange"
)

// Destination is one topic, queue or exchange. What a field asks for and the profile
// cannot do makes Declare fail with ErrUnsupported, before anything is created.
type Destination struct {
	Name string
	Kind Kind
	// Partitions of a log; 0 is one.
	Partitions int
	// FIFO asks for message groups, where the profile does not imply them.
	FIFO bool
	// Lease is how long a delivery is held (visibility timeout, consumer timeout); 0 is the default.
	Lease time.Duration
	// MaxDeliveries counts deliveries before the message leaves; 0 is the profile's
	// default, -1 is unlimited. The adapter maps it (n on SQS, n-1 on quorum queues).
	MaxDeliveries int
	// DeadLetter names the destination that takes what leaves by limit or reject; empty drops it.
	DeadLetter string
	// Bindings of an exchange: queue name to routing key, "" for fan-out.
	Bindings map[string]string
	// DedupWindow, MaxLength, TTL and Delay are zero unless asked for.
	DedupWindow time.Duration
	MaxLength   int
	Overflow    string // "", drop-head, reject-publish, reject-publish-dlx
	TTL         time.Duration
	Delay       time.Duration
	// Native holds raw broker arguments, passed through unchecked.
	Native map[string]string
}
