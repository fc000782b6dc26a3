// SPDX-License-Identifier: Apache-2.0

package broker

import (
	"context"
	"time"

	"github.com/seed-720a3c77/harness/contract"
	"github.com/seed-720a3c77/harness/msg"
)

// Engine is one broker seen through one client. Its methods may be called concurrently.
type Engine interface {
	// Profile is constant for the life of the engine.
	Profile() contract.Profile
	// Settings are the client and broker settings in effect, by their own names, for the
	// report. No secret is among them.
	Settings() map[string]string
	// Declare creates the topology. A destination that exists already is ErrExists.
	Declare(ctx context.Context, t Topology) error
	// Remove deletes destinations that Declare created; one that is gone is no error.
	Remove(ctx context.Context, names ...string) error
	// Purge empties a destination.
	Purge(ctx context.Context, destination string) error
	Producer(ctx context.Context, spec ProducerSpec) (Producer, error)
	Consumer(ctx context.Context, spec ConsumerSpec) (Consumer, error)
	// Depth measures a destination, for logs as seen by a group ("" for none).
	Depth(ctx context.Context, destination, group string) (Depth, error)
	// Close gives back every connection. It does not remove destinations.
	Close(ctx context.Context) error
}

// ProducerSpec configures a producer. Zero fields take the fair defaults of the profile.
type ProducerSpec struct {
	// Name is unique in the run and is the prefix of client ids.
	Name string
	// Run goes into every envelope.
	Run uint32
	// Acks is "" (as strong as there is), "0", "1" or "all"; brokers without it ignore "".
	Acks string
	// NoConfirms publishes without asking for an answer (AMQP without confirms).
	NoConfirms bool
	// Mandatory asks that unroutable messages come back.
	Mandatory bool
	// Idempotent asks for the client's idempotent mode; TransactionID for transactions.
	Idempotent    bool
	TransactionID string
	// Retries the client makes by itself; copies stored are at most 1 + Retries.
	Retries int
	// InFlight bounds unanswered publishes; 0 is the adapter's default.
	InFlight int
	// Linger and BatchMax shape batches; 0 sends at once.
	Linger   time.Duration
	BatchMax int
	// Timeout bounds one attempt; 0 is the adapter's default.
	Timeout time.Duration
	// Notify hears of connections opened and closed. It must not wait.
	Notify func(Notice)
}

// Receipt is what a positive answer told.
type Receipt struct {
	// Partition and Offset on a log; Offset is -1 where unknown.
	Partition int32
	Offset    int64
	// BrokerID is the broker's own id of the stored message, such as an SQS MessageId.
	BrokerID string
	// Copies is how many attempts the client made by itself; 0 is one.
	Copies int
}

// Producer publishes. One task owns it; Publish must not be called concurrently.
type Producer interface {
	// Publish hands a message over and returns when the client accepted it (which may
	// wait for room in its buffer). done is called exactly once with the answer, as an
	// event of the producer's owner, unless the producer is abandoned; it must not wait.
	// An error returned means that done will not be called and the class is in the error.
	Publish(ctx context.Context, m *msg.Message, done func(Receipt, error)) error
	// Flush waits until every publish so far is answered.
	Flush(ctx context.Context) error
	Begin(ctx context.Context) error
	// Commit ends the transaction with the offsets of a group inside it.
	Commit(ctx context.Context, offsets ...OffsetCommit) error
	Abort(ctx context.Context) error
	// Close flushes and leaves politely.
	Close(ctx context.Context) error
	// Abandon vanishes as a crash would: sockets are cut, no answer is delivered any more.
	Abandon()
}

// OffsetCommit is a group's position: Next is the offset to read next.
type OffsetCommit struct {
	Group, Destination string
	Partition          int32
	Next               int64
}

// Start is where a group without a position begins.
type Start string

const (
	// Earliest is the zero value.
	Earliest Start = ""
	Latest   Start = "latest"
)

// ConsumerSpec configures a consumer.
type ConsumerSpec struct {
	// Name is unique in the run (a restarted worker has a new one), and is the member or client id.
	Name string
	// Run tells envelopes of this run from left-overs.
	Run  uint32
	From string
	// Group of a log; on queues all consumers of a queue compete whatever it says. An
	// empty group on a log reads every partition from Start without committing (audit).
	Group string
	Start Start
	// StaticID asks for static membership.
	StaticID string
	// Strategy is the assignment strategy; "" is the profile's.
	Strategy string
	// Batch is the most that one Receive returns, and the request size where there is one.
	Batch int
	// Prefetch is the push window or client buffer; 0 is Batch.
	Prefetch int
	// AutoAck lets the broker forget a message as it is sent.
	AutoAck bool
	// AutoCommit commits marked positions at this interval; 0 is off.
	AutoCommit time.Duration
	// Session is the session timeout or heartbeat that detects a dead consumer; 0 is the profile's floor.
	Session time.Duration
	// Exclusive asks to be the single active consumer.
	Exclusive bool
	// Isolation is "" (read committed where there are transactions) or "uncommitted".
	Isolation string
	// Notify hears of sessions, assignments and revocations, as events of the consumer's
	// owner. It must not wait.
	Notify func(Notice)
}

// Consumer receives and settles. One task owns it, except that Settle may be called by
// other tasks (renewal, asynchronous commits), also with tokens of another consumer.
type Consumer interface {
	// Receive fills into from the client's buffer and returns how many. It waits up to
	// wait for the first; 0 messages and no error is an empty poll. It is never cancelled
	// to stop politely: polls are short and run out. A dead session is ErrClosed or an
	// *Error; the caller makes a new consumer.
	Receive(ctx context.Context, into []Delivery, wait time.Duration) (int, error)
	// Settle applies settlements in order and writes one result an entry into results,
	// which is at least as long. Stale tokens are passed through.
	Settle(ctx context.Context, settlements []Settlement, results []error)
	// Seek moves the position of this consumer (and of its group, once committed).
	Seek(ctx context.Context, partition int32, offset int64) error
	// Pause stops fetching without leaving; what is buffered is still received.
	Pause(ctx context.Context) error
	Resume(ctx context.Context) error
	// Close leaves politely.
	Close(ctx context.Context) error
	// Abandon vanishes as a crash would: nothing is settled, committed or left.
	Abandon()
}
