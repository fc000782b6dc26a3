// SPDX-License-Identifier: Apache-2.0

package kafka

import (
	"errors"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/seed-720a3c77/harness/broker"
	"github.com/seed-720a3c77/harness/contract"
)

// A member that vanished is still counted by the broker; its work comes back, from the
// last commit on, when its session has ended. A member that leaves is gone at once.
func TestAbandonIsNotALeave(t *testing.T) {
	r := newRig(t)
	to := r.topic(1, nil)
	r.load(to, 1, 6)
	const session = 3 * time.Second
	dead := r.join(broker.ConsumerSpec{From: to, Session: session})
	r.must(dead.settle(broker.Commit, dead.take(6)[1]), "commit")
	abandoned := time.Now()
	dead.Abandon()
	n := r.members(to + "-g")
	if inTime := time.Since(abandoned) < session/2; n != 1 && inTime {
		t.Errorf("%d members after an abandon, want the dead one still counted", n)
	}
	next := r.join(broker.ConsumerSpec{From: to, Name: "next"})
	r.wantOffsets("from the last commit", next.take(4), 2, 3, 4, 5)
	if n = r.members(to + "-g"); n != 1 {
		t.Errorf("%d members after the take-over, want 1", n)
	}
	r.must(next.Close(r.ctx), "close")
	if n = r.members(to + "-g"); n != 0 {
		t.Errorf("%d members after a close, want none", n)
	}
	if n := len(dead.heard(broker.SessionClose)) + len(dead.heard(broker.Revoked)); n != 0 {
		t.Errorf("an abandoned member heard %d notices of its end", n)
	}
}

// What a member received before a rebalance it can no longer commit.
func TestCommitIsFencedByARebalance(t *testing.T) {
	r := newRig(t)
	to := r.topic(1, nil)
	r.load(to, 1, 3)
	first := r.join(broker.ConsumerSpec{From: to})
	old := first.take(3)
	second := r.consumer(broker.ConsumerSpec{Name: "second", From: to, Group: to + "-g", Batch: 10})
	r.until("a new generation", func() bool { return len(first.heard(broker.SessionOpen))+len(second.heard(broker.SessionOpen)) >= 3 })
	err := first.settle(broker.Commit, old[2])
	r.wantClass("commit of an older generation", err, contract.Refused, contract.Rejected)
	if !errors.Is(err, broker.ErrStale) {
		t.Errorf("commit of an older generation: %v, want ErrStale", err)
	}
	if got := r.committedSum(to, to+"-g"); got != 0 {
		t.Errorf("a fenced commit moved the position to %d", got)
	}
}

// The token of a member that is gone is passed through, whoever settles it.
func TestCommitOfADeadMember(t *testing.T) {
	r := newRig(t)
	to := r.topic(1, nil)
	r.load(to, 1, 2)
	dead := r.join(broker.ConsumerSpec{From: to, Session: 5 * time.Second})
	old := dead.take(2)
	dead.Abandon()
	r.wantClass("commit through the dead", dead.settle(broker.Commit, old[0]), contract.Closed, contract.Rejected)
	live := r.join(broker.ConsumerSpec{From: to, Name: "live"})
	err := live.settle(broker.Commit, old[1])
	r.wantClass("commit of a dead member", err, contract.Refused, contract.Rejected)
	if !errors.Is(err, broker.ErrStale) || !strings.Contains(err.Error(), "KError 25") {
		t.Errorf("commit of a dead member: %v, want ErrStale by KError 25", err)
	}
	r.must(live.settle(broker.Commit, live.take(2)[0]), "commit of the live one")
}

