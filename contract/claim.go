// SPDX-License-Identifier: Apache-2.0

package contract

import "time"

// Claim is a guarantee that a variant of a workload promises, judged by the checkers.
type Claim string

const (
	// AtMostOnce: no effect happens twice.
	AtMostOnce Claim = "at-most-once"
	// AtLeastOnce: no acked message is lost, and every extra delivery has a cause.
	AtLeastOnce Claim = "at-least-once"
	// EffectivelyOnce: every acked message has exactly one effect (unknown ones at most one).
	EffectivelyOnce Claim = "effectively-once"
	// OrderPerKey: first effects of a key follow the order of its sends.
	OrderPerKey Claim = "order-per-key"
	// OrderPerPartition: first deliveries of a partition follow its offsets.
	OrderPerPartition Claim = "order-per-partition"
	// SingleHolder: no two workers run a handler for one message at the same time.
	SingleHolder Claim = "single-holder"
	// DeadLetterJustified: every dead letter has used up its attempts and was not done.
	DeadLetterJustified Claim = "dead-letter-justified"
	// Drained: nothing acked is left undelivered or in flight at the end.
	Drained Claim = "drained"
)

// Claims lists every claim that exists, in the order in which they are shown.
func Claims() []Claim {
	return []Claim{AtMostOnce, AtLeastOnce, EffectivelyOnce, OrderPerKey, OrderPerPartition, SingleHolder, DeadLetterJustified, Drained}
}

// Threshold bounds a metric: "lag.messages at end <= 0", "latency.handled.p99 < 1s".
// Unit tells what Limit counts: "messages", "ns", "1/s" or "share".
type Threshold struct {
	Metric string  `json:"metric"`
	Op     string  `json:"op"` // ==, !=, <, <=, >, >=
	Limit  float64 `json:"limit"`
	Unit   string  `json:"unit"`
	// Window restricts it: "", "during FAULT", "outside faults", "before FAULT", "after FAULT".
	Window string `json:"window,omitempty"`
	// Within is how long after the window it must hold; 0 is at once.
	Within time.Duration `json:"within_ns,omitempty"`
	Text   string        `json:"text"`
}

// Expectation is a judgement apart from the claims: what a variant is known to show.
// Meeting it makes a violated claim "violated, as expected".
type Expectation struct {
	// Metric is the name of a count in the results, such as "lost" or "redelivered", or
	// "verdict.CLAIM".
	Metric string `json:"metric"`
	// Min and Max bound the count; nil is unbounded.
	Min *int64 `json:"min,omitempty"`
	Max *int64 `json:"max,omitempty"`
	// Verdict is wanted where Metric is verdict.CLAIM.
	Verdict Verdict `json:"verdict,omitempty"`
	// IDs, if given, are exactly the ids that the metric names.
	IDs []string `json:"ids,omitempty"`
	// Profile and Fidelity ("virtual", "real") restrict where it is expected; empty is everywhere.
	// Profile is a prefix of the profile's name.
	Profile  string `json:"profile,omitempty"`
	Fidelity string `json:"fidelity,omitempty"`
}
