// SPDX-License-Identifier: Apache-2.0

package kafka

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/IBM/sarama"

	"github.com/seed-720a3c77/harness/broker"
	"github.com/seed-720a3c77/harness/contract"
)

func TestAuditReadsEverythingAndCommitsNothing(t *testing.T) {
	r := newRig(t)
	to := r.topic(3, nil)
	r.load(to, 3, 4)
	c := r.consumer(broker.ConsumerSpec{From: to, Batch: 5})
	seen := map[int32][]int64{}
	var last broker.Delivery
	for _, d := range c.take(12) {
		if d.Token.Generation != noGeneration || d.Token.Member != "" || d.Source != to {
			t.Errorf("token of a reader without a group: %+v", d.Token)
		}
		seen[d.Token.Partition] = append(seen[d.Token.Partition], d.Token.Offset)
		last = d
	}
	for partition := range int32(3) {
		if !slices.Equal(seen[partition], []int64{0, 1, 2, 3}) {
			t.Errorf("partition %d: offsets %v", partition, seen[partition])
		}
	}
	c.none()
	err := c.settle(broker.Commit, last)
	r.wantClass("commit without a group", err, contract.Refused, contract.Rejected)
	if !errors.Is(err, broker.ErrUnsupported) {
		t.Errorf("commit without a group: %v", err)
	}
}

func TestAuditFromTheEnd(t *testing.T) {
	r := newRig(t)
	to := r.topic(1, nil)
	r.load(to, 1, 2)
	c := r.consumer(broker.ConsumerSpec{From: to, Batch: 5, Start: broker.Latest})
	r.load(to, 1, 1)
	r.wantOffsets("after the end", c.take(1), 2)
	r.must(c.Seek(r.ctx, 0, 0), "seek")
	r.wantOffsets("after a seek", c.take(3), 0, 1, 2)
}

func TestAssignedSaysWhereAndWhy(t *testing.T) {
	r := newRig(t)
	to := r.topic(1, nil)
	r.load(to, 1, 5)
	wantStart := func(m *member, offset int64, why string) {
		t.Helper()
		if n := m.heard(broker.Assigned)[0]; n.Offset != offset || n.Text != why || n.Partition != 0 || n.Generation < 1 {
			t.Errorf("assigned %+v, want offset %d, %q", n, offset, why)
		}
	}
	first := r.join(broker.ConsumerSpec{From: to})
	wantStart(first, 0, "earliest")
	r.must(first.settle(broker.Commit, first.take(3)[1]), "commit")
	r.must(first.Close(r.ctx), "close")
	second := r.join(broker.ConsumerSpec{From: to})
	wantStart(second, 2, "committed")
	r.wantOffsets("from the committed position", second.take(3), 2, 3, 4)
	r.must(second.Close(r.ctx), "close")
	late := r.join(broker.ConsumerSpec{From: to, Group: to + "-late", Start: broker.Latest})
	wantStart(late, 5, "latest")
	r.must(r.Purge(r.ctx, to), "purge")
	r.load(to, 1, 1)
	third := r.join(broker.ConsumerSpec{From: to})
	wantStart(third, 5, "earliest, as the committed 2 is out of range")
	r.wantOffsets("after the purge", third.take(1), 5)
	r.wantOffsets("read from the end", late.take(1), 5)
}

func TestSessionsAreTold(t *testing.T) {
	r := newRig(t)
	to := r.topic(1, nil)
	m := r.join(broker.ConsumerSpec{From: to})
	r.must(m.Close(r.ctx), "close")
	opened, closed := m.heard(broker.SessionOpen), m.heard(broker.SessionClose)
	if len(opened) != 1 || len(closed) != 1 || opened[0].Generation != closed[0].Generation || opened[0].Text == "" {
		t.Errorf("opened %+v, closed %+v", opened, closed)
	}
	if revoked := m.heard(broker.Revoked); len(revoked) != 1 || len(m.holds()) != 0 || revoked[0].Text != "left the group" {
		t.Errorf("revoked %+v", revoked)
	}
}

// Commits in one call have one result each; a position never moves back.
func TestCommitsInOneCall(t *testing.T) {
	r := newRig(t)
	to := r.topic(2, nil)
	r.load(to, 2, 3)
	m := r.join(broker.ConsumerSpec{From: to})
	all := map[int32][]broker.Delivery{}
	for _, d := range m.take(6) {
		all[d.Token.Partition] = append(all[d.Token.Partition], d)
	}
	commit := func(d broker.Delivery) broker.Settlement {
		return broker.Settlement{Verb: broker.Commit, Token: d.Token}
	}
	results := make([]error, 4)
	m.Settle(r.ctx, []broker.Settlement{commit(all[0][2]), commit(all[1][0]), {Verb: broker.Ack, Token: all[1][1].Token}, commit(all[0][0])}, results)
	for i, want := range []contract.Class{contract.OK, contract.OK, contract.Rejected, contract.OK} {
		if _, class := broker.Classify(results[i], contract.OK); class != want {
			t.Errorf("entry %d: %v, want %v", i, results[i], want)
		}
	}
	if got := r.committedSum(to, to+"-g"); got != 3+1 {
		t.Errorf("positions sum up to %d, want 3 and 1", got)
	}
}

func TestAutoCommitFlushesAtClose(t *testing.T) {
	r := newRig(t)
	to := r.topic(1, nil)
	r.load(to, 1, 4)
	m := r.join(broker.ConsumerSpec{From: to, AutoCommit: time.Hour})
	all := m.take(4)
	r.wantClass("mark", m.settle(broker.Mark, all[2]), contract.None, contract.AcceptedOnly)
	if got := r.committedSum(to, to+"-g"); got != 0 {
		t.Errorf("committed %d before the interval", got)
	}
	r.must(m.Close(r.ctx), "close")
	if got := r.committedSum(to, to+"-g"); got != 3 {
		t.Errorf("committed %d at the close, want 3", got)
	}
}

