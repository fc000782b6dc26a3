// SPDX-License-Identifier: Apache-2.0

package inmem

import (
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/seed-720a3c77/harness/broker"
	"github.com/seed-720a3c77/harness/contract"
	"github.com/seed-720a3c77/harness/contract/profiles"
	"github.com/seed-720a3c77/harness/msg"
)

// bugRow plants one bug and tells how it shows. The lines hold with it, and do not
// without it.
type bugRow struct {
	bug     Bug
	profile string
	limit   int
	script  string
}

func bugRows() []bugRow {
	return []bugRow{
		{Bug{Name: LoseAcked, IDs: ids("a2")}, "kafka", 0, `
		send a1 a2 a3
		get A 9 = a1 a3`},
		{Bug{Name: LoseAcked, Every: 2}, "sqs", 0, `
		send a1 a2 a3 a4
		get A 9 = a1 a3`},
		{Bug{Name: StoreTwice, Limit: 1}, "rabbitmq", 0, `
		send a1 a2
		get A 9 = a1 a1 a2`},
		{Bug{Name: StoreTwice, Limit: 1}, "sqs-fifo", 0, `
		send a1 a2
		get A 9 = a1 a1 a2`},
		{Bug{Name: StoreRefused, Limit: 1}, "kafka", 0, `
		send a1 = refused
		send a2
		get A 9 = a1 a2`},
		{Bug{Name: FromNowhere, Limit: 1}, "kafka", 0, `
		send a1 a2
		get A 9 = a1 a1099511627777 a2`},
		{Bug{Name: CorruptBody, IDs: ids("a2")}, "rabbitmq", 0, `
		send a1 a2 a3
		get A 9 = a1 a2! a3`},
		{Bug{Name: SkipRecord, IDs: ids("a2")}, "kafka", 0, `
		send a1 a2 a3
		get A 9 = a1 a3`},
		{Bug{Name: RereadRecord, IDs: ids("a2")}, "kafka", 0, `
		send a1 a2 a3
		get A 9 = a1 a2 a2 a3`},
		{Bug{Name: SwapRecords, IDs: ids("a2")}, "kafka", 0, `
		send a1 a2 a3
		get A 9 = a1 a3 a2`},
		{Bug{Name: HoleAtTakeover}, "kafka", 0, `
		send a1 a2 a3
		get A 1 = a1
		commit A a1
		leave A
		get B 9 = a3`},
		{Bug{Name: BehindCommitted}, "kafka", 0, `
		send a1 a2 a3
		get A 2 = a1 a2
		commit A a2
		leave A
		get B 9 = a2 a3`},
		{Bug{Name: CommitBack, IDs: ids("a3")}, "kafka", 0, `
		send a1 a2 a3
		get A 3 = a1 a2 a3
		commit A a2
		commit A a3
		depth q g = 0/1/3`},
		{Bug{Name: CommitAhead, IDs: ids("a2")}, "kafka", 0, `
		send a1 a2 a3
		get A 1 = a1
		commit A a1
		depth q g = 0/2/3`},
		{Bug{Name: CommitIgnored}, "kafka", 0, `
		send a1
		get A 1 = a1
		commit A a1
		depth q g = 0/0/1`},
		{Bug{Name: ZombieCommit}, "kafka", 0, `
		send a1 a2
		open A prefetch=1
		get A 1 = a1
		at 7s
		get B 1 = a1
		commit A a1
		depth q g = 0/1/2`},
		{Bug{Name: DoubleOwner, Limit: 1}, "kafka", 0, `
		send a1 a2
		get B 1 = a1
		open A
		beat B
		get B 1 = a2
		get A 9 = a1 a2`},
		{Bug{Name: ReadAborted, IDs: ids("a2")}, "kafka", 0, `
		begin X
		in X a1 a2
		abort X
		send a3
		get A 9 = a2 a3`},
		{Bug{Name: DirtyRead, IDs: ids("a1")}, "kafka", 0, `
		begin X
		in X a1
		get A 9 = a1`},
		{Bug{Name: LosePart, IDs: ids("a2")}, "kafka", 0, `
		begin X
		in X a1 a2 a3
		end X
		get A 9 = a1 a3`},
		{Bug{Name: PositionsAlone}, "kafka", 0, `
		begin X
		in X a1 a2
		end X
		get A 9 =`},
		{Bug{Name: ZombieProducer, IDs: ids("a2")}, "kafka", 0, `
		begin X
		again X
		begin X
		in X a1
		zombie X a2 = ok
		end X
		get A 9 = a1 a2`},
		{Bug{Name: MissBinding, IDs: ids("a1")}, "rabbitmq", 0, `
		send a1,to:x a2,to:x
		depth q = 1/0`},

		{Bug{Name: LoseDelivered}, "sqs", 0, `
		send a1
		get A 1 = a1
		at 3s
		depth q = 0/0/0`},
		{Bug{Name: LoseDelivered}, "rabbitmq", 0, `
		send a1
		get A 1 = a1
		vanish A
		depth q = 0/0`},
		{Bug{Name: DeliverTwice, Limit: 1}, "sqs", 0, `
		send a1 a2
		get A 1 = a1
		get B 9 = a2 a1(2)`},
		{Bug{Name: DeliverTwice, Limit: 1}, "rabbitmq", 0, `
		send a1 a2
		open A batch=1
		get A 1 = a1
		get B 9 = a1*(2) a2`},
		{Bug{Name: DuplicateAfterAck, Limit: 1}, "sqs", 0, `
		send a1
		get A 1 = a1
		ack A a1
		get A 1 = a1(2)`},
		{Bug{Name: DuplicateAfterAck, Limit: 1}, "rabbitmq", 0, `
		send a1
		get A 1 = a1
		ack A a1
		get A 1 = a1*(2)`},
		{Bug{Name: AckIgnored}, "sqs", 0, `
		send a1
		get A 1 = a1
		ack A a1
		at 2s
		get A 1 = a1(2)`},
		{Bug{Name: AckIgnored, IDs: ids("a2")}, "rabbitmq", 0, `
		send a1 a2 a3
		get A 9 = a1 a2 a3
		ack-up-to A a3
		vanish A
		get B 9 = a2*(2)`},
		{Bug{Name: AckUndone, IDs: ids("a2")}, "rabbitmq", 0, `
		send a1 a2 a3
		get A 9 = a1 a2 a3
		ack-up-to A a3
		vanish A
		get B 9 = a2*(2)`},
		{Bug{Name: UnflaggedRedelivery}, "rabbitmq", 0, `
		send a1
		get A 1 = a1
		nack A a1
		get A 1 = a1`},
		{Bug{Name: UnflaggedRedelivery}, "sqs", 0, `
		send a1
		get A 1 = a1
		nack A a1
		get A 1 = a1`},
		{Bug{Name: WrongCount}, "localstack", 0, `
		send a1
		get A 1 = a1(2)`},
		{Bug{Name: WrongCount}, "rabbitmq-classic", 0, `
		send a1
		get A 1 = a1*`},
		{Bug{Name: SwapReady, Limit: 1}, "sqs-fifo", 0, `
		send a1 a2 a3
		get A 9 = a2 a1 a3`},
		{Bug{Name: SwapReady, Limit: 1}, "rabbitmq", 0, `
		send a1 a2 a3
		get A 9 = a2 a1 a3`},
		{Bug{Name: Stuck}, "sqs", 0, `
		send a1
		get A 1 = a1
		at 60s
		get A 1 =
		depth q = 0/1/0`},
		{Bug{Name: Stuck}, "rabbitmq", 0, `
		send a1
		get A 1 = a1
		nack A a1
		get A 1 =
		depth q = 0/1`},
		{Bug{Name: GhostInFlight}, "sqs", 0, `
		send a1
		get A 1 = a1
		ack A a1
		depth q = 0/1/0`},
		{Bug{Name: GhostInFlight}, "rabbitmq", 0, `
		send a1
		get A 1 = a1
		ack A a1
		depth q = 0/1`},
		{Bug{Name: DeadLetterEarly}, "sqs", 2, `
		send a1
		get A 1 = a1
		nack A a1
		get A 1 =
		depth dead = 1/0/0`},
		{Bug{Name: DeadLetterEarly}, "rabbitmq", 2, `
		send a1
		get A 1 = a1
		nack A a1
		depth dead = 1/0`},
		{Bug{Name: DeadLetterLate}, "sqs", 1, `
		send a1
		get A 1 = a1
		nack A a1
		get A 1 = a1(2)`},
		{Bug{Name: DeadLetterLate}, "rabbitmq", 1, `
		send a1
		get A 1 = a1
		nack A a1
		get A 1 = a1*(2)
		nack A a1
		depth dead = 1/0`},
		{Bug{Name: DeadLetterTwice}, "sqs", 1, `
		send a1
		get A 1 = a1
		nack A a1
		get A 1 =
		depth dead = 2/0/0`},
		{Bug{Name: DeadLetterTwice}, "rabbitmq", 1, `
		send a1
		get A 1 = a1
		nack A a1
		depth dead = 2/0`},
		{Bug{Name: DeadLetterLost}, "sqs", 1, `
		send a1
		get A 1 = a1
		nack A a1
		get A 1 =
		depth dead = 0/0/0`},
		{Bug{Name: DeadLetterLost}, "rabbitmq", 1, `
		send a1
		get A 1 = a1
		nack A a1
		depth dead = 0/0`},
		{Bug{Name: DeadLetterDone}, "sqs", 2, `
		send a1
		get A 1 = a1
		ack A a1
		depth dead = 1/0/0`},
		{Bug{Name: DeadLetterDone}, "rabbitmq", 2, `
		send a1
		get A 1 = a1
		ack A a1
		depth dead = 1/0`},
		{Bug{Name: TwoActive, Limit: 1}, "single rabbitmq", 0, `
		send a1
		get A 1 = a1
		open B
		send a2
		get A 1 =
		get B 1 = a2`},
		{Bug{Name: DeliverExpired, Limit: 1}, "ttl rabbitmq", 0, `
		send a1
		at 2s
		get A 1 = a1`},
		{Bug{Name: DeliverExpired, Limit: 1}, "retained sqs", 0, `
		send a1
		at 61s
		get A 1 = a1`},
		{Bug{Name: DeliverExpired, Limit: 1}, "retained sqs-fifo", 0, `
		send a1 a2
		get A 1 = a1
		at 61s
		get A 2 = a1(2)`},
		{Bug{Name: EarlyRedelivery, Limit: 1}, "sqs", 0, `
		send a1
		get A 1 = a1
		at 1s
		get A 1 = a1(2)`},
		{Bug{Name: ExtendIgnored}, "sqs", 0, `
		send a1
		get A 1 = a1
		extend A a1 9s
		at 2s
		get A 1 = a1(2)`},
		{Bug{Name: StaleAccepted}, "sqs-fifo", 0, `
		send a1
		get A 1 = a1
		at 3s
		get B 1 = a1(2)
		ack A a1
		depth q = 0/0/0`},
		{Bug{Name: GroupNotBlocked, Limit: 1}, "sqs-fifo", 0, `
		send a1 a2
		get A 1 = a1
		get B 1 = a2`},
		{Bug{Name: DedupForgotten}, "sqs-fifo", 0, `
		send a1,dedup:x a2,dedup:x
		get A 9 = a1 a2`},
		{Bug{Name: DedupSwallows, IDs: ids("a2")}, "sqs-fifo", 0, `
		send a1 a2 a3
		get A 9 = a1 a3`},
	}
}

