// SPDX-License-Identifier: Apache-2.0

package history

// KindSet is a set of kinds: what a reader asks for. The zero value asks for nothing.
type KindSet uint64

// AllKinds asks for every event, also for kinds that this version does not know.
const AllKinds = ^KindSet(0)

// Only makes a set of the kinds named.
func Only(kinds ...Kind) KindSet {
	var set KindSet
	for _, k := range kinds {
		set |= 1 << k
	}
	return set
}

// Has tells whether the set holds a kind.
func (s KindSet) Has(k Kind) bool { return s&(1<<k) != 0 }

var kindNames = [Kinds]string{
	NoKind:          "none",
	PublishStart:    "publish-start",
	PublishAccepted: "publish-accepted",
	PublishAnswer:   "publish-answer",
	Decision:        "decision",
	Receive:         "receive",
	Delivery:        "delivery",
	HandlerStart:    "handler-start",
	HandlerEnd:      "handler-end",
	EffectIntent:    "effect-intent",
	EffectResult:    "effect-result",
	SettleStart:     "settle-start",
	SettleAnswer:    "settle-answer",
	SessionOpen:     "session-open",
	SessionClose:    "session-close",
	Assign:          "assign",
	Revoke:          "revoke",
	Seek:            "seek",
	Pause:           "pause",
	Resume:          "resume",
	Retried:         "retried",
	Blocked:         "blocked",
	Unblocked:       "unblocked",
	TxnBegin:        "txn-begin",
	TxnCommit:       "txn-commit",
	TxnAbort:        "txn-abort",
	DepthQueue:      "depth-queue",
	DepthLog:        "depth-log",
	FaultRequested:  "fault-requested",
	FaultActive:     "fault-active",
	FaultHealed:     "fault-healed",
	FaultRecovered:  "fault-recovered",
	Phase:           "phase",
	Audit:           "audit",
	AuditEnd:        "audit-end",
	Drained:         "drained",
	CallOverrun:     "call-overrun",
	Dropped:         "dropped",
	Interrupted:     "interrupted",
	WorkerStart:     "worker-start",
	WorkerEnd:       "worker-end",
	EffectFound:     "effect-found",
	EffectsRead:     "effects-read",
}

// String is the kind's word, as in the JSON form.
func (k Kind) String() string {
	if k < Kinds {
		return kindNames[k]
	}
	return "invalid"
}