func TestMarkWithoutAutoCommitIsRefused(t *testing.T) {
	r := newRig(t)
	to := r.topic(1, nil)
	r.load(to, 1, 1)
	m := r.join(broker.ConsumerSpec{From: to})
	if err := m.settle(broker.Mark, m.take(1)[0]); !errors.Is(err, broker.ErrUnsupported) {
		t.Errorf("mark without auto-commit: %v", err)
	}
}

func TestSeekBothWays(t *testing.T) {
	r := newRig(t)
	to := r.topic(2, nil)
	r.load(to, 1, 10)
	m := r.join(broker.ConsumerSpec{From: to, Batch: 3})
	r.wantOffsets("first", m.take(3), 0, 1, 2)
	r.must(m.Seek(r.ctx, 0, 7), "seek forward")
	all := m.take(3)
	r.wantOffsets("forward", all, 7, 8, 9)
	r.must(m.settle(broker.Commit, all[2]), "commit")
	r.must(m.Seek(r.ctx, 0, 4), "seek back")
	all = m.take(2)
	r.wantOffsets("back", all, 4, 5)
	r.must(m.settle(broker.Commit, all[0]), "commit after a seek back")
	if got := r.committedSum(to, to+"-g"); got != 5 {
		t.Errorf("committed %d after a seek back, want 5", got)
	}
	if err := m.Seek(r.ctx, 0, 11); !errors.Is(err, sarama.ErrOffsetOutOfRange) || !strings.Contains(err.Error(), "from 0 to 10") {
		t.Errorf("seek past the end: %v", err)
	}
	r.wantOffsets("after a refused seek", m.take(4), 6, 7, 8, 9)
	if err := m.Seek(r.ctx, 9, 0); !errors.Is(err, broker.ErrNotFound) && !errors.Is(err, broker.ErrStale) {
		t.Errorf("seek a partition that there is not: %v", err)
	}
	if n := len(m.heard(broker.SessionOpen)); n != 1 {
		t.Errorf("%d sessions, want 1: a seek causes no rebalance", n)
	}
	r.load(to, 2, 1)
	if got := len(m.take(2)); got != 2 {
		t.Errorf("%d records of both partitions after the seeks", got)
	}
}

func TestSeekCountsForTheAutomaticCommit(t *testing.T) {
	r := newRig(t)
	to := r.topic(1, nil)
	r.load(to, 1, 6)
	m := r.join(broker.ConsumerSpec{From: to, AutoCommit: time.Hour})
	all := m.take(6)
	m.settle(broker.Mark, all[5])
	r.must(m.Seek(r.ctx, 0, 1), "seek")
	m.settle(broker.Mark, m.take(1)[0])
	r.must(m.Close(r.ctx), "close")
	if got := r.committedSum(to, to+"-g"); got != 2 {
		t.Errorf("committed %d, want 2: the mark after the seek", got)
	}
}

func TestPauseHoldsThroughSeek(t *testing.T) {
	r := newRig(t)
	to := r.topic(1, nil)
	r.load(to, 1, 3)
	m := r.join(broker.ConsumerSpec{From: to})
	m.take(3)
	r.must(m.Pause(r.ctx), "pause")
	r.must(m.Seek(r.ctx, 0, 1), "seek")
	m.none()
	r.must(m.Resume(r.ctx), "resume")
	r.wantOffsets("after the resume", m.take(2), 1, 2)
}

func TestReceiveIsBoundedByBatch(t *testing.T) {
	r := newRig(t)
	to := r.topic(1, nil)
	r.load(to, 1, 6)
	m := r.join(broker.ConsumerSpec{From: to, Batch: 2, Prefetch: 6})
	r.until("everything is buffered", func() bool { return len(m.Consumer.(*consumer).buffer) == 6 })
	n, err := m.Receive(r.ctx, make([]broker.Delivery, 10), time.Second)
	if n != 2 || err != nil {
		t.Errorf("received %d, %v; want the batch of 2", n, err)
	}
	if n, err = m.Receive(r.ctx, nil, time.Second); n != 0 || err != nil {
		t.Errorf("received %d, %v into no room", n, err)
	}
}

func TestReceiveObeysItsContext(t *testing.T) {
	r := newRig(t)
	c := r.consumer(broker.ConsumerSpec{From: r.topic(1, nil)})
	ctx, cancel := context.WithTimeout(r.ctx, 20*time.Millisecond)
	defer cancel()
	if _, err := c.Receive(ctx, make([]broker.Delivery, 1), time.Hour); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("receive: %v, want the deadline", err)
	}
}

func TestCommitWithoutAnAnswerIsUnknown(t *testing.T) {
	l := &link{}
	r := newRig(t)
	to := r.topic(1, nil)
	r.load(to, 1, 2)
	r.config.Dial = l.dial
	m := r.join(broker.ConsumerSpec{From: to, Session: 20 * time.Second})
	d := m.take(2)[1]
	l.mute.Store(true)
	ctx, cancel := context.WithTimeout(r.ctx, 300*time.Millisecond)
	defer cancel()
	results := make([]error, 1)
	m.Settle(ctx, []broker.Settlement{{Verb: broker.Commit, Token: d.Token}}, results)
	r.wantClass("commit on a silent link", results[0], contract.Timeout, contract.Unknown)
}
