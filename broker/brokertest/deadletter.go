// SPDX-License-Identifier: Apache-2.0

package brokertest

import (
	"time"

	"github.com/seed-720a3c77/harness/broker"
	"github.com/seed-720a3c77/harness/contract"
	"github.com/seed-720a3c77/harness/msg"
)

// reject: nobody gets the message again, and a dead-letter queue takes it.
func reject(p *probe) {
	dead := p.declare(broker.Destination{})
	to := p.declare(broker.Destination{DeadLetter: dead})
	want := idsOf(p.sender().send(to, 1))
	r := p.receiver(to)
	r.settled(broker.Reject, 0, r.take(1)...)
	buried := p.receiver(dead)
	found := buried.take(1)
	p.wantIDs("rejected", found, want)
	buried.done(found...)
	r.none(quiet)
	p.doneIsNotDead(to, r, buried)
}

// doneIsNotDead: what was acked is not among the dead letters, and nothing is there twice.
func (p *probe) doneIsNotDead(to string, r, buried *receiver) {
	p.r.Helper()
	p.sender().send(to, 1)
	r.done(r.take(1)...)
	buried.none(quiet)
}

// deadLetter: exactly so many deliveries, then it is in the dead-letter queue.
func deadLetter(p *probe) {
	const limit = 3
	dead := p.declare(broker.Destination{})
	to := p.declare(broker.Destination{MaxDeliveries: limit, DeadLetter: dead, Lease: p.limitLease()})
	want := idsOf(p.sender().send(to, 1))
	r, buried := p.receiverOf(to, 1), p.receiver(dead)
	if got := p.deliveriesUntilDead(r, buried, want); got != limit {
		p.errorf("%d deliveries before the dead-letter queue, want exactly %d", got, limit)
	}
	p.doneIsNotDead(to, r, buried)
}

func noDeadLetter(p *probe) {
	dead := p.declare(broker.Destination{})
	p.refusesDeclare("a limit of deliveries", broker.Destination{MaxDeliveries: 3, DeadLetter: dead})
}

func (p *probe) limitLease() time.Duration {
	if p.profile.Model == contract.LeaseQueue {
		return p.shortLease()
	}
	return 0
}

// deliveriesUntilDead gives one message back until it is in the dead-letter queue.
func (p *probe) deliveriesUntilDead(r, buried *receiver, want []msg.ID) (deliveries int) {
	p.r.Helper()
	for end := p.Now() + p.patience(); p.Now() <= end; {
		for _, d := range r.some(1) {
			deliveries++
			p.wantIDs("given back", []broker.Delivery{d}, want)
			if p.can(contract.Requeue) {
				r.settled(broker.Requeue, 0, d)
			}
		}
		if found := buried.some(1); len(found) > 0 {
			p.wantIDs("dead-lettered", found, want)
			buried.done(found...)
			r.none(quiet)
			return deliveries
		}
	}
	p.fatalf("%d deliveries and nothing in the dead-letter queue within %v", deliveries, p.patience())
	return deliveries
}

// limitAsDeclared: the limit that applies where a topology asks for none, and no limit.
func limitAsDeclared(p *probe) {
	if !p.can(contract.Requeue) {
		return
	}
	if limit := p.profile.Limit.Default; limit > 0 {
		p.wantDeliveries(broker.Destination{}, limit, true)
		if p.tryDeclare(p.fill(broker.Destination{MaxDeliveries: -1})) == nil {
			p.wantDeliveries(broker.Destination{MaxDeliveries: -1}, limit+3, false)
		}
		return
	}
	p.wantDeliveries(broker.Destination{}, 8, false)
}

// wantDeliveries gives a message back n times, after which it is gone or still there.
func (p *probe) wantDeliveries(d broker.Destination, n int, gone bool) {
	p.r.Helper()
	to := p.declare(d)
	p.sender().send(to, 1)
	r := p.receiverOf(to, 1)
	for range n {
		r.settled(broker.Requeue, 0, r.take(1)...)
	}
	if gone {
		r.none(quiet)
		return
	}
	r.take(1)
}
