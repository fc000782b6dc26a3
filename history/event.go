// SPDX-License-Identifier: Apache-2.0

package history

import (
	"github.com/seed-720a3c77/harness/contract"
	"github.com/seed-720a3c77/harness/msg"
)

// Kind says what an Event tells and which of its fields mean something. Fields that are
// not named for a kind are 0. "Ref" is an interned text of a table (see Names).
type Kind uint8

const (
	NoKind Kind = iota

	// Producers. Op numbers the attempt within the producer's session.

	// PublishStart: the call began. Producer, Seq, Attempt, Session, Place (To), Key, Op;
	// N = size of the body, CRC = its checksum; D = T - intended time.
	PublishStart
	// PublishAccepted: the client took it into its buffer. Producer, Seq, Attempt, Session, Op; D = since the start.
	PublishAccepted
	// PublishAnswer: the answer. As above, and Answer, Class, Place and Off where the broker
	// told (Off is -1 unknown), Text = raw error; N = attempts the client made by itself; D = since the start.
	PublishAnswer
	// Decision: what the application did about a bad answer. Producer, Seq, Attempt, Text = resend, give-up, believe.
	Decision

	// Consumers. Op numbers the delivery within the consumer's session: delivery,
	// handler, effect and settle of one delivery share (Session, Op).

	// Receive: a receive call returned. Session; N = messages (0 is an empty poll); D = since the call; Class unknown if it failed, Text = error.
	Receive
	// Delivery: a message came out of the client's buffer. Producer, Seq, Attempt, Session,
	// Place, Off (-1 on queues), Key, Op; N = the broker's count (0 none); D = T - intended;
	// Until = the lease's earliest deadline (0 none); Gen; Flags: Redelivered, Corrupt, Foreign;
	// Text = Injected where a fault gave it once more, not the broker.
	Delivery
	// HandlerStart: the application began to work on it. Producer, Seq, Session, Op; N = handler runs of this id by this worker.
	HandlerStart
	// HandlerEnd: Flags: Failed; D = since the start; Text = error or panic.
	HandlerEnd
	// EffectIntent is recorded before an effect. Producer, Seq, Session, Op, Place = the store.
	EffectIntent
	// EffectResult after it. Flags: Skipped (dedup saw it done), Refused (store said no); Class; N = times the
	// store now counts for this id, where it says so.
	EffectResult
	// SettleStart: a settle request for one delivery. Session and Op of the delivery,
	// Producer, Seq, Place, Off (position to commit, the next to read); Verb; D = 0; Until = asked deadline of an Extend.
	SettleStart
	// SettleAnswer: Answer, Class, Verb, Text = raw error; D = since the start; Until = new deadline of an Extend.
	SettleAnswer

	// Sessions.

	// SessionOpen: Session began; Gen = generation or epoch. N = 1 for a producer's.
	SessionOpen
	// SessionClose: it ended; Text = cause; Flags: Crashed (abandoned or killed), Polite.
	SessionClose
	// Assign: Session holds Place from Off on; Gen; Text = why there (committed, earliest, latest, seek).
	Assign
	// Revoke: it no longer does; Gen; Flags: Lost (learnt late).
	Revoke
	// Seek: Session moved its position of Place to Off.
	Seek
	// Pause and Resume of fetching.
	Pause
	Resume
	// Retried: the client made another attempt by itself. Session, Text.
	Retried
	// Blocked and Unblocked: the broker stopped reading from publishers.
	Blocked
	Unblocked
	// TxnBegin, TxnCommit and TxnAbort of a producer's Session; Op numbers the transaction; Answer, Class of the latter two.
	TxnBegin
	TxnCommit
	TxnAbort

	// The run.

	// DepthQueue: Place; Seq = ready, Off = in flight, Until = delayed (-1 unmeasured); D = sampling took.
	DepthQueue
	// DepthLog: Place (whole destination), Session's table entry = group; Seq = committed, Off = end, Until = last stable; D = sampling took.
	DepthLog
	// FaultRequested, FaultActive, FaultHealed, FaultRecovered: Op numbers the fault, Text = its name and target.
	// Where the request strikes an opaque consumer and what that had in hand was measured, Class is ok,
	// N = messages that were in hand for certain, Seq = those that had been stored for a while.
	FaultRequested
	FaultActive
	FaultHealed
	FaultRecovered
	// Phase begins: Text = join, warm-up, load, fault, heal, drain, audit, end.
	Phase
	// Audit: a message found stored at the end. Producer, Seq, Place, Off; N = broker's count.
	Audit
	// AuditEnd: Place was read to its end (Class ok) or not (unknown, Text = why); N = messages.
	AuditEnd
	// Drained: nothing is ready or in flight (Class ok), or the drain ended otherwise (unknown, Text = why).
	Drained
	// CallOverrun: a client call outlived its deadline. Session, Text = call; D = since the deadline.
	CallOverrun
	// Dropped: the recorder lost N events. The run is inconclusive at best.
	Dropped
	// Interrupted: the run was stopped from outside.
	Interrupted
	// WorkerStart and WorkerEnd of a consumer's or producer's task: Session, Text = name; Flags: Crashed.
	WorkerStart
	WorkerEnd
	// EffectFound: a store of effects had it at the end. Producer, Seq, Session (its table
	// entry has the group); N = effects.
	EffectFound
	// EffectsRead: the store of a Session's group was read to its end (Class ok) or not
	// (unknown, Text = why); N = ids that it had.
	EffectsRead

	// Kinds is how many kinds there are.
	Kinds
)

