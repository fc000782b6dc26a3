// SPDX-License-Identifier: Apache-2.0

package checkers

import (
	"slices"

	"github.com/seed-720a3c77/harness/contract"
	"github.com/seed-720a3c77/harness/history"
)

// Kinds of an anomaly under the contract of a run.
const (
	// KindError: the contract forbids it.
	KindError = "error"
	// KindLegal: the contract allows it, and it is never silent.
	KindLegal = "legal"
	// KindStatistic: no contract speaks of it.
	KindStatistic = "statistic"
)

// Row is one anomaly of the catalogue: its fixed name, what it means, and what the
// contract of a run makes of it: the profile of its broker and what its variant claims.
// Everything that a checker finds is a row of Rows.
type Row struct {
	Name string
	Doc  string
	// Severity is 1 for loss and corruption, 2 for a broken guarantee, 3 for a hazard,
	// 4 for what is only counted.
	Severity int
	// Kind judges by the contract of a run.
	Kind func(*history.Header) string
}

type row uint8

const (
	lostUndelivered row = iota
	lostAfterDelivery
	positionPassed
	settledWithoutSuccess
	lostInDeadLettering
	lostWithoutEffect
	lostWrite
	tornTransaction
	inconsistentOffset
	duplicateInLog
	abortedRead
	precommittedRead
	pollSkip
	nonmonotonicPoll
	nonmonotonicSend
	writeBehind
	sendSkip
	writeCycle
	readCycle
	phantom
	fromNowhere
	corrupt
	foreign
	effectDuplicate
	effectFromNowhere
	storeDiffers
	duplicateAfterAck
	duplicateUnexplained
	storedTwice
	redelivered
	overlapping
	prematureRedelivery
	stuck
	orderKey
	orderPartition
	orderGroup
	groupBlocked
	unflaggedRedelivery
	wrongCount
	innocentVictim
	dedupViolation
	deadLettered
	deadLetterPremature
	deadLetterFalse
	deadLetterEarly
	deadLetterLate
	deadLetterTwice
	deadLetterAfterAck
	commitAhead
	commitRegression
	behindCommitted
	holeAfterTakeover
	redeliveredBeyond
	doubleOwnership
	twoActive
	expiredDelivered
	endOffsetRegression
	notEmpty
	zombieHandling
	zombieSettle
	zombieEffect
	staleAccepted
	silentSettle
	refusedSettle
	policyDrop
	undrained
	recovered
	callOverrun

	rows
)

