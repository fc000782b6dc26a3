// SPDX-License-Identifier: Apache-2.0

package brokertest

import (
	"time"

	"github.com/seed-720a3c77/harness/broker"
	"github.com/seed-720a3c77/harness/contract"
	"github.com/seed-720a3c77/harness/msg"
)

// acks: an ack settles its own message and no other.
func acks(p *probe) {
	to := p.shortLived()
	want := idsOf(p.sender().send(to, 3))
	r := p.receiver(to)
	got := r.take(3)
	r.settled(broker.Ack, 0, got[1])
	p.travel()
	r.Abandon()
	p.wantSet("all but the acked one", p.receiver(to).takeWithin(2, p.comeBack()), unsettled(want, got[1:2]))
}

// requeue: the message comes back at once, where the profile says.
func requeue(p *probe) {
	to := p.declare(broker.Destination{})
	want := idsOf(p.sender().send(to, 3))
	r := p.receiverOf(to, 1)
	first := r.take(1)
	r.settled(broker.Requeue, 0, first...)
	var again []broker.Delivery
	for range want {
		next := r.take(1)
		r.done(next...)
		again = append(again, next...)
	}
	r.none(quiet)
	place := p.profile.Requeue
	if p.profile.Order == contract.OrderNone {
		place = contract.PlaceNone
	}
	switch place {
	case contract.PlaceHead, contract.PlaceOriginal:
		p.wantIDs("requeued in front", again, want)
	case contract.PlaceTail:
		p.wantIDs("requeued at the end", again, []msg.ID{want[1], want[2], want[0]})
	default:
		p.wantSet("requeued", again, want)
	}
}

// requeueDelay: the message comes back after the delay and not before.
func requeueDelay(p *probe) {
	wait := p.profile.Lease.Fit(2 * time.Second)
	to := p.declare(broker.Destination{})
	p.sender().send(to, 1)
	r := p.receiver(to)
	held := r.take(1)
	start := p.Now()
	r.settled(broker.Requeue, wait, held...)
	p.notBefore("requeued with a delay", start, wait, p.late(), r)
}

// notBefore takes one message and wants it later than from plus wait, and not too late.
func (p *probe) notBefore(what string, from, wait, late time.Duration, r *receiver) broker.Delivery {
	p.r.Helper()
	d := r.takeWithin(1, wait+late)[0]
	took := p.Now() - from
	if took < wait {
		p.errorf("%s: %v came %v after, not before %v is wanted", what, d.ID, took, wait)
	}
	if took > wait+late {
		p.errorf("%s: %v came %v after, wanted within %v", what, d.ID, took, wait+late)
	}
	return d
}

// ackMultiple settles everything of the channel up to a tag, and nothing after it.
func ackMultiple(p *probe) {
	to := p.declare(broker.Destination{})
	want := idsOf(p.sender().send(to, 5))
	r := p.receiver(to)
	got := r.take(5)
	err := r.settle(broker.Settlement{Verb: broker.Ack, Token: got[2].Token, Multiple: true})[0]
	if _, class := broker.Classify(err, p.profile.Settle); class != contract.OK && class != contract.AcceptedOnly {
		p.fatalf("ack multiple: %v", err)
	}
	p.travel()
	r.Abandon()
	next := p.receiver(to)
	p.wantSet("after the tag", next.take(2), want[3:])
	next.none(quiet)
}

// lease: nobody else gets a held message before its deadline, somebody does after it.
func lease(p *probe) {
	hold := p.shortLease()
	to := p.declare(broker.Destination{Lease: hold})
	p.sender().send(to, 1)
	holder := p.receiver(to)
	other := p.receiver(to)
	first, from := p.timed(holder)
	if p.profile.Model == contract.LeaseQueue && first.Lease != hold {
		p.errorf("the delivery says its lease is %v, declared was %v", first.Lease, hold)
	}
	again := p.notBefore("lease", from, hold, p.late(), other)
	p.wantIDs("after the lease", []broker.Delivery{again}, []msg.ID{first.ID})
}

// timed takes one message and tells the earliest instant from which its lease can run. A
// broker that pushes begins to count when it sends, which nobody at this end can see:
// there the message may be on its way for as long as the profile tolerates.
func (p *probe) timed(r *receiver) (broker.Delivery, time.Duration) {
	p.r.Helper()
	d := r.take(1)[0]
	from := p.Now() - d.Requested
	if p.profile.Model == contract.PushQueue {
		from -= p.profile.Tolerance
	}
	return d, from
}