func ids(names ...string) (all []msg.ID) {
	for _, name := range names {
		all = append(all, idOf(name))
	}
	return all
}

// complaint takes the failure of a script, which must not go on.
type complaint struct{}

func (complaint) Helper()                 {}
func (c complaint) Fatal(...any)          { panic(c) }
func (c complaint) Fatalf(string, ...any) { panic(c) }

func (r bugRow) run(t tester, opts Options) {
	t.Helper()
	kind, profile, split := strings.Cut(r.profile, " ")
	if !split {
		profile = kind
	}
	p, err := profiles.Named(profile)
	if err != nil {
		t.Fatal(err)
	}
	dead, q := broker.Destination{Name: "dead"}, broker.Destination{Name: "q", MaxDeliveries: r.limit}
	if r.limit > 0 {
		q.DeadLetter = "dead"
	}
	switch kind {
	case "single":
		q.Native = map[string]string{singleActive: "true"}
	case "retained":
		q.Native = map[string]string{messageRetention: "60"}
	case "ttl":
		q.Native = map[string]string{messageTTL: "1000"}
	}
	all := []broker.Destination{dead, q}
	switch p.Model {
	case contract.Log:
		p.Knobs[profiles.ClaimStart] = "0s"
	case contract.LeaseQueue:
		all[1].Lease = 2 * time.Second
	case contract.PushQueue:
		all = append(all, broker.Destination{Name: "x", Kind: broker.Exchange, Bindings: map[string]string{"q": "", "dead": ""}})
	}
	newScriptOf(t, p, opts, all...).run(r.script)
}

