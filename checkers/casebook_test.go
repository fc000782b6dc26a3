// SPDX-License-Identifier: Apache-2.0

package checkers

import (
	"maps"
	"slices"
	"testing"
	"time"

	"github.com/seed-720a3c77/harness/contract"
	"github.com/seed-720a3c77/harness/history"
)

// TestCasebook tells what people reported as losses and duplicates, and wants the exact
// counts: the same few shapes that are confused with one another most.
func TestCasebook(t *testing.T) {
	type counts map[string]int64
	for _, row := range []struct {
		name string
		tale *tale
		want counts
	}{
		{"marked and never committed", markedOnly(), counts{"lost": 0, "deliveries": 20, "redelivered": 10, "redelivered.rewind-to-committed": 10, "unexplained": 0}},
		{"highest finished offset committed", highestSeen(), counts{"lost": 1, "position-passed": 1, "redelivered": 0}},
		{"contiguous watermark committed", watermark(), counts{"lost": 0, "redelivered": 10, "effect-duplicates": 9}},
		{"whole batch committed on fetch", onFetch(), counts{"lost": 6, "position-passed": 6, "redelivered": 0}},
		{"each committed before its handler", beforeEach(), counts{"lost": 1, "position-passed": 1, "redelivered": 5, "effect-duplicates": 0}},
		{"old buffer worked off after the partition moved", oldBuffer(), counts{"lost": 0, "deliveries": 17, "redelivered": 7, "zombie-handling": 7, "effect-duplicates": 7, "unexplained": 0}},
		{"old buffer worked off after the new owner was done", oldOwner(true), counts{"redelivered": 7, "zombie-effect": 7, "effect-duplicates": 7, "effect-duplicates.rewind-to-committed": 7}},
		{"old buffer worked off by one that was not told", oldOwner(false), counts{"redelivered": 7, "zombie-effect": 7, "effect-duplicates": 7, "effect-duplicates.rewind-to-committed": 7}},
		{"late commit moves the position back", lateCommit(), counts{"lost": 0, "commit-regression": 1, "redelivered": 5}},
		{"a log does not give back", notGivenBack(), counts{"lost": 1, "position-passed": 1, "redelivered": 0, "done": 9}},
		{"send returned an error and arrived", errorButStored(), counts{"lost": 0, "stored-twice": 10, "redelivered": 0, "acked": 10, "phantom": 0}},
		{"old buffer, then acked twice", ackedTwice(), counts{"lost": 0, "redelivered": 7, "redelivered.session-died": 7}},
		{"auto-ack consumer dies", autoAck(), counts{"lost": 90, "done": 10, "redelivered": 0}},
		{"ack timeout shorter than the job", ackTimeout(), counts{"lost": 0, "deliveries": 4, "effects": 3, "redelivered.consumer-timeout": 3, "done": 1, "effect-duplicates": 2, "refused-settle": 3}},
		{"delivery limit without a dead-letter queue", limitDropped(), counts{"lost": 0, "policy-drop": 1, "done": 4}},
		{"confirm lost, sent again", confirmLost(), counts{"lost": 0, "stored-twice": 1, "redelivered": 0, "unexplained": 0}},
		{"lease shorter than the handler", leaseTooShort(), counts{"lost": 0, "deliveries": 3, "effects": 3, "effect-duplicates": 2, "silent-settle": 2, "dead-letter-false": 1, "dead-letter-premature": 0}},
		{"batch ages in the client", agedBatch(), counts{"lost": 0, "deliveries": 16, "effect-duplicates": 6, "redelivered.lease-expired": 6}},
		{"throttled before any handler ran", throttled(), counts{"lost": 0, "done": 1, "dead-lettered": 4, "dead-letter-premature": 4, "dead-letter-false": 0}},
		{"one failure sends the batch back", wholeBatch(), counts{"lost": 0, "deliveries": 20, "redelivered": 10, "effect-duplicates": 9}},
		{"key written before the work", keyFirst(), counts{"lost": 1, "settled-without-success": 1, "redelivered": 1}},
		{"lookup and act", lookupFirst(), counts{"lost": 0, "effect-duplicates": 10, "overlapping": 10}},
	} {
		t.Run(row.name, func(t *testing.T) {
			r := row.tale.check()
			for _, name := range slices.Sorted(maps.Keys(row.want)) {
				if got, measured := r.Counts[name]; got != row.want[name] || !measured && row.want[name] != 0 {
					t.Errorf("%s = %d, want %d (found %s)", name, got, row.want[name], findings(&r))
				}
			}
			for i := range r.Ledger {
				if r.Ledger[i].Difference != 0 {
					t.Errorf("does not balance: %+v", r.Ledger[i])
				}
			}
		})
	}
}

