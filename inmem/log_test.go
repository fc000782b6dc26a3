// SPDX-License-Identifier: Apache-2.0

package inmem

import (
	"hash/fnv"
	"testing"

	"github.com/seed-720a3c77/harness/broker"
	"github.com/seed-720a3c77/harness/contract/profiles"
)

// logRow is one rule of a log. The topic q has the partitions given, or one; claims start
// at once unless the row says otherwise.
type logRow struct {
	name       string
	partitions int
	knobs      map[string]string
	script     string
}

func runLogRows(t *testing.T, rows []logRow) {
	t.Helper()
	for _, r := range rows {
		t.Run(r.name, func(t *testing.T) {
			p, err := profiles.Named("kafka")
			if err != nil {
				t.Fatal(err)
			}
			p.Knobs[profiles.ClaimStart] = "0s"
			for name, value := range r.knobs {
				p.Knobs[name] = value
			}
			newScriptOf(t, p, Options{}, broker.Destination{Name: "q", Partitions: r.partitions}).run(r.script)
		})
	}
}

func TestPositions(t *testing.T) {
	runLogRows(t, []logRow{
		{name: "polls never remove", script: `
			send a1 a2
			get A 5 = a1 a2
			open B group=other
			get B 5 = a1 a2
			open R group=
			get R 5 = a1 a2
			depth q g = 0/0/2`},
		{name: "commit is the position behind", script: `
			send a1 a2 a3
			get A 5 = a1 a2 a3
			commit A a2
			depth q g = 0/2/3
			leave A
			get B 5 = a3`},
		{name: "a commit moves only forward", script: `
			send a1 a2 a3
			get A 5 = a1 a2 a3
			commit A a3
			commit A a1
			depth q g = 0/3/3`},
		{name: "unless the profile lets it", knobs: map[string]string{profiles.CommitBackward: "true"}, script: `
			send a1 a2 a3
			get A 5 = a1 a2 a3
			commit A a3
			commit A a1
			depth q g = 0/1/3`},
		{name: "seek and commit below", script: `
			send a1 a2 a3
			get A 5 = a1 a2 a3
			commit A a3
			seek A 0 0
			get A 1 = a1
			commit A a1
			depth q g = 0/1/3`},
		{name: "seek of a partition that is not held", script: `
			get A 1 =
			seek A 5 0 = stale`},
		{name: "start at latest skips what came before", script: `
			send a1
			open A start=latest
			send a2
			get A 5 = a2
			leave A            # nothing was committed
			send a3
			open B start=latest
			get B 5 =`},
		{name: "marks are committed on the interval's tick and at a close", script: `
			send a1 a2 a3
			open A autocommit=5s
			get A 2 = a1 a2
			mark A a1
			depth q g = 0/0/3
			autocommit A
			depth q g = 0/1/3
			mark A a2
			leave A
			depth q g = 0/2/3`},
		{name: "a crash loses what was marked", script: `
			send a1 a2
			open A autocommit=5s
			get A 2 = a1 a2
			mark A a2
			vanish A
			depth q g = 0/0/2`},
		{name: "marks without automatic commit are never committed", script: `
			send a1
			get A 2 = a1
			mark A a1
			leave A
			depth q g = 0/0/1`},
		{name: "a paused one hands out what it has fetched", script: `
			open A prefetch=2 batch=1
			send a1 a2 a3
			get A 1 = a1
			pause A
			get A 1 = a2
			get A 1 =
			resume A
			get A 1 = a3`},
		{name: "keys keep their partition", partitions: 3, script: `
			send a1 b1 c1 d1 a2 b2 c2 d2
			open A group=
			get A 9 = a1 b1 d1 a2 b2 d2 c1 c2`},
		{name: "no key goes round, and a pin holds", partitions: 2, script: `
			send a1,part:1 a2,part:0 a3,part:1
			send a4,part:7 = refused
			open A group=
			get A 9 = a2 a1 a3`},
		{name: "verbs that it does not have", script: `
			send a1
			get A 1 = a1
			ack A a1 = unsupported
			nack A a1 = unsupported`},
		{name: "a removed topic", script: `
			get A 1 =
			remove q
			get A 1 = not-found
			send a1 = not-found`},
	})
}

// TestKeyPartition holds the hash to the one that sarama computes with the standard library.
func TestKeyPartition(t *testing.T) {
	for _, key := range []string{"a", "key-1", "order/4711", "ünïcode"} {
		for n := 1; n < 9; n++ {
			hash := fnv.New32a()
			hash.Write([]byte(key))
			want := int(int32(hash.Sum32()) % int32(n))
			if got := keyPartition(key, n); got != max(want, -want) {
				t.Errorf("keyPartition(%q, %d) = %d, want %d", key, n, got, max(want, -want))
			}
		}
	}
}

