// SPDX-License-Identifier: Apache-2.0

package brokertest

import (
	"errors"

	"github.com/seed-720a3c77/harness/broker"
	"github.com/seed-720a3c77/harness/contract"
	"github.com/seed-720a3c77/harness/msg"
)

// transactions: what was committed is read, what was aborted is not. On a log, positions are
// part of it, nothing is read past one that is open, and a newer producer fences an older.
func transactions(p *probe) {
	to := p.declare(broker.Destination{})
	s := p.transactional(p.name("tx"))
	p.must(s.Begin(p.ctx), "begin")
	aborted := idsOf(s.send(to, 2))
	p.must(s.Abort(p.ctx), "abort")
	p.must(s.Begin(p.ctx), "begin")
	want := idsOf(s.send(to, 2))
	p.must(s.Commit(p.ctx), "commit")
	r := p.receiver(to)
	p.wantIDs("committed", r.take(2), want)
	r.none(quiet)
	if p.profile.Model != contract.Log {
		return
	}
	p.wantIDs("uncommitted", p.dirty(to).take(4), append(aborted, want...))
	p.openTransaction()
	p.positionsInTransaction()
	p.fencedTransaction()
}

func (p *probe) transactional(id string) *sender {
	p.r.Helper()
	spec := p.producerSpec()
	spec.TransactionID = id
	return p.senderWith(spec)
}

// dirty reads what is not committed too.
func (p *probe) dirty(to string) *receiver {
	p.r.Helper()
	spec := p.consumerSpec(to)
	spec.Group, spec.Isolation = to+"-dirty", "uncommitted"
	return p.receiverWith(spec)
}

// openTransaction: a record that is committed waits for the transactions before it.
func (p *probe) openTransaction() {
	to := p.declare(broker.Destination{})
	s := p.transactional(p.name("tx"))
	r := p.receiver(to)
	p.must(s.Begin(p.ctx), "begin")
	want := idsOf(s.send(to, 1))
	want = append(want, idsOf(p.sender().send(to, 1))...)
	r.none(quiet)
	if d := p.depth(to, ""); d.Stable >= d.End {
		p.errorf("stable end %d of %d, with an open transaction", d.Stable, d.End)
	}
	p.wantIDs("uncommitted", p.dirty(to).take(2), want)
	p.must(s.Commit(p.ctx), "commit")
	p.wantIDs("after the commit", r.take(2), want)
	if d := p.depth(to, ""); d.Stable != d.End {
		p.errorf("stable end %d of %d, without an open transaction", d.Stable, d.End)
	}
}

// positionsInTransaction: positions of a group are committed with the records, or not at all.
func (p *probe) positionsInTransaction() {
	from, to := p.declare(broker.Destination{}), p.declare(broker.Destination{})
	p.sender().send(from, 2)
	group := from + "-g"
	committed := func() int64 { d := p.depth(from, group); return d.Committed - d.Start }
	s := p.transactional(p.name("tx"))
	p.must(s.Begin(p.ctx), "begin")
	s.send(to, 1)
	p.must(s.Abort(p.ctx), "abort")
	p.must(s.Begin(p.ctx), "begin")
	s.send(to, 1)
	if got := committed(); got != 0 {
		p.errorf("position %d of a group before the commit, want 0", got)
	}
	p.must(s.Commit(p.ctx, broker.OffsetCommit{Group: group, Destination: from, Next: 2}), "commit")
	p.until("the position is committed", func() bool { return committed() == 2 })
}

// fencedTransaction: a newer producer of a transactional id aborts what the older one left open,
// and the older one can end it no more.
func (p *probe) fencedTransaction() {
	to, id := p.declare(broker.Destination{}), p.name("tx")
	zombie := p.transactional(id)
	p.must(zombie.Begin(p.ctx), "begin")
	zombie.send(to, 1)
	live := p.transactional(id)
	p.must(live.Begin(p.ctx), "begin")
	m := live.next(to, "k")
	live.sent(m)
	err := zombie.Commit(p.ctx)
	if _, class := broker.Classify(err, contract.OK); !errors.Is(err, broker.ErrStale) || class != contract.Rejected {
		p.errorf("commit of a fenced producer: %v, want it refused as stale", err)
	}
	if got := zombie.one(zombie.next(to, "k")); got.err == nil {
		p.errorf("a record of a fenced producer was stored")
	}
	p.must(live.Commit(p.ctx), "commit")
	r := p.receiver(to)
	p.wantIDs("of the newer producer", r.take(1), []msg.ID{m.ID})
	r.none(quiet)
}