func kafkaOf(n int) *tale {
	return tell(kafka).publish(ids(1, n)...).assign("w0", 1, "earliest")
}

func markedOnly() *tale {
	t := kafkaOf(10)
	for _, w := range []string{"w0", "w1"} {
		for _, m := range ids(1, 10) {
			t.deliver(w, m).handle(w, m).settle(w, m, history.VerbMark, contract.AcceptedOnly)
		}
		if t.closed(w, ""); w == "w0" {
			t.assign("w1", 1, "earliest")
		}
	}
	return t.undrained("limit")
}

func highestSeen() *tale {
	t := kafkaOf(10).deliver("w0", ids(1, 10)...).start("w0", "p0/1")
	for _, m := range ids(2, 10) {
		t.handle("w0", m).ack("w0", m)
	}
	return t.crash("w0").assign("w1", 11, "committed").drained()
}

func watermark() *tale {
	t := kafkaOf(10).deliver("w0", ids(1, 10)...).start("w0", "p0/1").handle("w0", ids(2, 10)...)
	return t.crash("w0").assign("w1", 1, "earliest").redeliver("w1", ids(1, 10)...).drained()
}

func onFetch() *tale {
	t := kafkaOf(10).deliver("w0", ids(1, 10)...).ack("w0", "p0/10").handle("w0", ids(1, 4)...).start("w0", "p0/5")
	return t.crash("w0").assign("w1", 11, "committed").drained()
}

func beforeEach() *tale {
	t := kafkaOf(10).deliver("w0", ids(1, 10)...)
	for _, m := range ids(1, 4) {
		t.ack("w0", m).handle("w0", m)
	}
	t.ack("w0", "p0/5").start("w0", "p0/5").crash("w0").assign("w1", 6, "committed")
	return t.redeliver("w1", ids(6, 10)...).drained()
}

func oldBuffer() *tale {
	t := kafkaOf(10).deliver("w0", ids(1, 10)...).handle("w0", ids(1, 3)...).ack("w0", "p0/3")
	t.revoke("w0").assign("w1", 4, "committed")
	for _, m := range ids(4, 10) {
		t.deliver("w1", m).handle("w0", m).handle("w1", m)
	}
	return t.ack("w1", "p0/10").drained()
}

// oldOwner works off its buffer when the new owner has done the same.
func oldOwner(told bool) *tale {
	t := kafkaOf(10).deliver("w0", ids(1, 10)...).handle("w0", ids(1, 3)...).ack("w0", "p0/3")
	if told {
		t.revoke("w0")
	}
	t.assign("w1", 4, "committed").work("w1", ids(4, 10)...)
	return t.handle("w0", ids(4, 10)...).drained()
}

func lateCommit() *tale {
	t := kafkaOf(10).deliver("w0", ids(1, 10)...).handle("w0", ids(1, 10)...)
	start := t.of("w0", "p0/5", history.SettleStart)
	start.Verb, start.Off = history.VerbCommit, 6
	t.ack("w0", "p0/10")
	end := t.of("w0", "p0/5", history.SettleAnswer)
	end.Verb, end.Class = history.VerbCommit, contract.OK
	return t.crash("w0").assign("w1", 6, "committed").redeliver("w1", ids(6, 10)...).drained()
}

func notGivenBack() *tale {
	t := kafkaOf(10).deliver("w0", ids(1, 10)...).handle("w0", ids(1, 3)...).fail("w0", "p0/4").handle("w0", ids(5, 10)...)
	return t.ack("w0", "p0/10").closed("w0", "").assign("w1", 11, "committed").drained()
}

func errorButStored() *tale {
	t := tell(kafka)
	for _, m := range ids(0, 9) {
		t.send(m).answer(m, contract.Unknown)
	}
	for i, m := range ids(0, 9) {
		t.send(m).answerFrom(m, "orders", contract.OK, int64(10+i))
	}
	for i, m := range ids(0, 9) {
		t.deliverAt("w0", m, int64(i)).handle("w0", m)
	}
	for i, m := range ids(0, 9) {
		t.deliverAt("w0", m, int64(10+i))
	}
	return t.ack("w0", "p0/9").drained()
}

func ackedTwice() *tale {
	t := tell(rabbitmq).publish(ids(1, 10)...).deliver("w0", ids(1, 10)...)
	t.handle("w0", "p0/1").ack("w0", "p0/1").handle("w0", "p0/2").ack("w0", "p0/2").handle("w0", "p0/3").ack("w0", "p0/3")
	t.closed("w0", "406 PRECONDITION_FAILED - unknown delivery tag 3")
	// Whether the acks arrived is not known; the broker gave only 4 to 10 back.
	for _, m := range ids(4, 10) {
		t.redelivered("w1", m)
	}
	return t.drained()
}