// holds tells whether the lines hold.
func (r bugRow) holds(opts Options) (held bool) {
	defer func() {
		if v := recover(); v != nil && v != (complaint{}) {
			panic(v)
		}
	}()
	r.run(complaint{}, opts)
	return true
}

func TestBugs(t *testing.T) {
	for _, r := range bugRows() {
		t.Run(string(r.bug.Name)+"/"+r.profile, func(t *testing.T) {
			r.run(t, Options{Bugs: []Bug{r.bug}})
			if r.holds(Options{}) {
				t.Error("the lines hold without the bug too")
			}
		})
	}
}

// TestEveryBugHasARow for each model that can have it.
func TestEveryBugHasARow(t *testing.T) {
	shown := map[BugName]bool{RetryStored: true, WrongReceipt: true, LeaveGap: true} // below
	for _, r := range bugRows() {
		shown[r.bug.Name] = true
	}
	for _, b := range Bugs() {
		if !shown[b.Name] {
			t.Errorf("no row shows %s: %s", b.Name, b.About)
		}
	}
}

func TestRetryStored(t *testing.T) {
	for _, bugs := range [][]Bug{nil, {{Name: RetryStored}}} {
		p, _ := profiles.Named("kafka")
		s := newScriptOf(t, p, Options{Bugs: bugs}, broker.Destination{Name: "q"})
		idempotent, err := s.m.OpenProducer(0, broker.ProducerSpec{Idempotent: true})
		if err != nil {
			t.Fatal(err)
		}
		for range 2 {
			if receipt, err := s.m.Publish(0, idempotent, 7, s.message("a1")); err != nil || bugs == nil && receipt.Offset != 0 {
				t.Errorf("publish: %+v, %v", receipt, err)
			}
		}
		if got, want := s.depth([]string{"q", "g"}), "0/0/"+strconv.Itoa(1+len(bugs)); got != want {
			t.Errorf("bugs %v: depth %s, want %s", bugs, got, want)
		}
	}
}

