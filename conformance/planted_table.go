// SPDX-License-Identifier: Apache-2.0

package conformance

import (
	"github.com/seed-720a3c77/harness/inmem"
	"github.com/seed-720a3c77/harness/msg"
)

// at lets a bug strike once, at one message of producer p0.
func at(name inmem.BugName, seq uint64) inmem.Bug {
	return inmem.Bug{Name: name, IDs: []msg.ID{{Seq: seq}}, Limit: 1}
}

// Bugs is the table of planted defects: each is found, with its ids, by the row that is
// meant for it, and what follows from it is told too.
func Bugs() []Planted { //nolint:funlen // a table
	return []Planted{
		{Bug: at(inmem.LoseAcked, 1), Scene: "steady", Profile: "kafka", Finds: "lost-undelivered p0/1", Breaks: "at-least-once effectively-once"},
		{Bug: at(inmem.LoseAcked, 1), Scene: "steady", Profile: "sqs-fifo", Finds: "lost-undelivered p0/1", Breaks: "at-least-once effectively-once"},
		{Bug: at(inmem.LoseAcked, 1), Scene: "steady", Profile: "rabbitmq", Finds: "lost-undelivered p0/1", Breaks: "at-least-once effectively-once"},
		{Bug: at(inmem.StoreTwice, 1), Scene: "steady", Profile: "kafka", Finds: "duplicate-in-log p0/1; duplicate-unexplained p0/1; effect-duplicates p0/1; stored-twice p0/1", Breaks: "at-least-once at-most-once effectively-once contract"},
		{Bug: at(inmem.StoreTwice, 1), Scene: "steady", Profile: "sqs-fifo", Finds: "duplicate-unexplained p0/1; effect-duplicates p0/1; stored-twice p0/1", Breaks: "at-least-once at-most-once effectively-once"},
		{Bug: at(inmem.StoreTwice, 1), Scene: "steady", Profile: "rabbitmq", Finds: "duplicate-unexplained p0/1; effect-duplicates p0/1; stored-twice p0/1", Breaks: "at-least-once at-most-once effectively-once"},
		{Bug: at(inmem.StoreRefused, 1), Scene: "steady", Profile: "kafka", Finds: "phantom p0/1", Breaks: "integrity"},
		{Bug: at(inmem.StoreRefused, 1), Scene: "steady", Profile: "rabbitmq", Finds: "phantom p0/1", Breaks: "integrity"},
		{Bug: at(inmem.FromNowhere, 1), Scene: "steady", Profile: "kafka", Finds: "from-nowhere p0/1099511627777", Breaks: "integrity"},
		{Bug: at(inmem.CorruptBody, 1), Scene: "steady", Profile: "kafka", Finds: "corrupt p0/1", Breaks: "integrity"},
		{Bug: at(inmem.CorruptBody, 1), Scene: "steady", Profile: "sqs-fifo", Finds: "corrupt p0/1", Breaks: "integrity"},
		{Bug: at(inmem.WrongReceipt, 2), Scene: "steady", Profile: "kafka", Finds: "duplicate-in-log p0/2; inconsistent-offset p0/2; nonmonotonic-send p0/2; write-behind-known p0/2", Breaks: "integrity contract"},
		{Bug: at(inmem.RetryStored, 1), Scene: "lost-answer", Profile: "kafka", AnswerLost: true, Finds: "duplicate-in-log p0/1; duplicate-unexplained p0/1; effect-duplicates p0/1; stored-twice p0/1", Breaks: "at-least-once at-most-once contract"},
		{Bug: at(inmem.SkipRecord, 1), Scene: "steady", Profile: "kafka", Finds: "lost-undelivered p0/1; poll-skip p0/1", Breaks: "at-least-once effectively-once contract"},
		{Bug: at(inmem.RereadRecord, 1), Scene: "steady", Profile: "kafka", Finds: "duplicate-unexplained p0/1; effect-duplicates p0/1; nonmonotonic-poll p0/1; redelivered p0/1", Breaks: "at-least-once at-most-once effectively-once contract"},
		{Bug: at(inmem.SwapRecords, 1), Scene: "backlog", Profile: "kafka", Finds: "nonmonotonic-poll p0/1; order-key p0/1; order-partition p0/1; poll-skip p0/1 p0/2", Breaks: "order-per-key order-per-partition contract"},
		{Bug: at(inmem.HoleAtTakeover, 7), Scene: "takeover", Profile: "kafka", Finds: "hole-after-takeover; lost-undelivered p0/7", Breaks: "at-least-once contract"},
		{Bug: at(inmem.BehindCommitted, 6), Scene: "takeover", Profile: "kafka", Finds: "behind-committed; duplicate-unexplained p0/6; effect-duplicates p0/6; redelivered p0/6; redelivered-beyond-uncommitted p0/6", Breaks: "at-least-once at-most-once contract"},
		{Bug: at(inmem.CommitBack, 6), Scene: "takeover", Profile: "kafka", Finds: "behind-committed; commit-regression; duplicate-unexplained p0/4 p0/5 p0/6; effect-duplicates p0/4 p0/5 p0/6; redelivered p0/4 p0/5 p0/6; redelivered-beyond-uncommitted p0/4 p0/5 p0/6", Breaks: "at-least-once at-most-once contract"},
		{Bug: at(inmem.CommitAhead, 7), Scene: "takeover", Profile: "kafka", Finds: "commit-ahead; hole-after-takeover; lost-undelivered p0/7", Breaks: "at-least-once contract"},
		{Bug: at(inmem.CommitIgnored, 6), Scene: "takeover", Profile: "kafka", Finds: "behind-committed; duplicate-unexplained p0/5 p0/6; effect-duplicates p0/5 p0/6; redelivered p0/5 p0/6; redelivered-beyond-uncommitted p0/5 p0/6", Breaks: "at-least-once at-most-once contract"},
		{Bug: at(inmem.ZombieCommit, 1), Scene: "frozen", Profile: "kafka", Finds: "commit-regression p0/1; effect-duplicates p0/2 p0/3; redelivered p0/2 p0/3; stale-accepted p0/1", Breaks: "contract"},
		{Bug: inmem.Bug{Name: inmem.DoubleOwner}, Scene: "grown-group", Profile: "kafka", Finds: "double-ownership p0/43 p0/45 p0/47; effect-duplicates p0/16 p0/18 p0/21 p0/23 p0/25 p0/27 p0/29 p0/30 p0/32 p0/34 p0/36 p0/38 p0/41 p0/43 p0/45 p0/47; overlapping p0/16 p0/18 p0/21 p0/23 p0/25 p0/27 p0/29 p0/30 p0/32 p0/34 p0/36 p0/38 p0/41 p0/43 p0/45 p0/47; redelivered p0/16 p0/18 p0/21 p0/23 p0/25 p0/27 p0/29 p0/30 p0/32 p0/34 p0/36 p0/38 p0/41 p0/43 p0/45 p0/47; zombie-effect p0/16 p0/18 p0/21 p0/23 p0/25 p0/27 p0/29 p0/30 p0/32 p0/34 p0/36 p0/38 p0/41 p0/43 p0/45 p0/47; zombie-handling p0/16 p0/18 p0/21 p0/23 p0/25 p0/27 p0/29 p0/30 p0/32 p0/34 p0/36 p0/38 p0/41 p0/43 p0/45 p0/47; zombie-settle p0/16 p0/18 p0/21 p0/23 p0/25 p0/27 p0/29 p0/30 p0/32 p0/34 p0/36 p0/38 p0/41 p0/43 p0/45 p0/47", Breaks: "contract"},
		{Bug: at(inmem.LosePart, 1), Scene: "txn-parts", Profile: "kafka", Finds: "lost-write p0/1; poll-skip p0/1; torn-transaction p0/1"},
		{Bug: at(inmem.PositionsAlone, 1), Scene: "txn-turns", Profile: "kafka", Finds: "lost-write p0/1; poll-skip p0/1"},
		{Bug: at(inmem.ReadAborted, 1), Scene: "txn-aborted", Profile: "kafka", Finds: "aborted-read p0/1"},
		{Bug: at(inmem.ZombieProducer, 1), Scene: "txn-zombie", Profile: "kafka", Finds: "aborted-read p0/1"},
		{Bug: at(inmem.DirtyRead, 0), Scene: "txn-own", Profile: "kafka", Finds: "precommitted-read p0/0"},
		{Bug: inmem.Bug{Name: inmem.DirtyRead}, Scene: "txn-each-other", Profile: "kafka", Finds: "read-cycle A B"},
		{Bug: at(inmem.LeaveGap, 1), Scene: "txn-gap", Profile: "kafka", Finds: "send-skip p0/2; write-cycle A B"},
		{Bug: inmem.Bug{Name: inmem.LeaveGap, IDs: []msg.ID{{Producer: 1, Seq: 1}}}, Scene: "txn-one-by-one", Profile: "kafka", Finds: "write-cycle A B"},
		{Bug: at(inmem.MissBinding, 1), Scene: "fan-out", Profile: "rabbitmq", Finds: "lost-undelivered p0/1", Breaks: "at-least-once"},
		{Bug: at(inmem.LoseDelivered, 5), Scene: "crash", Profile: "sqs-fifo", Finds: "lost-after-delivery p0/5", Breaks: "at-least-once"},
		{Bug: at(inmem.LoseDelivered, 5), Scene: "crash", Profile: "rabbitmq", Finds: "lost-after-delivery p0/5", Breaks: "at-least-once"},
		{Bug: at(inmem.DeliverTwice, 1), Scene: "two-workers", Profile: "localstack", Finds: "effect-duplicates p0/1; premature-redelivery p0/1; redelivered p0/1", Breaks: "at-least-once at-most-once contract"},
		{Bug: at(inmem.DeliverTwice, 1), Scene: "two-workers", Profile: "rabbitmq", Finds: "duplicate-unexplained p0/1; effect-duplicates p0/1; overlapping p0/1; redelivered p0/1", Breaks: "at-least-once at-most-once"},
		{Bug: at(inmem.DuplicateAfterAck, 1), Scene: "steady", Profile: "sqs-fifo", Finds: "duplicate-after-ack p0/1; effect-duplicates p0/1; redelivered p0/1", Breaks: "at-least-once at-most-once effectively-once contract"},
		{Bug: at(inmem.DuplicateAfterAck, 1), Scene: "steady", Profile: "rabbitmq", Finds: "duplicate-after-ack p0/1; effect-duplicates p0/1; redelivered p0/1", Breaks: "at-least-once at-most-once effectively-once contract"},
		{Bug: at(inmem.AckIgnored, 1), Scene: "steady", Profile: "localstack", Finds: "duplicate-after-ack p0/1; effect-duplicates p0/1; redelivered p0/1", Breaks: "at-least-once at-most-once effectively-once contract"},
		{Bug: inmem.Bug{Name: inmem.AckUndone, IDs: []msg.ID{{Seq: 0}, {Seq: 2}}, Limit: 2}, Scene: "crash", Profile: "rabbitmq", Finds: "effect-duplicates p0/0 p0/2; redelivered p0/0 p0/2; redelivered-beyond-uncommitted p0/0 p0/2", Breaks: "contract"},
		{Bug: at(inmem.AckIgnored, 2), Scene: "crash", Profile: "localstack", Finds: "duplicate-after-ack p0/2; effect-duplicates p0/2; redelivered p0/2; redelivered-beyond-uncommitted p0/2", Breaks: "at-least-once contract"},
		{Bug: at(inmem.UnflaggedRedelivery, 1), Scene: "fails-once", Profile: "rabbitmq-classic", Finds: "unflagged-redelivery p0/1", Breaks: "contract"},
		{Bug: at(inmem.UnflaggedRedelivery, 1), Scene: "fails-once", Profile: "localstack", Finds: "wrong-count p0/1", Breaks: "contract"},
		{Bug: at(inmem.WrongCount, 1), Scene: "steady", Profile: "localstack", Finds: "wrong-count p0/1", Breaks: "contract"},
		{Bug: at(inmem.WrongCount, 1), Scene: "steady", Profile: "rabbitmq-classic", Finds: "wrong-count p0/1", Breaks: "contract"},
		{Bug: at(inmem.SwapReady, 1), Scene: "two-workers", Profile: "sqs-fifo", Finds: "order-group p0/2; order-key p0/1", Breaks: "contract"},
		{Bug: at(inmem.SwapReady, 4), Scene: "backlog", Profile: "rabbitmq", Finds: "order-key p0/4; order-partition p0/4", Breaks: "order-per-key order-per-partition contract"},
		{Bug: at(inmem.Stuck, 1), Scene: "abandoned", Profile: "localstack", Finds: "stuck p0/1; undrained p0/1", Breaks: "drained contract"},
		{Bug: at(inmem.Stuck, 1), Scene: "abandoned", Profile: "rabbitmq", Finds: "stuck p0/1; undrained p0/1", Breaks: "drained contract"},
		{Bug: at(inmem.GhostInFlight, 1), Scene: "steady", Profile: "localstack", Finds: "not-empty", Breaks: "drained contract"},
		{Bug: at(inmem.GhostInFlight, 1), Scene: "two-workers", Profile: "rabbitmq", Finds: "not-empty", Breaks: "drained contract"},
		{Bug: at(inmem.DeadLetterEarly, 1), Scene: "poison", Profile: "localstack", Finds: "dead-letter-early p0/1", Breaks: "dead-letter-justified contract"},
		{Bug: at(inmem.DeadLetterEarly, 1), Scene: "poison", Profile: "rabbitmq", Finds: "dead-letter-early p0/1", Breaks: "dead-letter-justified contract"},
		{Bug: at(inmem.DeadLetterLate, 1), Scene: "poison", Profile: "localstack", Finds: "dead-letter-late p0/1; redelivered p0/1", Breaks: "dead-letter-justified contract"},
		{Bug: at(inmem.DeadLetterLate, 1), Scene: "poison", Profile: "rabbitmq", Finds: "dead-letter-late p0/1; redelivered p0/1", Breaks: "dead-letter-justified contract"},
		{Bug: at(inmem.DeadLetterTwice, 1), Scene: "poison", Profile: "localstack", Finds: "dead-letter-twice p0/1", Breaks: "dead-letter-justified contract"},
		{Bug: at(inmem.DeadLetterTwice, 1), Scene: "poison", Profile: "rabbitmq", Finds: "dead-letter-twice p0/1", Breaks: "dead-letter-justified contract"},
		{Bug: at(inmem.DeadLetterLost, 1), Scene: "poison", Profile: "localstack", Finds: "lost-in-dead-lettering p0/1", Breaks: "at-least-once"},
		{Bug: at(inmem.DeadLetterLost, 1), Scene: "poison", Profile: "rabbitmq", Finds: "lost-in-dead-lettering p0/1", Breaks: "at-least-once"},
		{Bug: at(inmem.DeadLetterDone, 2), Scene: "poison", Profile: "localstack", Finds: "dead-letter-after-ack p0/2; dead-letter-false p0/2; dead-lettered p0/2", Breaks: "dead-letter-justified contract"},
		{Bug: at(inmem.DeadLetterDone, 2), Scene: "poison", Profile: "rabbitmq", Finds: "dead-letter-after-ack p0/2; dead-letter-false p0/2; dead-lettered p0/2", Breaks: "dead-letter-justified contract"},
		{Bug: at(inmem.TwoActive, 3), Scene: "single-active", Profile: "rabbitmq", Finds: "two-active p0/4", Breaks: "contract"},
		{Bug: at(inmem.DeliverExpired, 3), Scene: "expires", Profile: "rabbitmq", Finds: "expired-delivered p0/3; redelivered p0/3", Breaks: "contract"},
		{Bug: at(inmem.DeliverExpired, 3), Scene: "retained", Profile: "sqs", Finds: "expired-delivered p0/3; redelivered p0/3", Breaks: "contract"},
		{Bug: at(inmem.DeliverExpired, 3), Scene: "retained", Profile: "sqs-fifo", Finds: "expired-delivered p0/3; redelivered p0/3", Breaks: "contract"},
		{Bug: at(inmem.EarlyRedelivery, 1), Scene: "slow", Profile: "localstack", Finds: "effect-duplicates p0/1; overlapping p0/1; premature-redelivery p0/1; redelivered p0/1", Breaks: "at-least-once at-most-once single-holder contract"},
		{Bug: inmem.Bug{Name: inmem.ExtendIgnored}, Scene: "extended", Profile: "localstack", Finds: "effect-duplicates p0/0; overlapping p0/0; premature-redelivery p0/0; redelivered p0/0; refused-settle p0/0 p0/0 p0/0; zombie-effect p0/0 p0/0; zombie-settle p0/0 p0/0 p0/0 p0/0 p0/0", Breaks: "at-least-once at-most-once single-holder contract"},
		{Bug: at(inmem.StaleAccepted, 0), Scene: "outlived", Profile: "sqs-fifo", Finds: "stale-accepted p0/0", Breaks: "contract"},
		{Bug: inmem.Bug{Name: inmem.GroupNotBlocked, Limit: 1}, Scene: "two-workers", Profile: "sqs-fifo", Finds: "group-blocked p0/1", Breaks: "contract"},
		{Bug: at(inmem.DedupForgotten, 1), Scene: "resend", Profile: "sqs-fifo", AnswerLost: true, Finds: "dedup-violation p0/1; effect-duplicates p0/1; stored-twice p0/1", Breaks: "at-most-once contract"},
		{Bug: at(inmem.DedupSwallows, 1), Scene: "steady", Profile: "sqs-fifo", Finds: "lost-undelivered p0/1", Breaks: "at-least-once effectively-once"},
	}
}

