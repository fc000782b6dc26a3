// SPDX-License-Identifier: Apache-2.0

package inmem

import (
	"testing"
	"time"

	"github.com/seed-720a3c77/harness/broker"
)

// leaseRow is one rule of a lease queue. The queue q has a lease of 2 s, and the
// dead-letter queue dead where a limit is given.
type leaseRow struct {
	name, profile string
	limit         int
	delay         time.Duration
	script        string
}

func (r leaseRow) destinations() []broker.Destination {
	q := broker.Destination{Name: "q", Lease: 2 * time.Second, MaxDeliveries: r.limit, Delay: r.delay}
	if r.limit > 0 {
		q.DeadLetter = "dead"
	}
	return []broker.Destination{{Name: "dead", Lease: 30 * time.Second}, q}
}

func runLeaseRows(t *testing.T, rows []leaseRow) {
	t.Helper()
	for _, r := range rows {
		t.Run(r.profile+"/"+r.name, func(t *testing.T) {
			newScript(t, r.profile, Options{}, r.destinations()...).run(r.script)
		})
	}
}

func TestLease(t *testing.T) {
	runLeaseRows(t, []leaseRow{
		{name: "others get it after the lease, and not before", profile: "sqs", script: `
			send a1 a2
			get A 1 = a1
			at 1.999s
			get B 5 = a2
			at 2s
			get B 5 = a1(2)
			depth q = 0/2/0`},
		{name: "the sweep is late, never early", profile: "localstack", script: `
			at 0.3s
			send a1
			get A 1 = a1      # until 2.3 s
			at 2.9s
			get B 1 =
			at 3s
			get B 1 = a1(2)`},
		{name: "expired ones come first, in the order of arrival", profile: "localstack", script: `
			send a1 a2 a3 a4
			get A 3 = a1 a2 a3
			at 2s
			get B 10 = a1(2) a2(2) a3(2) a4`},
		{name: "release is at once", profile: "localstack", script: `
			send a1 a2
			get A 1 = a1
			nack A a1
			get B 2 = a1(2) a2`},
		{name: "release with a delay", profile: "sqs", script: `
			send a1
			get A 1 = a1
			nack A a1 5s
			at 4.9s
			get B 1 =
			at 5s
			get B 1 = a1(2)`},
		{name: "extending counts from now", profile: "sqs", script: `
			send a1
			get A 1 = a1
			at 1s
			extend A a1 3s
			at 3.9s
			get B 1 =
			at 4s
			get B 1 = a1(2)`},
		{name: "extending can shorten", profile: "sqs", script: `
			send a1
			get A 1 = a1
			extend A a1 1s
			at 1s
			get B 1 = a1(2)`},
		{name: "renewed every second it is never stolen", profile: "localstack", script: `
			send a1
			get A 1 = a1
			at 1s
			extend A a1 2s
			at 2s
			extend A a1 2s
			at 3s
			extend A a1 2s
			get B 1 =
			at 4s
			get B 1 =
			at 5s
			get B 1 = a1(2)`},
		{name: "a delayed message is hidden", profile: "sqs", script: `
			send a1,delay:2s a2
			depth q = 1/0/1
			get A 5 = a2
			ack A a2
			at 2s
			get A 5 = a1`},
		{name: "a queue's delay, and the message's own", profile: "localstack", delay: 2 * time.Second, script: `
			at 0.5s
			send a1 a2,delay:1s
			get A 5 =
			at 2s
			get A 5 = a2
			at 3s
			get A 5 = a1`},
		{name: "at most ten at a time", profile: "sqs", script: `
			send a1 a2 a3 a4 a5 a6 a7 a8 a9 a10 a11 a12
			get A 12 = a1 a2 a3 a4 a5 a6 a7 a8 a9 a10
			get A 12 = a11 a12`},
		{name: "purge takes all", profile: "sqs", script: `
			send a1 a2 a3,delay:9s
			get A 1 = a1
			purge q
			depth q = 0/0/0
			ack A a1
			at 20s
			get A 5 =`},
		{name: "verbs that it does not have", profile: "sqs", script: `
			send a1
			get A 1 = a1
			reject A a1 = unsupported
			commit A a1 = unsupported
			mark A a1 = unsupported
			ack-up-to A a1 = unsupported`},
		{name: "a removed queue", profile: "sqs", script: `
			send a1
			get A 1 = a1
			remove q
			get A 1 = not-found
			send a2 = not-found
			depth q = not-found`},
	})
}

