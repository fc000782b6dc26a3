// SPDX-License-Identifier: Apache-2.0

package checkers

import (
	"fmt"
	"strings"
	"testing"

	"github.com/seed-720a3c77/harness/contract"
	"github.com/seed-720a3c77/harness/history"
	"github.com/seed-720a3c77/harness/msg"
)

// life is a message's life, a step a line: "event lane: text".
func (t *tale) life(text string) string {
	told := []Life{{ID: id(text)}}
	l := &lives{stories: map[msg.ID]*narrative{told[0].ID: {Life: &told[0]}}}
	j := newJudge(&t.header, t.name, []Checker{l}, new(memory))
	for i := range t.events {
		j.Observe(&t.events[i])
	}
	j.Finish()
	var lines []string
	for _, s := range told[0].Steps {
		lines = append(lines, fmt.Sprintf("%d %s: %s", s.Event, s.Lane, s.Text))
	}
	return strings.Join(lines, "\n")
}

func TestLives(t *testing.T) {
	unowed := tell(kafka)
	unowed.header.Subscriptions, unowed.header.Producers = nil, nil
	for _, c := range []struct {
		name string
		tale *tale
		want string
	}{
		{"a worker of a log dies when it is done and has not committed",
			tell(kafka).assign("w0", 0, "earliest").publish("p0/0").deliver("w0", "p0/0").handle("w0", "p0/0").crash("w0").assign("w1", 0, "committed").deliver("w1", "p0/0").handle("w1", "p0/0").ack("w1", "p0/0").drained(), `
1 producer: sent to orders/0, attempt 1
2 producer: publish ok
3 w0: received from orders/0 at 0
4 w0: handler started
6 w0: effect
7 w0: handler ended
8 w0: session died before the position behind the message was committed
9 w1: orders/0 given to w1, which begins at 0: committed
10 w1: received from orders/0 at 0; again: rewind to committed
11 w1: handler started
13 w1: effect
14 w1: handler ended
15 w1: commit asked for
16 w1: commit ok
-1 broker: billing: done`},
		{"a fault begins and is healed",
			tell(rabbitmq).publish("p0/0").fault(history.FaultActive, 1).fault(history.FaultHealed, 1).work("w0", "p0/0").drained(), `
0 producer: sent to orders, attempt 1
1 producer: publish ok
2 fault: kill billing/0 begins
3 fault: kill billing/0 is healed
4 w0: received from orders
5 w0: handler started
7 w0: effect
8 w0: handler ended
9 w0: ack asked for
10 w0: ack accepted-only
-1 broker: billing: done`},
		{"the partition moves",
			tell(kafka).publish("p0/0").assign("w0", 0, "earliest").deliver("w0", "p0/0").revoke("w0").assign("w1", 0, "committed").work("w1", "p0/0").drained(), `
0 producer: sent to orders/0, attempt 1
1 producer: publish ok
2 w0: orders/0 given to w0, which begins at 0: earliest
3 w0: received from orders/0 at 0
4 w0: orders/0 taken from w0
5 w1: orders/0 given to w1, which begins at 0: committed
6 w1: received from orders/0 at 0; again: rewind to committed
7 w1: handler started
9 w1: effect
10 w1: handler ended
11 w1: commit asked for
12 w1: commit ok
-1 broker: billing: done`},
		{"a log without a subscription", unowed.publish("p0/0").deliver("w0", "p0/0").found("orders", "p0/0"), `
0 producer: sent to orders/0, attempt 1
1 producer: publish ok
2 w0: received from orders/0 at 0
3 broker: found stored in orders/0`},
		{"transactions that were aborted, committed, and not answered", operations("a rejected s0@0 s1@1", "b ok r0@0 s2@2", "c unknown r0@0"), `
1 producer: sent to orders/0, attempt 1, in transaction 1
2 producer: publish rejected
5 a: transaction 1 aborted
7 b: received from orders/0 at 0, in transaction 2
10 b: transaction 2 committed
12 c: received from orders/0 at 0; again: rewind to committed, in transaction 3
13 c: transaction 3 ended without an answer: it may hold or not`},
		{"a dead letter's place is not where the position has to go",
			tell(kafka).deadLetters(1).publish("p0/0").assign("w0", 0, "earliest").deliver("w0", "p0/0").fail("w0", "p0/0").sendTo("p0/0", "orders-dlq").answerFrom("p0/0", "orders-dlq", contract.OK, 7).ack("w0", "p0/0").crash("w0").drained(), `
0 producer: sent to orders/0, attempt 1
1 producer: publish ok
2 w0: orders/0 given to w0, which begins at 0: earliest
3 w0: received from orders/0 at 0
4 w0: handler started
5 w0: handler failed
6 p0: sent to orders-dlq/0, attempt 1
7 p0: publish ok
8 w0: commit asked for
9 w0: commit ok
-1 broker: billing: dead-lettered`},
		{"nothing is recorded of it", tell(kafka).publish("p0/1").assign("w0", 0, "earliest").drained(), ""},
	} {
		if got := c.tale.life("p0/0"); got != strings.TrimSpace(c.want) {
			t.Errorf("%s:\n%s\nwant\n%s", c.name, got, c.want)
		}
	}
}