func TestWrongReceipt(t *testing.T) {
	s := newScript(t, "kafka", Options{Bugs: []Bug{{Name: WrongReceipt}}}, broker.Destination{Name: "q"})
	s.run("send a1")
	if receipt, err := s.m.Publish(0, s.producer, 1, s.message("a2")); err != nil || receipt.Offset != 0 {
		t.Errorf("publish: %+v, %v; want the offset of the one before", receipt, err)
	}
}

// TestLeaveGap: the first record is stored at 1, the second of its producer behind it, and
// the one of somebody else before both.
func TestLeaveGap(t *testing.T) {
	s := newScript(t, "kafka", Options{Bugs: []Bug{{Name: LeaveGap, Limit: 1}}}, broker.Destination{Name: "q"})
	other, err := s.m.OpenProducer(0, broker.ProducerSpec{})
	if err != nil {
		t.Fatal(err)
	}
	for i, c := range []struct {
		by   Session
		want int64
	}{{s.producer, 1}, {s.producer, 2}, {other, 0}, {other, 3}} {
		receipt, err := s.m.Publish(0, c.by, uint64(i), s.message("a"+strconv.Itoa(i)))
		if err != nil || receipt.Offset != c.want {
			t.Errorf("publish %d: %+v, %v; want offset %d", i, receipt, err, c.want)
		}
	}
}

func TestPlantingRefusesNonsense(t *testing.T) {
	p, _ := profiles.Named("sqs")
	for _, name := range []BugName{"no-such-bug", CommitBack} {
		if _, err := New(p, Options{Bugs: []Bug{{Name: name}}}); err == nil {
			t.Errorf("a lease queue was made with bug %q", name)
		}
	}
}
