// SPDX-License-Identifier: Apache-2.0

package profiles

// Knobs of a profile: behaviour that has no field of its own in contract.Profile. Values
// are durations ("2s"), numbers, "true" and "false", or the words given here.
const (
	// Heartbeat is the interval at which a group member or connection shows life.
	Heartbeat = "heartbeat-interval"
	// MaxWait is how long a fetch at the end of a log waits; heartbeats and commits queue behind it.
	MaxWait = "max-wait"
	// RebalanceTimeout is how long a rebalance waits for members to rejoin.
	RebalanceTimeout = "rebalance-timeout"
	// RevokesAtOnce: "true" where a client gives partitions back while the application still
	// works on what it got from them; else a rebalance waits until it receives again.
	RevokesAtOnce = "revokes-at-once"
	// SharedBuffer: "true" where the partitions of a client share one buffer, as long as its
	// prefetch or batch, so that a batch is of several; else it is handed one after another.
	SharedBuffer = "shared-buffer"
	// Strategy is the assignment strategy: range, roundrobin, sticky or cooperative-sticky.
	Strategy = "assignment-strategy"
	// ClaimStart is the time from an assignment to the first record of a partition.
	ClaimStart = "claim-start-delay"
	// BufferedAfterLoss is how many buffered records of each partition a consumer still
	// hands out after it lost the partition while its handler was busy.
	BufferedAfterLoss = "buffered-after-loss"
	// CommitBackward: "false" where a commit below the session's mark changes nothing.
	CommitBackward = "commit-backward"
	// ClientBuffer is how many records of a partition a client fetches ahead.
	ClientBuffer = "client-buffer"
	// TransactionTimeout is how long a transaction may be open, from its first record.
	TransactionTimeout = "transaction-timeout"

	// StaleExtend is what a lease extension with an old handle does: a contract.Stale.
	StaleExtend = "stale-extend"
	// StaleAfterExpiry is what a delete does after the lease ended and before the message
	// was received again: a contract.Stale.
	StaleAfterExpiry = "stale-after-expiry"
	// CancelledPollSwallows: a poll whose client went away still takes the next message.
	CancelledPollSwallows = "cancelled-poll-swallows"
	// ExtendSplitsGroup: extending or releasing one message of a received batch lets later
	// ones of its group overtake.
	ExtendSplitsGroup = "extend-splits-group"
	// MaxInFlight is how many deliveries of one queue may be unsettled; absent is no cap.
	MaxInFlight = "max-in-flight"

	// RequeueWithLimit is where a nacked message goes on a queue with a delivery limit,
	// where that differs: a contract.Place.
	RequeueWithLimit = "requeue-with-limit"
	// DeadLetterCountCarried: a dead-letter queue's first delivery after a reject carries
	// the redelivered flag and a count.
	DeadLetterCountCarried = "dead-letter-count-carried"
	// PrefetchCap is how many messages are pushed where no prefetch is set; absent is no cap.
	PrefetchCap = "prefetch-cap"

	// MaxBody is the largest body in bytes.
	MaxBody = "max-body"
)
