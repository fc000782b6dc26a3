// SPDX-License-Identifier: Apache-2.0

package kafka

import (
	"errors"
	"testing"

	"github.com/IBM/sarama"

	"github.com/seed-720a3c77/harness/broker"
	"github.com/seed-720a3c77/harness/contract"
)

func TestTransactionCommitsPositionsToo(t *testing.T) {
	r := newRig(t)
	from, to := r.topic(1, nil), r.topic(1, nil)
	r.load(from, 1, 3)
	p := r.producer(broker.ProducerSpec{TransactionID: r.name + "-tx"})
	next := broker.OffsetCommit{Group: from + "-g", Destination: from, Next: 2}

	r.must(p.Begin(r.ctx), "begin")
	r.must(r.publish(p, r.message(to, 0)).err, "publish")
	r.must(p.Abort(r.ctx), "abort")
	r.must(p.Begin(r.ctx), "begin")
	r.must(r.publish(p, r.message(to, 0)).err, "publish")
	if got := r.committedSum(from, next.Group); got != 0 {
		t.Errorf("position %d before the commit", got)
	}
	open, err := r.Depth(r.ctx, to, "")
	r.must(err, "depth")
	if open.Stable >= open.End {
		t.Errorf("depth %+v with an open transaction, want the stable end before the end", open)
	}
	r.must(p.Commit(r.ctx, next), "commit")
	r.until("the position is committed", func() bool { return r.committedSum(from, next.Group) == 2 })

	c := r.consumer(broker.ConsumerSpec{From: to, Batch: 10})
	r.wantIDs(c.take(1), 1)
	c.none()
	dirty := r.consumer(broker.ConsumerSpec{From: to, Batch: 10, Isolation: "uncommitted"})
	r.wantIDs(dirty.take(2), 0, 1)
}

func TestTransactionRules(t *testing.T) {
	r := newRig(t)
	to := r.topic(1, nil)
	plain := r.producer(broker.ProducerSpec{})
	if err := plain.Begin(r.ctx); !errors.Is(err, broker.ErrUnsupported) {
		t.Errorf("begin without a transaction id: %v", err)
	}
	p := r.producer(broker.ProducerSpec{TransactionID: r.name + "-tx"})
	r.wantClass("publish outside", r.publish(p, r.message(to, 0)).err, contract.Refused, contract.Rejected)
	r.wantClass("commit outside", p.Commit(r.ctx), contract.Closed, contract.Rejected)
}

// A second producer of the same id fences the first.
func TestZombieTransactionIsFenced(t *testing.T) {
	r := newRig(t)
	to := r.topic(1, nil)
	id := r.name + "-tx"
	zombie := r.producer(broker.ProducerSpec{TransactionID: id})
	r.must(zombie.Begin(r.ctx), "begin")
	r.must(r.publish(zombie, r.message(to, 0)).err, "publish")
	live := r.producer(broker.ProducerSpec{TransactionID: id})
	r.must(live.Begin(r.ctx), "begin")
	r.must(r.publish(live, r.message(to, 0)).err, "publish")
	err := zombie.Commit(r.ctx)
	r.wantClass("commit of the zombie", err, contract.Refused, contract.Rejected)
	if !errors.Is(err, broker.ErrStale) {
		t.Errorf("commit of the zombie: %v, want ErrStale", err)
	}
	r.must(live.Commit(r.ctx), "commit of the live one")
	c := r.consumer(broker.ConsumerSpec{From: to, Batch: 10})
	r.wantIDs(c.take(1), 1)
	c.none()
}

func TestTransactionErrors(t *testing.T) {
	for _, c := range []struct {
		err   error
		class contract.Class
		stale bool
	}{
		{sarama.ErrInvalidProducerEpoch, contract.Rejected, true},
		{sarama.ErrProducerFenced, contract.Rejected, true},
		{sarama.ErrInvalidTxnState, contract.Rejected, false},
		{sarama.ErrTransitionNotAllowed, contract.Rejected, false},
		{sarama.ErrRequestTimedOut, contract.Unknown, false},
		{errors.New("?"), contract.Unknown, false},
	} {
		_, class := broker.Classify(transactionError("commit", c.err), contract.OK)
		if stale := errors.Is(transactionError("commit", c.err), broker.ErrStale); class != c.class || stale != c.stale {
			t.Errorf("%v: %v, stale %t; want %v, %t", c.err, class, stale, c.class, c.stale)
		}
	}
}
