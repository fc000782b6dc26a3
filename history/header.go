// SPDX-License-Identifier: Apache-2.0

package history

import (
	"time"

	"github.com/seed-720a3c77/harness/contract"
)

// FormatVersion is the version of manifests that this package writes. Since 2 they end with
// a checksum, and that of a run that was closed lists its files.
const FormatVersion = 2

// Header is the manifest of a run: all that a checker needs beside the events, and all
// that a reader needs to repeat the run. It holds no secret.
type Header struct {
	Format   int    `json:"format"`
	Run      string `json:"run"`   // unique name of the run, also its directory's
	Nonce    uint32 `json:"nonce"` // in every envelope
	Tool     string `json:"tool"`  // version of the harness
	Workload string `json:"workload"`
	Variant  string `json:"variant,omitempty"`
	About    string `json:"about,omitempty"`
	// Spec is the workload as run, in YAML, defaults resolved and variant applied.
	Spec     string           `json:"spec"`
	Engine   string           `json:"engine"` // as asked for: inmem:kafka, kafka
	Provider string           `json:"provider,omitempty"`
	Profile  contract.Profile `json:"profile"`
	// Fidelity is "virtual" or "real"; Clock is "virtual" or "wall".
	Fidelity string            `json:"fidelity"`
	Clock    string            `json:"clock"`
	Seed     uint64            `json:"seed"`
	Settings map[string]string `json:"settings,omitempty"` // client, broker and topic settings in effect
	Versions map[string]string `json:"versions,omitempty"`
	Host     string            `json:"host,omitempty"`    // OS, architecture, cores; never a name
	Started  time.Time         `json:"started"`           // wall clock anchor of offset 0
	Command  string            `json:"command,omitempty"` // that repeats the run

	Destinations  []Destination  `json:"destinations"`
	Subscriptions []Subscription `json:"subscriptions"`
	Producers     []Producer     `json:"producers"`

	Claims       []contract.Claim       `json:"claims"`
	Expectations []contract.Expectation `json:"expectations,omitempty"`
	Thresholds   []contract.Threshold   `json:"thresholds,omitempty"`
	// Faults the timeline asks for, in order; a fault event's Op is the index from 1.
	Faults []Fault `json:"faults,omitempty"`
	// Unfinished: the record was not closed, or not without an error: a part may be missing.
	Unfinished bool `json:"unfinished,omitempty"`
	// Notes say what was mapped to the profile in a way that a reader should know.
	Notes []string `json:"notes,omitempty"`
	// Scale is how much durations were shrunk on a real broker; 1 is not at all.
	Scale float64 `json:"scale,omitempty"`
}

// Destination as the run used it. Name is the workload's; Broker the run-unique one.
type Destination struct {
	Name          string        `json:"name"`
	Broker        string        `json:"broker"`
	Partitions    int           `json:"partitions,omitempty"`
	Lease         time.Duration `json:"lease_ns,omitempty"`
	MaxDeliveries int           `json:"max_deliveries,omitempty"`
	DeadLetter    string        `json:"dead_letter,omitempty"`
	// DeadLetterOf is set on a dead-letter destination or a retry topic.
	DeadLetterOf string `json:"dead_letter_of,omitempty"`
	// SingleActive: one consumer at a time gets messages; TTL: they expire after so long.
	SingleActive bool          `json:"single_active,omitempty"`
	TTL          time.Duration `json:"ttl_ns,omitempty"`
}

// Subscription is who must get the messages: a group on a log, a queue otherwise. The
// ledger balances per (id, subscription).
type Subscription struct {
	Name string `json:"name"` // group or queue
	From string `json:"from"` // destination read
	// Published lists the destinations whose messages reach it (an exchange, the queue itself).
	Published []string `json:"published"`
	// Settle is when: before-handler, after-handler, after-batch, auto, never.
	Settle string `json:"settle"`
	// Effect is the mode of the store: none, plain, upsert, claim, transactional.
	Effect string `json:"effect"`
	Batch  int    `json:"batch,omitempty"`
	// Prefetch is the push window or client buffer where it is not the batch.
	Prefetch int           `json:"prefetch,omitempty"`
	Lease    time.Duration `json:"lease_ns,omitempty"`
	// Latest: begins at the end of the log, so that earlier messages are not owed.
	Latest bool `json:"latest,omitempty"`
	// Opaque: the consumer is a program of its own. What it receives, handles and settles is
	// not recorded, only what the broker's depth and its effects tell. An effect's Op is 0.
	Opaque bool `json:"opaque,omitempty"`
}

// Producer of a run; its index is the producer number of its ids.
type Producer struct {
	Name string `json:"name"`
	To   string `json:"to"`
	// Count is how many messages were planned; Retries and Copies bound stored copies of one id.
	Count      int     `json:"count"`
	Rate       float64 `json:"rate,omitempty"` // per second; 0 is as fast as possible
	Acks       string  `json:"acks,omitempty"`
	Idempotent bool    `json:"idempotent,omitempty"`
	Retries    int     `json:"retries,omitempty"`
}

// Fault as planned.
type Fault struct {
	Name   string `json:"name"`   // kill, freeze, ...
	Target string `json:"target"` // billing/0
	Text   string `json:"text"`   // as the timeline said it
}