func TestStaleHandles(t *testing.T) {
	stolen := `
		send a1
		get A 1 = a1
		at 3s
		get B 1 = a1(2)
	`
	runLeaseRows(t, []leaseRow{
		{name: "late delete, not received again", profile: "sqs", script: `
			send a1
			get A 1 = a1
			at 3s
			ack A a1
			get B 1 =`},
		{name: "late delete, not received again", profile: "localstack", script: `
			send a1
			get A 1 = a1
			at 3s
			ack A a1
			get B 1 =`},
		{name: "late delete, not received again", profile: "localstack-fifo", script: `
			send a1
			get A 1 = a1
			at 3s
			ack A a1 = stale
			get B 1 = a1(2)`},
		{name: "late extend, not received again", profile: "localstack", script: `
			send a1
			get A 1 = a1
			at 3s
			extend A a1 2s
			get B 1 =
			at 5s
			get B 1 = a1(2)`},
		{name: "old handle deletes", profile: "localstack", script: stolen + `
			ack A a1
			at 9s
			get B 1 =
			ack B a1`},
		{name: "old handle is a silent no-op", profile: "sqs", script: stolen + `
			ack A a1
			at 9s
			get B 1 = a1(3)
			ack B a1
			at 99s
			get B 1 =`},
		{name: "old handle is refused", profile: "localstack-fifo", script: stolen + `
			ack A a1 = stale
			ack B a1`},
		{name: "old handle is refused", profile: "sqs-fifo", script: stolen + `
			ack A a1 = stale
			extend A a1 9s = stale
			ack B a1`},
		{name: "stale heartbeat moves the new holder's deadline", profile: "localstack", script: stolen + `
			extend A a1 1s
			at 4s
			get C 1 = a1(3)`},
		{name: "stale heartbeat moves the new holder's deadline", profile: "localstack-fifo", script: stolen + `
			extend A a1 1s
			at 4s
			get C 1 = a1(3)`},
		{name: "double delete, extend after delete", profile: "localstack", script: `
			send a1
			get A 1 = a1
			ack A a1
			ack A a1
			extend A a1 2s = stale`},
	})
}

func TestSQSDeadLetters(t *testing.T) {
	for _, profile := range []string{"sqs", "sqs-fifo", "localstack", "localstack-fifo"} {
		runLeaseRows(t, []leaseRow{
			{name: "exactly as many receives as the limit", profile: profile, limit: 2, script: `
				send a1
				get A 1 = a1
				nack A a1
				get A 1 = a1(2)
				nack A a1
				depth q = 1/0/0      # it leaves at the next receive, not before
				get A 1 =
				depth q = 0/0/0
				open D from=dead
				get D 1 = a1(3)`},
			{name: "a limit of one", profile: profile, limit: 1, script: `
				send a1
				get A 1 = a1
				at 3s
				get A 1 =
				open D from=dead
				get D 1 = a1(2)`},
			{name: "a waiting poll moves it", profile: profile, limit: 1, script: `
				send a1
				get A 1 = a1
				open D from=dead
				wait D 1 20s =
				wait B 1 20s =
				at 3s
				woken = B
				wait B 1 17s =
				woken = D
				get D 1 = a1(2)`},
			{name: "the dead-letter queue is missing", profile: profile, limit: 1, script: `
				send a1
				get A 1 = a1
				remove dead
				at 3s
				get A 1 = not-found
				get A 1 =
				depth q = 0/1/0
				at 60s
				get A 1 =`},
		})
	}
	runLeaseRows(t, []leaseRow{
		{name: "a poison head blocks its group until it is moved", profile: "localstack-fifo", limit: 2, script: `
			send a1 a2 a3
			get A 1 = a1
			get A 1 =
			at 2s
			get A 1 = a1(2)
			at 3.9s
			get A 1 =
			at 4s
			get A 5 = a2 a3`},
	})
}