// extend moves the deadline.
func extend(p *probe) {
	hold := p.shortLease()
	to := p.declare(broker.Destination{Lease: hold})
	p.sender().send(to, 1)
	holder, other := p.receiver(to), p.receiver(to)
	held, _ := p.timed(holder)
	p.pause(hold / 2)
	from := p.Now()
	holder.settled(broker.Extend, 2*hold, held)
	p.notBefore("extended", from, 2*hold, p.late(), other)
}

// again gives a held message back and takes it again, in the quickest way that there is.
func (p *probe) again(r *receiver, held broker.Delivery, to string) (*receiver, broker.Delivery) {
	p.r.Helper()
	switch {
	case p.can(contract.Requeue):
		r.settled(broker.Requeue, 0, held)
	case p.profile.Model != contract.LeaseQueue:
		r.Abandon()
		r = p.receiverOf(to, 1)
	}
	return r, r.takeWithin(1, p.comeBack())[0]
}

func deliveryCount(p *probe) {
	to := p.shortLived()
	p.sender().send(to, 1)
	r := p.receiverOf(to, 1)
	d := r.take(1)[0]
	for want := 1; want <= 3; want++ {
		if d.Count != want {
			p.errorf("delivery %d has count %d", want, d.Count)
		}
		r, d = p.again(r, d, to)
	}
}

func noDeliveryCount(p *probe) {
	to := p.shortLived()
	p.sender().send(to, 1)
	r := p.receiverOf(to, 1)
	first := r.take(1)[0]
	_, second := p.again(r, first, to)
	if first.Count != 0 || second.Count != 0 {
		p.errorf("delivery counts %d and %d of an engine without them, want 0", first.Count, second.Count)
	}
}

func redeliveredFlag(p *probe) {
	p.wantFlags(false, true)
}

func noRedeliveredFlag(p *probe) {
	p.wantFlags(false, false)
}

func (p *probe) wantFlags(want, wantAgain bool) {
	p.r.Helper()
	to := p.shortLived()
	p.sender().send(to, 1)
	r := p.receiverOf(to, 1)
	first := r.take(1)[0]
	_, second := p.again(r, first, to)
	if first.Redelivered != want || second.Redelivered != wantAgain {
		p.errorf("redelivered is %t and then %t, want %t and %t", first.Redelivered, second.Redelivered, want, wantAgain)
	}
}

// fifoGroups: a group waits while one of its messages is in flight, others do not.
func fifoGroups(p *probe) {
	to := p.declare(broker.Destination{FIFO: true})
	s := p.sender()
	a1, a2, b1 := s.next(to, "a"), s.next(to, "a"), s.next(to, "b")
	for _, m := range []*msg.Message{a1, a2, b1} {
		s.sent(m)
	}
	holder, other := p.receiverOf(to, 1), p.receiver(to)
	held := holder.take(1)
	p.wantIDs("the first of its group", held, idsOf([]*msg.Message{a1}))
	p.wantIDs("another group", other.take(1), idsOf([]*msg.Message{b1}))
	other.none(quiet)
	holder.done(held...)
	p.wantIDs("the group goes on", other.take(1), idsOf([]*msg.Message{a2}))
}

// prefetch: the broker pushes up to the window, and the rest stays for others.
func prefetch(p *probe) {
	to := p.declare(broker.Destination{})
	want := idsOf(p.sender().send(to, 10))
	spec := p.consumerSpec(to)
	spec.Prefetch = 3
	narrow := p.receiverWith(spec)
	held := narrow.take(3)
	narrow.none(quiet)
	wide := p.receiver(to)
	rest := wide.take(7)
	p.wantSet("outside the window", rest, unsettled(want, held))
	wide.done(rest...)
	narrow.done(held...)
	more := idsOf(p.sender().send(to, 1))
	p.must(wide.Close(p.ctx), "close")
	p.wantSet("room in the window", narrow.take(1), more)
}

// noPrefetch: a consumer that never asks holds nothing.
func noPrefetch(p *probe) {
	to := p.declare(broker.Destination{})
	p.sender().send(to, 3)
	p.receiver(to)
	p.pause(quiet)
	if d := p.depth(to, ""); d.InFlight > 0 {
		p.errorf("%d in flight before the first receive, want none", d.InFlight)
	}
}

func purge(p *probe) {
	to := p.declare(broker.Destination{})
	s := p.sender()
	s.send(to, 3)
	p.must(p.Engine.Purge(p.ctx, to), "purge")
	want := idsOf(s.send(to, 1))
	r := p.receiver(to)
	p.wantIDs("after a purge", r.take(1), want)
	r.none(quiet)
}