func autoAck() *tale {
	t := tell(rabbitmq).publish(ids(0, 99)...).deliver("w0", ids(0, 99)...)
	return t.handle("w0", ids(0, 9)...).crash("w0").drained()
}

func ackTimeout() *tale {
	const why = "406 PRECONDITION_FAILED - delivery acknowledgement on channel 1 timed out"
	t := tell(rabbitmq).publish("p0/0").deliver("w0", "p0/0").start("w0", "p0/0")
	workers := []string{"w0", "w1", "w2", "w3"}
	for i, w := range workers[1:] {
		before := workers[i]
		t.at(int64(i+1)*5000).closed(before, why).deliver(w, "p0/0").flagged().start(w, "p0/0")
		t.at(int64(i+1)*5000+3000).effect(before, "p0/0").end(before, "p0/0").settle(before, "p0/0", history.VerbAck, contract.Rejected)
	}
	return t.undrained("limit")
}

func limitDropped() *tale {
	t := tell(rabbitmq).publish(ids(1, 5)...)
	t.header.Destinations[0].MaxDeliveries = 4
	t.deliver("w0", "p0/1").fail("w0", "p0/1").nack("w0", "p0/1")
	for range 3 {
		t.deliver("w0", "p0/1").flagged().fail("w0", "p0/1").nack("w0", "p0/1")
	}
	return t.work("w0", ids(2, 5)...).drained()
}

func confirmLost() *tale {
	return tell(rabbitmq).send("p0/1").answer("p0/1", contract.Unknown).publish("p0/1").work("w0", "p0/1").work("w0", "p0/1").drained()
}

func leaseTooShort() *tale {
	t := tell(sqs).deadLetters(3).lease(2 * time.Second).publish("p0/1")
	t.at(10).deliver("a", "p0/1").start("a", "p0/1").at(2010).deliver("b", "p0/1").start("b", "p0/1")
	t.at(6010).effect("a", "p0/1").end("a", "p0/1").ack("a", "p0/1").deliver("c", "p0/1").start("c", "p0/1")
	t.at(8010).effect("b", "p0/1").end("b", "p0/1").ack("b", "p0/1")
	t.at(12010).effect("c", "p0/1").end("c", "p0/1").ack("c", "p0/1")
	return t.drained().found("orders-dlq", "p0/1").audited("orders-dlq")
}

func agedBatch() *tale {
	t := tell(sqs).lease(5*time.Second).publish(ids(1, 10)...).at(100).deliver("a", ids(1, 10)...)
	for i, m := range ids(1, 4) {
		t.at(int64(200+1200*i)).handle("a", m).ack("a", m)
	}
	t.start("a", "p0/5").at(5200).deliver("b", ids(5, 10)...)
	for _, m := range ids(5, 10) {
		t.handle("b", m).ack("b", m)
	}
	t.effect("a", "p0/5").end("a", "p0/5").ack("a", "p0/5")
	for _, m := range ids(6, 10) {
		t.handle("a", m).ack("a", m)
	}
	return t.drained()
}

func throttled() *tale {
	t := tell(sqs).deadLetters(1).lease(10 * time.Second).publish(ids(1, 5)...)
	t.deliver("w0", ids(1, 5)...).handle("w0", "p0/1").ack("w0", "p0/1").at(12_000).drained()
	for _, m := range ids(2, 5) {
		t.found("orders-dlq", m)
	}
	return t.audited("orders-dlq")
}

func wholeBatch() *tale {
	t := tell(sqs).lease(time.Second).publish(ids(1, 10)...).at(50).deliver("w0", ids(1, 10)...).handle("w0", ids(1, 9)...).fail("w0", "p0/10")
	return t.at(3000).work("w0", ids(1, 10)...).drained()
}

func keyFirst() *tale {
	t := tell(rabbitmq).publish(ids(1, 3)...).work("w0", ids(1, 2)...).deliver("w0", "p0/3").start("w0", "p0/3").crash("w0")
	t.deliver("w1", "p0/3").flagged().start("w1", "p0/3").effect("w1", "p0/3").edit(func(e *history.Event) { e.Flags |= history.Skipped })
	return t.end("w1", "p0/3").ack("w1", "p0/3").drained()
}

func lookupFirst() *tale {
	t := tell(sqs).publish(ids(1, 10)...)
	for _, m := range ids(1, 10) {
		t.deliver("a", m).deliver("b", m).start("a", m).start("b", m)
		t.effect("a", m).effect("b", m).end("a", m).end("b", m).ack("b", m).ack("a", m)
	}
	return t.drained()
}