// A caller that receives nothing does not hold up a rebalance, and what it had buffered
// of a partition that moved is not handed out.
func TestSlowCallerDoesNotHoldUpARebalance(t *testing.T) {
	for _, strategy := range []string{"range", "roundrobin", "sticky", "cooperative-sticky"} {
		t.Run(strategy, func(t *testing.T) {
			r := newRig(t)
			to := r.topic(2, nil)
			r.load(to, 2, 20)
			slow := r.join(broker.ConsumerSpec{From: to, Batch: 1, Strategy: strategy})
			r.until("both partitions", func() bool { return len(slow.holds()) == 2 })
			slow.take(1)
			other := r.join(broker.ConsumerSpec{Name: "other", From: to, Batch: 10, Strategy: strategy})
			r.until("one partition each", func() bool {
				all := slices.Concat(slow.holds(), other.holds())
				slices.Sort(all)
				return slices.Equal(all, []int32{0, 1})
			})
			kept := slow.holds()[0]
			for _, d := range slow.take(5) {
				if d.Token.Partition != kept {
					t.Errorf("handed out %d of partition %d after it moved", d.Token.Offset, d.Token.Partition)
				}
			}
			if got := offsetsOf(other.take(20)); got[0] != 0 || len(got) != 20 {
				t.Errorf("the new owner read %v", got)
			}
		})
	}
}

// A cooperative member keeps committing what it kept, over generations.
func TestCooperativeCommitOverGenerations(t *testing.T) {
	const strategy = "cooperative-sticky"
	r := newRig(t)
	to := r.topic(2, nil)
	r.load(to, 2, 3)
	first := r.join(broker.ConsumerSpec{From: to, Strategy: strategy, AutoCommit: time.Hour})
	old := first.take(6)
	second := r.join(broker.ConsumerSpec{Name: "second", From: to, Strategy: strategy, AutoCommit: time.Hour})
	r.until("one partition each", func() bool { return len(first.holds()) == 1 && len(second.holds()) == 1 })
	kept := first.holds()[0]
	for _, d := range old {
		commit, mark := first.settle(broker.Commit, d), first.settle(broker.Mark, d)
		if d.Token.Partition == kept {
			r.must(commit, "commit of the partition that was kept")
			r.wantClass("mark of the partition that was kept", mark, contract.None, contract.AcceptedOnly)
			continue
		}
		if !errors.Is(commit, broker.ErrStale) || !errors.Is(mark, broker.ErrStale) {
			t.Errorf("partition %d that moved: commit %v, mark %v; want both stale", d.Token.Partition, commit, mark)
		}
	}
	if n := len(first.heard(broker.Assigned)); n != 2 {
		t.Errorf("assigned %d times, want 2: what is kept is not assigned again", n)
	}
}

// A static member that comes back inside its session finds its partitions where they were.
func TestStaticMemberComesBack(t *testing.T) {
	r := newRig(t)
	to := r.topic(2, nil)
	spec := broker.ConsumerSpec{From: to, StaticID: "s1", Session: 20 * time.Second}
	first := r.join(spec)
	r.until("both partitions", func() bool { return len(first.holds()) == 2 })
	generation := first.heard(broker.SessionOpen)[0].Generation
	first.Abandon()
	spec.Name = "again"
	again := r.join(spec)
	r.until("both partitions", func() bool { return len(again.holds()) == 2 })
	if got := again.heard(broker.SessionOpen)[0].Generation; got != generation {
		t.Errorf("generation %d after the return, want %d: no rebalance", got, generation)
	}
	r.load(to, 2, 1)
	r.must(again.settle(broker.Commit, again.take(2)[0]), "commit of the static member")
}

// Two lives of one static member: the older is fenced and says so.
func TestStaticMemberIsFenced(t *testing.T) {
	r := newRig(t)
	to := r.topic(1, nil)
	spec := broker.ConsumerSpec{From: to, StaticID: "s1"}
	older := r.join(spec)
	spec.Name = "newer"
	r.join(spec)
	r.until("the older fails", func() bool {
		_, err := older.Receive(r.ctx, make([]broker.Delivery, 1), 50*time.Millisecond)
		return err != nil && !errors.Is(err, broker.ErrClosed)
	})
	if lost := older.heard(broker.Lost); len(lost) != 1 {
		t.Errorf("lost %+v, want one partition", lost)
	}
}