// Flag bits of an Event.
type Flag uint8

const (
	// Redelivered is the broker's flag on a delivery.
	Redelivered Flag = 1 << iota
	// Corrupt: the body does not match its checksum.
	Corrupt
	// Foreign: not a message of this run.
	Foreign
	// Failed: the handler failed.
	Failed
	// Skipped: the effect was not done because it had been.
	Skipped
	// Refused: the store refused the effect.
	Refused
	// Crashed: the session or worker vanished.
	Crashed
	// Lost: an ownership was lost and learnt of late.
	Lost
)

// Injected is the text of a delivery that a fault gave once more.
const Injected = "injected"

// Event is one thing that happened, as fixed numbers: no pointer, 88 bytes. Text is
// interned (Names). Times are offsets from the start of the run in nanoseconds.
type Event struct {
	T     int64  // when
	Seq   uint64 // sequence number of the id
	Off   int64  // offset in a log
	D     int64  // nanoseconds since what the event closes, or since it was due
	Until int64  // deadline

	Producer uint32 // producer number of the id
	Session  uint32 // ref: sessions
	Place    uint32 // ref: places (destination and partition)
	Key      uint32 // ref: keys
	Op       uint32 // joins the events of one attempt or delivery, within Session
	N        uint32 // a count
	CRC      uint32
	Text     uint32 // ref: texts
	Gen      uint32 // generation or epoch
	Attempt  uint16
	Task     uint16 // the segment; not stored per event

	Kind   Kind
	Answer contract.Answer
	Class  contract.Class
	Flags  Flag
	Verb   uint8 // broker.Verb of a settle
}

// ID is the message that the event is about.
func (e *Event) ID() msg.ID { return msg.ID{Producer: e.Producer, Seq: e.Seq} }

// Has tells whether a flag is set.
func (e *Event) Has(f Flag) bool { return e.Flags&f != 0 }

// Settle verbs as stored; the numbers are those of broker.Verb and never change.
const (
	VerbAck     uint8 = 1
	VerbRequeue uint8 = 2
	VerbReject  uint8 = 3
	VerbExtend  uint8 = 4
	VerbCommit  uint8 = 5
	VerbMark    uint8 = 6
)