func TestFIFOGroups(t *testing.T) {
	for _, profile := range []string{"sqs-fifo", "localstack-fifo"} {
		runLeaseRows(t, []leaseRow{
			{name: "fills up with one group first", profile: profile, script: `
				send a1 b1 a2 a3 b2 a4
				get A 5 = a1 a2 a3 a4 b1`},
			{name: "a group in flight is held back for everybody", profile: profile, script: `
				send a1 a2 b1
				get A 1 = a1
				get B 5 = b1
				get A 5 =
				ack A a1
				get B 5 = a2`},
			{name: "until all of a batch are gone", profile: profile, script: `
				send a1 a2 a3 a4
				get A 3 = a1 a2 a3
				ack A a1
				get B 5 =
				ack A a2 a3
				get B 5 = a4`},
			{name: "what expires comes back in order", profile: profile, script: `
				send a1 a2 a3 a4
				get A 3 = a1 a2 a3
				ack A a2
				at 3s
				get B 5 = a1(2) a3(2) a4`},
		})
	}
	runLeaseRows(t, []leaseRow{
		{name: "releasing one of a batch breaks the order", profile: "localstack-fifo", script: `
			send a1 a2 a3 a4
			get A 3 = a1 a2 a3
			nack A a2
			get B 5 = a2(2) a4`},
		{name: "releasing one of a batch keeps the group back", profile: "sqs-fifo", script: `
			send a1 a2 a3 a4
			get A 3 = a1 a2 a3
			nack A a2
			get B 5 =
			ack A a1 a3
			get B 5 = a2(2) a4`},
		{name: "extending one of a batch breaks the order", profile: "localstack-fifo", script: `
			send a1 a2 a3 a4
			get A 3 = a1 a2 a3
			extend A a1 10s
			at 2s
			get B 5 = a2(2) a3(2) a4`},
		{name: "extending one of a batch keeps the group back", profile: "sqs-fifo", script: `
			send a1 a2 a3 a4
			get A 3 = a1 a2 a3
			extend A a1 10s
			at 2s
			get B 5 =
			at 10s
			get B 5 = a1(2) a2(2) a3(2) a4`},
	})
}

func TestDeduplication(t *testing.T) {
	runLeaseRows(t, []leaseRow{
		{name: "five minutes from the first send", profile: "sqs-fifo", script: `
			send a1,dedup:x
			get A 1 = a1
			ack A a1
			at 299s
			send a2,dedup:x     # swallowed, and does not extend the window
			get A 1 =
			at 300s
			send a3,dedup:x
			get A 1 = a3`},
		{name: "the id of the message unless told otherwise", profile: "sqs-fifo", script: `
			send a1 a1 a2
			get A 5 = a1 a2`},
		{name: "queue-wide", profile: "localstack-fifo", script: `
			send a1,dedup:x b1,dedup:x
			get A 5 = a1`},
		{name: "a purge clears it", profile: "localstack-fifo", script: `
			send a1,dedup:x
			purge q
			send a2,dedup:x
			get A 5 = a2`},
		{name: "none on standard queues", profile: "sqs", script: `
			send a1 a1
			send a2,dedup:x = unsupported
			get A 5 = a1 a1`},
	})
}

func TestLongPolls(t *testing.T) {
	runLeaseRows(t, []leaseRow{
		{name: "one message wakes one poll", profile: "sqs", script: `
			wait A 1 20s =
			wait B 1 20s =
			send a1
			woken = A
			get A 1 = a1
			woken =`},
		{name: "what the woken one leaves wakes the next", profile: "sqs", script: `
			wait A 1 20s =
			send a1 a2
			woken = A
			wait B 1 20s = a1    # came in between
			woken =
			wait B 1 20s = a2
			wait A 1 20s =       # waits again`},
		{name: "a promise is handed on", profile: "sqs", script: `
			wait A 1 20s =
			wait B 1 20s =
			send a1
			woken = A
			vanish A
			woken = B
			get B 1 = a1`},
		{name: "a poll that ran out gets nothing", profile: "localstack", script: `
			wait A 1 1s =
			at 1s
			unwait A
			send a1
			get B 1 = a1`},
		{name: "a cancelled poll takes the next message", profile: "localstack", script: `
			wait A 1 20s =
			cancel A
			send a1 a2
			get B 5 = a2
			ack B a2
			at 2s
			get B 5 = a1(2)`},
		{name: "so does that of a dead client", profile: "localstack-fifo", script: `
			wait A 1 20s =
			vanish A
			send a1
			get B 5 =
			at 2s
			get B 5 = a1(2)`},
		{name: "but not for longer than its wait", profile: "localstack", script: `
			wait A 1 20s =
			cancel A
			at 20s
			send a1
			get B 5 = a1`},
		{name: "not on SQS", profile: "sqs", script: `
			wait A 1 20s =
			cancel A
			send a1
			get B 5 = a1`},
	})
}
