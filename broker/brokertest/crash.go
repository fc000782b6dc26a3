// SPDX-License-Identifier: Apache-2.0

package brokertest

import (
	"errors"
	"time"

	"github.com/seed-720a3c77/harness/broker"
	"github.com/seed-720a3c77/harness/contract"
	"github.com/seed-720a3c77/harness/msg"
)

// shortLived is a destination whose unsettled messages come back soon.
func (p *probe) shortLived() string {
	p.r.Helper()
	if p.profile.Model == contract.LeaseQueue {
		return p.declare(broker.Destination{Lease: p.shortLease()})
	}
	return p.declare(broker.Destination{})
}

// comeBack is how long after a crash the unsettled must be with somebody else.
func (p *probe) comeBack() time.Duration {
	if p.profile.Model == contract.LeaseQueue {
		return p.shortLease() + p.late()
	}
	return p.patience()
}

func doneStaysDone(p *probe) {
	to := p.shortLived()
	p.sender().send(to, 5)
	r := p.receiver(to)
	r.done(r.take(5)...)
	p.must(r.Close(p.ctx), "close")
	if p.profile.Model == contract.LeaseQueue {
		p.pause(p.shortLease() + p.profile.Lease.Tick + p.profile.Tolerance)
	}
	p.receiver(to).none(quiet)
}

func unsettledComeBack(p *probe) {
	to := p.shortLived()
	want := idsOf(p.sender().send(to, 8))
	dead := p.receiver(to)
	got := dead.take(8)
	dead.done(got[:3]...)
	p.travel()
	dead.Abandon()
	next := p.receiver(to)
	again := next.takeWithin(5, p.comeBack())
	p.wantSet("after a crash", again, unsettled(want, got[:3]))
	next.none(quiet)
	next.done(again...)
}

func unsettled(all []msg.ID, done []broker.Delivery) (left []msg.ID) {
	gone := map[msg.ID]bool{}
	for _, d := range done {
		gone[d.ID] = true
	}
	for _, id := range all {
		if !gone[id] {
			left = append(left, id)
		}
	}
	return left
}

// travel gives settles that have no answer time to reach the broker: what is cut after
// them may overtake them.
func (p *probe) travel() {
	p.r.Helper()
	if p.profile.Settle == contract.AcceptedOnly {
		p.pause(quiet)
	}
}

// staleToken: somebody settles with a token that is no longer theirs.
func staleToken(p *probe) {
	switch {
	case p.profile.Model == contract.LeaseQueue:
		staleHandle(p)
	case p.profile.Stale == contract.StaleCloses:
		staleTag(p)
	case p.can(contract.OffsetCommit):
		staleCommit(p)
	}
}

// staleCommit: a commit in the name of a dead member, after another took over.
func staleCommit(p *probe) {
	to := p.declare(broker.Destination{})
	p.sender().send(to, 3)
	dead := p.receiver(to)
	old := dead.take(3)[2]
	dead.Abandon()
	live := p.receiver(to)
	live.take(3)
	err := live.settle(broker.Settlement{Verb: broker.Commit, Token: old.Token})[0]
	if refused := errors.Is(err, broker.ErrStale); refused != (p.profile.Stale == contract.StaleRefused) {
		p.errorf("commit of a dead member: %v; the profile says %q", err, p.profile.Stale)
	}
	d := p.depth(to, to+"-g")
	if moved := d.Committed > d.Start; moved != (p.profile.Stale == contract.StaleApplies) {
		p.errorf("after the commit of a dead member the position is %d; the profile says %q", d.Committed, p.profile.Stale)
	}
}

func staleHandle(p *probe) {
	to := p.shortLived()
	p.sender().send(to, 1)
	first, second := p.receiver(to), p.receiver(to)
	old := first.take(1)[0]
	second.takeWithin(1, p.comeBack())
	err := first.settle(broker.Settlement{Verb: broker.Ack, Token: old.Token})[0]
	if refused := err != nil; refused != (p.profile.Stale == contract.StaleRefused) {
		p.errorf("ack with a stale handle: %v; the profile says %q", err, p.profile.Stale)
	}
	if p.profile.Stale == contract.StaleApplies {
		p.pause(p.shortLease() + p.profile.Lease.Tick + p.profile.Tolerance)
		second.none(quiet)
		return
	}
	back := second.takeWithin(1, p.comeBack())
	p.wantIDs("after a stale ack that changes nothing", back, []msg.ID{old.ID})
}

// staleTag: the tag of a dead channel on a live one closes it, and all that it held comes back.
func staleTag(p *probe) {
	to := p.declare(broker.Destination{})
	want := idsOf(p.sender().send(to, 3))
	dead := p.receiver(to)
	old := dead.take(3)[2]
	dead.Abandon()
	live := p.receiverOf(to, 1)
	live.take(1)
	live.settle(broker.Settlement{Verb: broker.Ack, Token: old.Token})
	p.until("the stale tag closes the channel", func() bool {
		_, err := live.Receive(p.ctx, make([]broker.Delivery, 1), poll)
		return err != nil
	})
	p.wantSet("after the channel was closed", p.receiver(to).take(3), want)
}

func nothingAfterAbandon(p *probe) {
	to := p.declare(broker.Destination{})
	s := p.sender()
	s.send(to, 1)
	r := p.receiver(to)
	d := r.take(1)[0]
	r.Abandon()
	if _, err := r.Receive(p.ctx, make([]broker.Delivery, 1), poll); !errors.Is(err, broker.ErrClosed) {
		p.errorf("receive after abandon: %v, want ErrClosed", err)
	}
	if err := r.settle(broker.Settlement{Verb: p.doneVerb(), Token: d.Token})[0]; !errors.Is(err, broker.ErrClosed) {
		p.errorf("settle after abandon: %v, want ErrClosed", err)
	}
	s.Abandon()
	if err := s.try(s.next(to, "k")); !errors.Is(err, broker.ErrClosed) {
		p.errorf("publish after abandon: %v, want ErrClosed", err)
	}
}