// A session that the broker will not have ends the consumer with a clear error.
func TestHopelessJoinIsAnError(t *testing.T) {
	r := newRig(t)
	to := r.topic(1, nil)
	r.minSession = 0 // as if the broker had told none
	m := r.consumer(broker.ConsumerSpec{From: to, Group: to + "-g", Session: 10 * time.Millisecond})
	var err error
	r.until("the consumer fails", func() bool {
		_, err = m.Receive(r.ctx, make([]broker.Delivery, 1), 50*time.Millisecond)
		return err != nil
	})
	if own := (*broker.Error)(nil); !errors.As(err, &own) || own.Code != "KError 26" {
		t.Errorf("receive: %v, want KError 26", err)
	}
}

// A member whose connections break finds its way back, and misses nothing.
func TestMemberSurvivesABrokenLink(t *testing.T) {
	r := newRig(t)
	to := r.topic(2, nil)
	r.load(to, 2, 2)
	l := &link{}
	r.config.Dial = l.dial
	m := r.join(broker.ConsumerSpec{From: to})
	r.must(m.settle(broker.Commit, m.take(4)[3]), "commit")
	l.cut()
	r.load(to, 2, 2)
	seen := map[[2]int64]bool{}
	r.until("everything behind the cut was read", func() bool {
		for _, d := range m.some() {
			seen[[2]int64{int64(d.Token.Partition), d.Token.Offset}] = true
		}
		return seen[[2]int64{0, 3}] && seen[[2]int64{1, 3}] && seen[[2]int64{0, 2}] && seen[[2]int64{1, 2}]
	})
}

// An abandon from inside a notice is allowed.
func TestAbandonInANotice(t *testing.T) {
	r := newRig(t)
	to := r.topic(1, nil)
	consumers := make(chan broker.Consumer, 1)
	abandoned := make(chan struct{})
	c, err := r.Consumer(r.ctx, broker.ConsumerSpec{Name: "c", From: to, Group: to + "-g", Notify: func(n broker.Notice) {
		if n.Kind == broker.Assigned {
			(<-consumers).Abandon()
			close(abandoned)
		}
	}})
	r.must(err, "consumer")
	consumers <- c
	select {
	case <-abandoned:
	case <-time.After(patience):
		t.Fatal("the abandon hangs")
	}
	<-c.(*consumer).ended
}

// Nothing runs on after a close or an abandon.
func TestNothingIsLeftBehind(t *testing.T) {
	outside := newRig(t)
	to := outside.topic(2, nil)
	outside.load(to, 2, 50)
	before := clientGoroutines()
	r := newRig(t)
	p := r.producer(broker.ProducerSpec{Linger: 2 * time.Second})
	for range 5 {
		r.must(p.Publish(r.ctx, r.message(to, 0), func(broker.Receipt, error) {}), "publish")
	}
	closed := r.join(broker.ConsumerSpec{From: to, Batch: 1, AutoCommit: 100 * time.Millisecond})
	vanished := r.join(broker.ConsumerSpec{From: to, Group: to + "-v", Batch: 1, AutoCommit: 100 * time.Millisecond})
	audit := r.consumer(broker.ConsumerSpec{From: to, Batch: 1})
	for _, m := range []*member{closed, vanished, audit} {
		m.settle(broker.Mark, m.take(1)[0])
	}
	r.must(vanished.Seek(r.ctx, 0, 3), "seek")
	p.Abandon()
	vanished.Abandon()
	audit.Abandon()
	r.must(closed.Close(r.ctx), "close")
	r.must(r.Close(r.ctx), "close the engine")
	left := clientGoroutines()
	for end := time.Now().Add(patience); len(left) > len(before) && time.Now().Before(end); left = clientGoroutines() {
		time.Sleep(20 * time.Millisecond)
	}
	if len(left) > len(before) {
		t.Errorf("%d goroutines more than before:\n%s", len(left)-len(before), strings.Join(left, "\n\n"))
	}
}

// clientGoroutines are what this package and its client run.
func clientGoroutines() (all []string) {
	stacks := make([]byte, 1<<20)
	stacks = stacks[:runtime.Stack(stacks, true)]
	for one := range strings.SplitSeq(string(stacks), "\n\n") {
		if strings.Contains(one, "sarama.") || strings.Contains(one, "adapters/kafka.(") {
			all = append(all, one)
		}
	}
	return all
}