// Honest is what happens on an honest broker when the application or its surroundings
// misbehave, and what must be found of it.
func Honest() []Planted {
	return []Planted{
		{Scene: "settled-first", Profile: "kafka", Finds: "position-passed p0/5 p0/6 p0/7"},
		{Scene: "settled-first", Profile: "rabbitmq", Finds: "settled-without-success p0/5 p0/6 p0/7"},
		{Scene: "settled-first", Profile: "localstack", Finds: "settled-without-success p0/5 p0/6 p0/7"},
		{Scene: "crash", Profile: "rabbitmq", Finds: "innocent-victim p0/5 p0/6 p0/7; redelivered p0/5 p0/6 p0/7"},
		{Scene: "crash", Profile: "kafka", Finds: "redelivered p0/5 p0/6 p0/7"},
		{Scene: "frozen", Profile: "kafka", Finds: "effect-duplicates p0/1; redelivered p0/1; refused-settle p0/1; zombie-settle p0/1"},
		{Scene: "frozen", Profile: "rabbitmq", Finds: "effect-duplicates p0/1; redelivered p0/1; refused-settle p0/1"},
		{Scene: "frozen", Profile: "sqs", Finds: "effect-duplicates p0/1; redelivered p0/1; silent-settle p0/1; zombie-settle p0/1"},
		{Scene: "outlived", Profile: "sqs", Finds: "overlapping p0/0; redelivered p0/0; silent-settle p0/0; zombie-effect p0/0; zombie-settle p0/0"},
		{Scene: "outlived", Profile: "sqs-fifo", Finds: "overlapping p0/0; redelivered p0/0; refused-settle p0/0; zombie-effect p0/0; zombie-settle p0/0"},
		{Scene: "poison", Profile: "rabbitmq", Finds: "dead-lettered p0/1; redelivered p0/1 p0/1"},
		{Scene: "txn-interleaved", Profile: "kafka", Finds: "send-skip p0/1; write-cycle A B"},
		{Scene: "resend", Profile: "kafka", AnswerLost: true, Finds: "effect-duplicates p0/1; stored-twice p0/1", Breaks: "at-most-once"},
	}
}
