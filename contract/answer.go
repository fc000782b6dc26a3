// SPDX-License-Identifier: Apache-2.0

package contract

// Answer is what the client library reported for an attempt to publish or to settle.
type Answer uint8

const (
	// None: no answer, now or ever (the call was still open at the end).
	None Answer = iota
	// Acked: a positive answer.
	Acked
	// Nacked: the broker said no to this message on a live connection.
	Nacked
	// Returned: unroutable and given back; outranks a later Acked of the same message.
	Returned
	// Refused: the request was refused as a whole (too large, not permitted, fenced, expired token).
	Refused
	// Timeout: a deadline passed without an answer.
	Timeout
	// Closed: the connection, channel or session went away first.
	Closed
)

var answers = [...]string{"none", "acked", "nacked", "returned", "refused", "timeout", "closed"}

func (a Answer) String() string { return word(answers[:], int(a)) }

// Class is what an Answer proves under a profile. It is a second field beside the
// Answer so that a wrong mapping can be repaired by checking a history again.
type Class uint8

const (
	// Unclassed is the zero value: a bug wherever a class is wanted.
	Unclassed Class = iota
	// OK: applied, proven by the answer.
	OK
	// Rejected: certainly not applied, by no attempt of the call.
	Rejected
	// Unknown: applied or not, now or later.
	Unknown
	// AcceptedOnly: handed over, and no answer will ever prove more (acks=0,
	// publishes without confirms, basic.ack).
	AcceptedOnly
)

var classes = [...]string{"unclassed", "ok", "rejected", "unknown", "accepted-only"}

func (c Class) String() string { return word(classes[:], int(c)) }

func word(words []string, i int) string {
	if i < len(words) {
		return words[i]
	}
	return "invalid"
}
