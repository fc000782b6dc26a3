// SPDX-License-Identifier: Apache-2.0

package inmem

import (
	"time"

	"github.com/seed-720a3c77/harness/msg"
)

// OracleKind says what the engine really did with a message.
type OracleKind uint8

const (
	// NoOracle is the zero value: a bug.
	NoOracle OracleKind = iota
	// Stored: a copy is kept by Where.
	Stored
	// Delivered: it was handed to a consumer (pushed or received).
	Delivered
	// Settled: a queue forgot it because it was acked, or a group's position passed it.
	Settled
	// Returned: it became ready again because it was given back or its channel died.
	Returned
	// Expired: it became ready again because its lease ended.
	Expired
	// DeadLettered: it left Where for its dead-letter destination.
	DeadLettered
	// Dropped: it is nowhere any more; Why says under which rule or bug.
	Dropped
	// Swallowed: deduplication or idempotence did not store it a second time.
	Swallowed
)

var oracleKinds = [...]string{
	"none", "stored", "delivered", "settled", "returned", "expired", "dead-lettered", "dropped", "swallowed",
}

func (k OracleKind) String() string { return oracleKinds[k] }

// OracleEvent is the engine's own truth, for tests: no checker may read it.
type OracleEvent struct {
	At    time.Duration
	Kind  OracleKind
	ID    msg.ID
	Where string
	// Session is the consumer of a delivery or settlement, the producer of a store.
	Session Session
	// Partition and Offset on a log.
	Partition int32
	Offset    int64
	// Count is the number of deliveries so far, where it is counted.
	Count int
	// Why names the rule or the planted bug, where there is one.
	Why string
}

func (m *Machine) tell(e OracleEvent) {
	if m.oracle != nil {
		e.At = m.now
		m.oracle(e)
	}
}
