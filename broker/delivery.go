// SPDX-License-Identifier: Apache-2.0

package broker

import (
	"time"

	"github.com/seed-720a3c77/harness/msg"
)

// Token is what proves ownership of a delivery. Only the fields of the engine's model
// are set; a token is a value and may be kept and used late.
type Token struct {
	// Log: partition, offset, group generation and member.
	Partition  int32
	Generation int32
	Offset     int64
	// Member is the member id of a log's group.
	Member string
	// Lease queue: the receipt handle.
	Handle string
	// Push queue: connection and channel epoch of this run, and the delivery tag.
	Epoch uint32
	Tag   uint64
	// Origin is written and read by the recorder alone; engines carry it and look away.
	Origin Origin
}

// Origin names the recorded delivery that a token came from, so that a settlement finds
// it however late and through whichever consumer it comes.
type Origin struct {
	Session, Op, Place uint32
	ID                 msg.ID
}

// Delivery is one message as it was handed to a consumer.
type Delivery struct {
	Token Token
	// Foreign: the message has no envelope, or one of another run; ID is zero then.
	Foreign bool
	// Corrupt: the body does not match the envelope's checksum.
	Corrupt  bool
	ID       msg.ID
	Attempt  uint16
	Intended time.Duration
	// Source is the destination that it was read from.
	Source string
	Key    string
	// BrokerID is the broker's id of the stored message; empty on logs and AMQP.
	BrokerID string
	// Redelivered is the broker's flag.
	Redelivered bool
	// Count is the broker's count of deliveries including this one; 0 where there is none.
	Count int
	// Injected: a request fault gave it once more, not the broker.
	Injected bool
	// Lease is how long the receiver has it at least, from the start of the receive request: the
	// earliest deadline that is safe; 0 is no lease.
	Lease time.Duration
	// Requested is how long before its return the request was sent that brought this
	// delivery (0 for pushes), so that the deadline can be put at its earliest.
	Requested time.Duration
	Body      []byte
}

// Verb is what a settlement does. The zero value is refused.
type Verb uint8

const (
	NoVerb Verb = iota
	// Ack: done, forget it.
	Ack
	// Requeue: give it to somebody again, after Delay.
	Requeue
	// Reject: give it to nobody again; it is dead-lettered or dropped.
	Reject
	// Extend: hold it for Delay from now.
	Extend
	// Commit: commit the position after this delivery's offset, and wait for the answer.
	Commit
	// Mark: remember the position for the client's automatic commit; accepted only.
	Mark
)

var verbs = [...]string{"none", "ack", "requeue", "reject", "extend", "commit", "mark"}

func (v Verb) String() string {
	if int(v) < len(verbs) {
		return verbs[v]
	}
	return "invalid"
}

// Settlement is one entry of a Settle call.
type Settlement struct {
	Verb  Verb
	Token Token
	// Delay of a Requeue or Extend.
	Delay time.Duration
	// Multiple settles everything of the channel up to this delivery tag.
	Multiple bool
}

// NoticeKind says what a Notice tells.
type NoticeKind uint8

const (
	NoNotice NoticeKind = iota
	// SessionOpen: a connection, channel or group session began (Epoch or Generation).
	SessionOpen
	// SessionClose: it ended; Code and Text say why.
	SessionClose
	// Assigned: this consumer now holds Partition from Offset on; Text says why there.
	Assigned
	// Revoked: it no longer does.
	Revoked
	// Lost: it learnt late that it no longer does (fenced, session expired).
	Lost
	// Retried: the client made another attempt by itself.
	Retried
	// Blocked and Unblocked: the broker stopped reading from publishers.
	Blocked
	Unblocked
)

// Notice is something that happened to a session by itself.
type Notice struct {
	Kind       NoticeKind
	Partition  int32
	Generation int32
	Offset     int64
	Epoch      uint32
	Code       string
	Text       string
}

// Unmeasured stands in a Depth for what does not apply.
const Unmeasured int64 = -1

// Depth is what a destination holds; fields that do not apply are Unmeasured.
type Depth struct {
	// Queues.
	Ready, InFlight, Delayed int64
	// Logs, summed over partitions: next offset, last stable offset, the group's
	// committed position (start where none).
	Start, End, Stable, Committed int64
	// Positions are the committed positions by partition (its start where none), where the
	// engine tells; else nil.
	Positions map[int32]int64
	// Took is how long sampling took: the numbers are from somewhere inside it.
	Took time.Duration
}
