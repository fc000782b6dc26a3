// SPDX-License-Identifier: Apache-2.0

package checkers

import "strings"

// Cause is what explains an extra delivery, or why a hold ended without being settled.
type Cause uint8

const (
	noCause Cause = iota
	leaseExpired
	requeued
	settleRefused
	settleUnknown
	sessionDied
	consumerTimeout
	sessionClosed
	rewound
	sought
	positionReset
	partitionMoved
	retryDestination
	producerCopy
	contractAllowed
	injected
	workerDied
	outOfSight
	unexplained

	causes
)

var causeNames = [causes]string{
	"", "lease expired", "requeued", "settle refused", "settle unknown", "session died", "consumer timeout",
	"session closed", "rewind to committed", "seek", "position reset", "partition moved", "retry destination",
	"producer copy", "contract allowed", "injected", "a worker died in between", "deliveries not seen", "unexplained",
}

func (c Cause) String() string {
	if c < causes {
		return causeNames[c]
	}
	return "invalid"
}

// slug is the name as it stands in a count: "lease-expired".
func (c Cause) slug() string { return strings.ReplaceAll(c.String(), " ", "-") }

// deathCause reads why a session ended. A text that names a timeout of the consumer is
// one; without a text, or with one that says so, a session that did not crash left politely.
func deathCause(text string, crashed bool) Cause {
	text = strings.ToLower(text)
	switch {
	case strings.Contains(text, "consumer timeout"), strings.Contains(text, "ack timeout"), strings.Contains(text, "acknowledgement"):
		return consumerTimeout
	case !crashed && (text == "" || strings.HasPrefix(text, "polite") || strings.HasPrefix(text, "left")):
		return sessionClosed
	}
	return sessionDied
}