var table = [rows]Row{
	lostUndelivered:       {"lost-undelivered", "An acked message was never delivered, and nothing is left to deliver it from.", 1, isLoss},
	lostAfterDelivery:     {"lost-after-delivery", "An acked message was delivered, not done and not settled, and never came again.", 1, isLoss},
	positionPassed:        {"position-passed", "The committed position went past a message that was delivered and not done.", 1, isLoss},
	settledWithoutSuccess: {"settled-without-success", "A message was settled for good and no handler or effect of it succeeded.", 1, isLoss},
	lostInDeadLettering:   {"lost-in-dead-lettering", "A message left its source for the dead-letter destination and is not there.", 1, isLoss},
	lostWithoutEffect:     {"lost-without-effect", "An acked message left its source, and no effect of it was seen.", 1, isLoss},
	lostWrite:             {"lost-write", "A record that was certainly stored was read by nobody, and what stands behind it was.", 1, isLossUnlessTaken},
	tornTransaction:       {"torn-transaction", "A part of a committed transaction is not in the log.", 1, isError},
	inconsistentOffset:    {"inconsistent-offset", "One offset of a log holds two messages.", 1, isError},
	duplicateInLog:        {"duplicate-in-log", "One message stands at more offsets than its sends allow.", 2, isError},
	abortedRead:           {"aborted-read", "A message of a transaction that certainly failed was read.", 1, isError},
	precommittedRead:      {"precommitted-read", "A transaction read what it had sent itself and not yet committed.", 2, isError},
	pollSkip:              {"poll-skip", "A reader passed over a record that is known to be there.", 1, unlessTaken},
	nonmonotonicPoll:      {"nonmonotonic-poll", "A reader went back in a log, and nobody had told it to.", 2, isError},
	nonmonotonicSend:      {"nonmonotonic-send", "What a producer sent later stands before what it sent earlier.", 2, isSendOrder},
	writeBehind:           {"write-behind-known", "A record was stored at or before an offset that was known when its send began.", 1, isError},
	sendSkip:              {"send-skip", "Records of others stand between those of one transaction.", 4, isStatistic},
	writeCycle:            {"write-cycle", "Transactions overwrote each other in a circle.", 4, isStatistic},
	readCycle:             {"read-cycle", "Transactions saw of each other what cannot be put into an order.", 2, isError},
	phantom:               {"phantom", "A message was delivered although every attempt to publish it was certainly rejected.", 1, isError},
	fromNowhere:           {"from-nowhere", "An id of this run was delivered that nobody published.", 1, isError},
	corrupt:               {"corrupt", "The body of a delivery does not match its checksum.", 1, isError},
	foreign:               {"foreign", "A message without an envelope of this run was delivered.", 3, isStatistic},
	effectDuplicate:       {"effect-duplicates", "The effect of one message happened again.", 2, isTwice},
	effectFromNowhere:     {"effect-from-nowhere", "An effect was recorded for a message that was not delivered to that worker.", 1, isError},
	storeDiffers:          {"effect-store-differs", "A store of effects holds another number of effects than was recorded.", 1, isError},
	duplicateAfterAck:     {"duplicate-after-ack", "A message was delivered again after an ack that is known to have been applied.", 2, unlessSpontaneous},
	duplicateUnexplained:  {"duplicate-unexplained", "A message was delivered again and nothing recorded explains it.", 2, unlessSpontaneous},
	storedTwice:           {"stored-twice", "One id was stored as more than one copy.", 3, isStatistic},
	redelivered:           {"redelivered", "A stored message was delivered again.", 4, isStatistic},
	overlapping:           {"overlapping", "A handler started on a message while another was still working on it.", 3, isOverlap},
	prematureRedelivery:   {"premature-redelivery", "A message was delivered again while an earlier lease had time left.", 2, unlessSpontaneous},
	stuck:                 {"stuck", "A message was free again, consumers were polling, and it did not come within the bound.", 2, isError},
	orderKey:              {"order-key", "The first effect of a message came after that of one of its key that was sent later.", 2, isEffectOrder},
	orderPartition:        {"order-partition", "The first delivery of a message came after that of one that stands behind it.", 2, isDeliveryOrder},
	orderGroup:            {"order-group", "A message was delivered while an earlier one of its group was there to be delivered.", 2, isGroupOrder},
	groupBlocked:          {"group-blocked", "A message was delivered while an earlier one of its group was leased.", 2, isGroupOrder},
	unflaggedRedelivery:   {"unflagged-redelivery", "A redelivery did not carry the redelivered flag.", 2, isError},
	wrongCount:            {"wrong-count", "The delivery count does not follow from the deliveries before.", 2, isError},
	innocentVictim:        {"innocent-victim", "A delivery that no handler ever started on was charged as an attempt.", 4, isStatistic},
	dedupViolation:        {"dedup-violation", "A second send inside the deduplication window was stored.", 2, isError},
	deadLettered:          {"dead-lettered", "A message ended in a dead-letter destination.", 4, isStatistic},
	deadLetterPremature:   {"dead-letter-premature", "A message was dead-lettered without a single handler run.", 2, isStatistic},
	deadLetterFalse:       {"dead-letter-false", "A message was dead-lettered although it had been done.", 2, isStatistic},
	deadLetterEarly:       {"dead-letter-early", "A message was dead-lettered before it had used up its deliveries.", 2, isError},
	deadLetterLate:        {"dead-letter-late", "A message was delivered more often than its limit allows.", 2, isError},
	deadLetterTwice:       {"dead-letter-twice", "A message has two copies in the dead-letter destination.", 2, isError},
	deadLetterAfterAck:    {"dead-letter-after-ack", "A message was dead-lettered although its ack had been applied.", 2, isError},
	commitAhead:           {"commit-ahead", "A position was committed beyond what had been delivered.", 2, isError},
	commitRegression:      {"commit-regression", "The committed position of a group went backwards.", 2, isError},
	behindCommitted:       {"behind-committed", "A new owner began below the committed position.", 2, isError},
	holeAfterTakeover:     {"hole-after-takeover", "A new owner began beyond the committed position.", 1, unlessTaken},
	redeliveredBeyond:     {"redelivered-beyond-uncommitted", "After a change of ownership a message came again that was none of those delivered and not committed.", 2, unlessSpontaneous},
	doubleOwnership:       {"double-ownership", "A record of a partition went to its former owner long after another had taken over.", 2, isError},
	twoActive:             {"two-active", "A queue with a single active consumer delivered to two at a time.", 2, isError},
	expiredDelivered:      {"expired-delivered", "A message was handed out although its time to live was over.", 2, isError},
	endOffsetRegression:   {"end-offset-regression", "The end of a log went backwards.", 1, isError},
	notEmpty:              {"not-empty", "A queue counted messages as there when all that is known of had come to an end.", 2, isError},
	zombieHandling:        {"zombie-handling", "A handler started on a message whose ownership had ended.", 3, isStatistic},
	zombieSettle:          {"zombie-settle", "A message was settled by a worker that no longer held it.", 3, isStatistic},
	zombieEffect:          {"zombie-effect", "The effect of a message was done by a worker that no longer held it.", 3, isStatistic},
	staleAccepted:         {"stale-accepted", "A settlement with a stale token was applied where the contract says refused.", 2, isError},
	silentSettle:          {"silent-settle", "A settlement with a stale token was answered with success and changed nothing.", 3, isStatistic},
	refusedSettle:         {"refused-settle", "A settlement was refused.", 4, isStatistic},
	policyDrop:            {"policy-drop", "A message left by a declared limit or a reject, with no dead-letter destination.", 3, isLegal},
	undrained:             {"undrained", "An acked message had not come to an end when the run did.", 4, isStatistic},
	recovered:             {"recovered", "A message whose publish had no clear answer was delivered.", 4, isStatistic},
	callOverrun:           {"call-overrun", "A client call outlived its deadline.", 3, isStatistic},
}

