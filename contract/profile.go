// SPDX-License-Identifier: Apache-2.0

package contract

import "time"

// Model is the shape of a broker. The zero value is refused.
type Model uint8

const (
	NoModel Model = iota
	// Log keeps messages; each group moves its own offset.
	Log
	// LeaseQueue forgets a message once it is deleted and hands it out under a lease.
	LeaseQueue
	// PushQueue forgets a message once it is acked and pushes it over a channel.
	PushQueue
)

var models = [...]string{"none", "log", "lease-queue", "push-queue"}

func (m Model) String() string { return word(models[:], int(m)) }

// MarshalText writes the word.
func (m Model) MarshalText() ([]byte, error) { return []byte(m.String()), nil }

// UnmarshalText reads the word; what is unknown becomes NoModel, which is refused where a model is wanted.
func (m *Model) UnmarshalText(text []byte) error {
	*m = Model(index(models[:], string(text)))
	return nil
}

func index(words []string, text string) int {
	for i, w := range words {
		if w == text {
			return i
		}
	}
	return 0
}

// OrderScope is where a profile promises order.
type OrderScope string

const (
	// OrderNone: messages may overtake (SQS standard).
	OrderNone OrderScope = "none"
	// OrderPartition: within a partition.
	OrderPartition OrderScope = "partition"
	// OrderGroup: within a message group, blocking while one is in flight.
	OrderGroup OrderScope = "group"
	// OrderQueue: within a queue, first deliveries only; what comes back may overtake.
	OrderQueue OrderScope = "queue"
)

// Place is where a message that comes back is put.
type Place string

const (
	// PlaceNone: the broker takes nothing back.
	PlaceNone Place = ""
	// PlaceOriginal: where it was.
	PlaceOriginal Place = "original"
	// PlaceHead: first, in the order of return.
	PlaceHead Place = "head"
	// PlaceTail: last.
	PlaceTail Place = "tail"
)

// Stale is what a broker does with a settlement whose ownership token is no longer current.
type Stale string

const (
	// StaleApplies: it takes effect all the same (LocalStack standard: any handle deletes).
	StaleApplies Stale = "applies"
	// StaleSilent: it is answered with success and changes nothing (SQS standard).
	StaleSilent Stale = "silent"
	// StaleRefused: it is answered with an error (FIFO queues, fenced commits).
	StaleRefused Stale = "refused"
	// StaleCloses: it closes the channel and everything unsettled on it comes back (RabbitMQ).
	StaleCloses Stale = "closes"
)

// Hold is a time for which something is held: a lease, a session, a consumer timeout.
type Hold struct {
	// What the broker calls it: "visibility timeout", "session timeout", "consumer timeout".
	Name string `json:"name,omitempty"`
	// Default applies where a workload asks for none; Floor is the shortest that can be set.
	Default time.Duration `json:"default_ns,omitempty"`
	Floor   time.Duration `json:"floor_ns,omitempty"`
	// Step is the unit in which it can be set (SQS: whole seconds).
	Step time.Duration `json:"step_ns,omitempty"`
	// Tick is the period of the sweep that applies it; it is late by up to one tick, never early.
	Tick time.Duration `json:"tick_ns,omitempty"`
}

// Fit returns the shortest hold that can be set and is at least d.
func (h Hold) Fit(d time.Duration) time.Duration {
	d = max(d, h.Floor)
	if h.Step > 0 && d%h.Step != 0 {
		d += h.Step - d%h.Step
	}
	return d
}

// Limit says how a limit of deliveries works.
type Limit struct {
	// Default is the number of deliveries where the topology asks for none; 0 is unlimited.
	Default int `json:"default,omitempty"`
	// Extra is what the broker's own setting counts less than deliveries: 1 on quorum
	// queues, where a delivery limit of n means n+1 deliveries.
	Extra int `json:"extra,omitempty"`
	// CountsHandlerless: a delivery counts even if no handler ever started it (prefetch).
	CountsHandlerless bool `json:"counts_handlerless,omitempty"`
}

// Profile is the declared contract of one broker, client, version and configuration.
type Profile struct {
	// Name is the unique name, such as "rabbitmq-4.0-quorum" or "kafka-4.1-sarama".
	Name          string `json:"name"`
	Product       string `json:"product"`       // kafka, sqs, rabbitmq
	Version       string `json:"version"`       // of the broker: "4.1"
	Client        string `json:"client"`        // sarama, aws-sdk-go-v2, amqp091-go
	Configuration string `json:"configuration"` // quorum, classic, standard, fifo, range
	Model         Model  `json:"model"`
	// Nodes is how many brokers hold the data: 1 says nothing about replication.
	Nodes int          `json:"nodes"`
	Can   Capabilities `json:"can"`

	// Order is where first deliveries keep the order of sends that did not overlap in time.
	Order OrderScope `json:"order"`
	// OrderBrokenBy tells what else may break it, in words; empty means nothing.
	OrderBrokenBy string `json:"order_broken_by,omitempty"`
	// Requeue is where a nacked message goes, Return where the unsettled of a dead session go.
	Requeue Place `json:"requeue,omitempty"`
	Return  Place `json:"return,omitempty"`

	// Lease is how long a delivery is held before others get it (visibility timeout,
	// consumer timeout); Session how long a silent member keeps its assignment or connection.
	Lease   Hold  `json:"lease"`
	Session Hold  `json:"session"`
	Stale   Stale `json:"stale,omitempty"`
	// Limit is how deliveries are limited.
	Limit Limit `json:"limit"`
	// CountTrusted and FlagTrusted: the delivery count and the redelivered flag are
	// evidence. They are not on a RabbitMQ 4.0 dead-letter queue or after a classic queue's restart.
	CountTrusted bool `json:"count_trusted,omitempty"`
	FlagTrusted  bool `json:"flag_trusted,omitempty"`
	// SpontaneousCopies: the contract allows a redelivery without a cause (SQS standard).
	SpontaneousCopies bool `json:"spontaneous_copies,omitempty"`
	// Retention: a queue forgets what it has kept for as long as its own attribute says (SQS).
	Retention bool `json:"retention,omitempty"`
	// DedupWindow is how long a deduplication id is remembered.
	DedupWindow time.Duration `json:"dedup_window_ns,omitempty"`

	// Publish and Settle are what a nil error proves: OK or AcceptedOnly.
	Publish Class `json:"publish"`
	Settle  Class `json:"settle"`
	// BatchMax is the most entries of one batch request; 0 is unlimited.
	BatchMax int `json:"batch_max,omitempty"`
	// TakeOver is how long after a crash another consumer holds the work, at most and
	// beyond the session: heartbeats, long polls, rebalance.
	TakeOver time.Duration `json:"take_over_ns,omitempty"`
	// Tolerance is added to every deadline of the engine before lateness is a finding.
	Tolerance time.Duration `json:"tolerance_ns,omitempty"`
	// Knobs are what else was decided or found out, by the broker's own names.
	Knobs map[string]string `json:"knobs,omitempty"`
	// LeftOut names what the harness cannot show with this profile, with the reason.
	LeftOut map[string]string `json:"left_out,omitempty"`
}