func TestRebalance(t *testing.T) {
	runLogRows(t, []logRow{
		{name: "a second member: the first learns at its heartbeat and gives all back", partitions: 2, script: `
			send a1,part:0 b1,part:1 a2,part:0 b2,part:1
			get A 1 = a1
			commit A a1
			get A 1 = b1
			open B
			get B 9 =                # waits for A
			beat A                   # and A is busy with b1
			get B 9 =
			heard = A open, A assigned 0@0, A assigned 1@0
			get A 9 = a2             # back from its handler: it gives all back and joins
			heard = A revoked 0, A revoked 1, A close KError 27, A open, A assigned 0@1, B open, B assigned 1@0
			get B 9 = b1 b2
			commit A b1 = stale`},
		{name: "an idle member rejoins at its heartbeat", partitions: 2, script: `
			wait A 5 9s =
			open B
			at 2s
			beat A
			heard = A open, A assigned 0@0, A assigned 1@0, A revoked 0, A revoked 1, A close KError 27, A open, A assigned 0@0, B open, B assigned 1@0`},
		{name: "marks are flushed before the partitions go", script: `
			send a1 a2
			open A autocommit=1m
			get A 2 = a1 a2
			mark A a1 a2
			open B
			beat A
			get A 5 =
			depth q g = 0/2/2`},
		{name: "a silent member is out after its session", script: `
			send a1
			get A 1 = a1
			at 1s
			beat A
			get B 1 =
			vanish A
			at 6.9s
			get B 1 =
			at 7s
			get B 1 = a1`},
		{name: "a frozen one finds out at its next heartbeat", script: `
			send a1 a2 a3
			open A batch=1 prefetch=3
			get A 1 = a1
			wait B 1 9s =
			at 6s
			get B 9 = a1 a2 a3
			commit B a2
			get A 1 = a2              # zombie: from its buffer
			commit A a2 = stale
			beat A
			get A 9 = a3              # one more that it had
			commit A a3 = stale
			depth q g = 0/2/3
			get A 9 =`},
		{name: "a busy handler is thrown out at the rebalance timeout", knobs: map[string]string{profiles.RebalanceTimeout: "5s"}, script: `
			send a1 a2 a3
			open A batch=1 prefetch=3 session=60s
			get A 1 = a1
			open B session=60s
			beat A
			at 4.9s
			get B 9 =
			at 5s
			get B 9 = a1 a2 a3        # from the last commit
			beat A
			get A 9 = a2              # one buffered record all the same
			commit A a1 a2 = stale
			get A 9 =
			heard = A open, A assigned 0@0, B open, B assigned 0@0, A lost 0, A close KError 25`},
		// A storm of rebalances on Kafka had 1,600 redeliveries in each of three repeats; while
		// the model waited for handlers it had none in any seed.
		{name: "a client that asks nobody gives back under a running handler", partitions: 1, knobs: map[string]string{profiles.RevokesAtOnce: "true"}, script: `
			send a1 a2 a3
			open A batch=1 prefetch=3
			get A 1 = a1
			open B
			beat A
			commit A a1 = stale
			heard = A open, A assigned 0@0, A revoked 0, A close KError 27, A open, A assigned 0@0, B open
			get A 9 = a1 a2 a3        # from the last commit`},
		{name: "a polite one is succeeded at once", script: `
			send a1 a2
			get A 1 = a1
			commit A a1
			wait B 1 9s =
			leave A
			get B 9 = a2`},
		{name: "the last session error is seen by the next member", partitions: 1, script: `
			get A 1 =
			leave A
			get B 1 =
			heard = A open, A assigned 0@0, B open, B assigned 0@0`},
	})
}

func TestCooperativeRebalance(t *testing.T) {
	runLogRows(t, []logRow{
		{name: "only what moves is given back, and only by a member that is not busy", partitions: 2, script: `
			send a1,part:0 b1,part:1 a2,part:0 b2,part:1
			open A strategy=cooperative-sticky batch=1
			get A 1 = a1
			get A 1 = b1
			open B strategy=cooperative-sticky
			beat A
			heard = A open, A assigned 0@0, A assigned 1@0, B open
			commit A a1               # of an older generation, and still its own
			commit A b1
			get B 9 =
			get A 9 = a2              # here it gives 1 back
			wait B 9 9s =
			beat B
			heard = A revoked 1, B assigned 1@1
			get B 9 = b2`},
	})
}

func TestStaticMembers(t *testing.T) {
	runLogRows(t, []logRow{
		{name: "a restart within the session is no rebalance", partitions: 2, script: `
			open A static=one
			open B static=two
			beat A
			get A 1 =
			vanish A
			at 1s
			open A2 static=one
			heard = A open, A assigned 0@0, A assigned 1@0, A revoked 0, A revoked 1, A close KError 27, A open, A assigned 0@0, B open, B assigned 1@0, A2 open, A2 assigned 0@0`},
		{name: "a second live one takes over and the older is fenced", script: `
			send a1
			open A static=one
			get A 1 = a1
			open A2 static=one
			get A2 1 = a1
			commit A a1 = stale
			beat A
			get A 1 = none`},
		{name: "a polite leave is none", script: `
			send a1
			open A static=one
			leave A
			open B
			at 5.9s
			get B 1 =
			at 6s
			get B 1 = a1`},
	})
}

func TestClaimsStartLate(t *testing.T) {
	runLogRows(t, []logRow{{name: "100 ms", knobs: map[string]string{profiles.ClaimStart: "100ms"}, script: `
		send a1
		wait A 1 9s =
		at 0.09s
		woken =
		at 0.1s
		woken = A
		get A 1 = a1`}})
}

func TestOutOfRangeIsSilent(t *testing.T) {
	s := newScript(t, "kafka", Options{}, broker.Destination{Name: "q"})
	s.run(`
		send a1 a2 a3 a4
		open A group=g
		at 1s
		get A 1 = a1
		commit A a1
		leave A`)
	s.m.model.(*logs).topics["q"].partitions[0].records.truncate(3)
	s.run(`
		open B
		at 2s
		get B 9 = a4
		open C group=g2 start=latest
		at 3s
		get C 9 =
		depth q g = 3/1/4       # as committed, though out of range`)
}