// Rows lists every anomaly that is looked for.
func Rows() []Row { return append([]Row(nil), table[:]...) }

func isError(*history.Header) string     { return KindError }
func isLegal(*history.Header) string     { return KindLegal }
func isStatistic(*history.Header) string { return KindStatistic }

// isLoss allows loss to a variant that claims no more than at-most-once.
func isLoss(h *history.Header) string {
	if claims(h, contract.AtMostOnce) && !claims(h, contract.AtLeastOnce, contract.EffectivelyOnce) {
		return KindLegal
	}
	return KindError
}

// isTwice allows effects that run twice to a variant that claims no more than at-least-once.
func isTwice(h *history.Header) string {
	switch {
	case claims(h, contract.AtMostOnce, contract.EffectivelyOnce):
		return KindError
	case claims(h, contract.AtLeastOnce):
		return KindLegal
	}
	return KindStatistic
}

func isOverlap(h *history.Header) string {
	if claims(h, contract.SingleHolder) {
		return KindError
	}
	return KindStatistic
}

func unlessSpontaneous(h *history.Header) string {
	if h.Profile.SpontaneousCopies {
		return KindLegal
	}
	return KindError
}

// unlessTaken: what a step of the timeline takes out of a log is no fault of the broker.
func unlessTaken(h *history.Header) string {
	if slices.ContainsFunc(h.Faults, func(f history.Fault) bool { return f.Name == "purge" || f.Name == "delete" }) {
		return KindLegal
	}
	return KindError
}

func isLossUnlessTaken(h *history.Header) string {
	if unlessTaken(h) == KindLegal {
		return KindLegal
	}
	return isLoss(h)
}

// isEffectOrder is about what the application did: an error only where it is claimed.
func isEffectOrder(h *history.Header) string {
	switch {
	case h.Profile.Order == contract.OrderNone:
		return KindLegal
	case claims(h, contract.OrderPerKey):
		return KindError
	}
	return KindStatistic
}

// isDeliveryOrder is about what the broker promises.
func isDeliveryOrder(h *history.Header) string {
	if h.Profile.Order == contract.OrderNone || h.Profile.Order == "" {
		return KindLegal
	}
	return KindError
}

// isSendOrder is a promise of idempotent producers alone: a retry of another may overtake.
func isSendOrder(h *history.Header) string {
	for i := range h.Producers {
		if !h.Producers[i].Idempotent {
			return KindStatistic
		}
	}
	return KindError
}

// isGroupOrder is about message groups. An engine that loses their order once a lease in
// a batch was changed says so by a knob.
func isGroupOrder(h *history.Header) string {
	switch {
	case h.Profile.Order != contract.OrderGroup, h.Profile.Knobs["extend-splits-group"] == "true":
		return KindLegal
	}
	return KindError
}

// claims tells whether a run claims one of several.
func claims(h *history.Header, any ...contract.Claim) bool {
	return slices.ContainsFunc(any, func(c contract.Claim) bool { return slices.Contains(h.Claims, c) })
}

// losses are the rows that together are the count "lost".
var losses = [...]row{lostUndelivered, lostAfterDelivery, positionPassed, settledWithoutSuccess, lostInDeadLettering, lostWithoutEffect}
