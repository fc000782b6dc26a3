// SPDX-License-Identifier: Apache-2.0

package contract

// CountedByCause names the counts that are also kept by cause.
func CountedByCause() []string { return []string{"redelivered", "effect-duplicates"} }

// Causes names what can explain an extra delivery, as it stands in a count such as
// "redelivered.lease-expired". What nothing explains is "unexplained".
func Causes() []string {
	return []string{
		"lease-expired", "requeued", "settle-refused", "settle-unknown", "session-died", "consumer-timeout", "session-closed",
		"rewind-to-committed", "seek", "position-reset", "partition-moved", "retry-destination", "producer-copy", "contract-allowed",
		"injected", "a-worker-died-in-between", "deliveries-not-seen", "unexplained",
	}
}
