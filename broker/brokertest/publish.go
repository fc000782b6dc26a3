// SPDX-License-Identifier: Apache-2.0

package brokertest

import (
	"errors"
	"time"

	"github.com/seed-720a3c77/harness/broker"
	"github.com/seed-720a3c77/harness/contract"
	"github.com/seed-720a3c77/harness/msg"
)

// confirms: an answer proves that the message is stored.
func confirms(p *probe) {
	if p.profile.Publish != contract.OK {
		p.errorf("the profile declares confirms but a nil error proves only %v", p.profile.Publish)
	}
	to := p.declare(broker.Destination{})
	s := p.sender()
	s.send(to, 3)
	s.Abandon()
	p.receiver(to).take(3)
}

func noConfirms(p *probe) {
	if p.profile.Publish == contract.OK {
		p.errorf("the profile declares no confirms but says that a nil error proves a publish")
	}
}

// returns: an unroutable message comes back, and being returned outranks the ack.
func returns(p *probe) {
	to := p.declare(broker.Destination{})
	spec := p.producerSpec()
	spec.Mandatory = true
	s := p.senderWith(spec)
	routed := s.next(to, "k")
	lost := s.next(p.name("nowhere"), "k")
	for _, m := range []*msg.Message{routed, lost} {
		p.must(s.try(m), "publish")
	}
	p.must(s.Flush(p.ctx), "flush")
	p.wantOneAnswer(s, "a flush", []*msg.Message{routed})
	got := s.answersOf(lost.ID)
	if len(got) != 1 {
		p.fatalf("the unroutable message has %d completions, want exactly 1", len(got))
	}
	if say, class := broker.Classify(got[0].err, p.profile.Publish); say != contract.Returned || class != contract.Rejected {
		p.errorf("an unroutable mandatory message: %v (%v), %v; want returned (rejected)", say, class, got[0].err)
	}
	p.wantIDs("routed", p.receiver(to).take(1), idsOf([]*msg.Message{routed}))
}

// fanOut: one publish reaches every bound queue.
func fanOut(p *probe) {
	a, b := p.fill(broker.Destination{}), p.fill(broker.Destination{})
	x := broker.Destination{Name: p.name("x"), Kind: broker.Exchange, Bindings: map[string]string{a.Name: "", b.Name: ""}}
	p.must(p.tryDeclare(a, b, x), "declare an exchange and its queues")
	want := idsOf(p.sender().send(x.Name, 2))
	for _, q := range []string{a.Name, b.Name} {
		p.wantSet("one of two bound queues", p.receiver(q).take(2), want)
	}
}

// idempotence: the mode opens, and what it sends is stored once and in order. That its
// own retries are stored once is shown by request faults, not here.
func idempotence(p *probe) {
	to := p.declare(broker.Destination{})
	spec := p.producerSpec()
	spec.Idempotent, spec.Retries = true, 3
	s := p.senderWith(spec)
	want := idsOf(s.send(to, 10))
	r := p.receiver(to)
	p.wantIDs("from an idempotent producer", r.take(10), want)
	r.none(quiet)
}

// deduplication: a second send with the same id is accepted and not stored.
func deduplication(p *probe) {
	to := p.declare(broker.Destination{})
	s := p.sender()
	first, copied, other := s.next(to, "k"), s.next(to, "k"), s.next(to, "k")
	first.Dedup, copied.Dedup, other.Dedup = "same", "same", "different"
	for _, m := range []*msg.Message{first, copied, other} {
		s.sent(m)
	}
	r := p.receiver(to)
	p.wantIDs("without the copy", r.take(2), idsOf([]*msg.Message{first, other}))
	r.none(quiet)
}

// batchEntries: one bad entry does not spoil the others.
func batchEntries(p *probe) {
	to := p.shortLived()
	p.sender().send(to, 3)
	r := p.receiver(to)
	got := r.take(3)
	all := settlements(p.doneVerb(), 0, got)
	all[1].Token.Handle = "no such handle"
	results := r.settle(all...)
	if results[0] != nil || results[2] != nil {
		p.errorf("good entries beside a bad one: %v and %v", results[0], results[2])
	}
	if _, class := broker.Classify(results[1], p.profile.Settle); class != contract.Rejected {
		p.errorf("an entry with a bad handle: %v (%v), want rejected", results[1], class)
	}
	back := p.receiver(to).takeWithin(1, p.comeBack())
	p.wantIDs("the one that was refused", back, []msg.ID{got[1].ID})
}

func noBatchEntries(p *probe) {
	if p.profile.BatchMax > 0 {
		p.errorf("the profile declares batches of %d and no results of their entries", p.profile.BatchMax)
	}
	oneResultAnEntry(p)
}

// delay: hidden until it is due, by message or by destination, whichever there is.
func delay(p *probe) {
	const wait = 2 * time.Second
	late := p.late()
	to := p.declare(broker.Destination{})
	s := p.sender()
	m := s.next(to, "k")
	m.Delay = wait
	start := p.Now()
	got := s.one(m)
	if errors.Is(got.err, broker.ErrUnsupported) {
		to = p.declare(broker.Destination{Delay: wait})
		m = s.next(to, "k")
		start = p.Now()
		got = s.one(m)
	}
	p.must(got.err, "publish with a delay")
	p.notBefore("delayed", start, wait, late, p.receiver(to))
}

// messageTTL: an expired message is not delivered, others are.
func messageTTL(p *probe) {
	const ttl = time.Second
	to := p.declare(broker.Destination{})
	s := p.sender()
	expiring, staying := s.next(to, "k"), s.next(to, "k")
	expiring.TTL = ttl
	s.sent(expiring)
	s.sent(staying)
	p.pause(ttl + p.profile.Tolerance + quiet)
	r := p.receiver(to)
	p.wantIDs("after the time to live", r.take(1), idsOf([]*msg.Message{staying}))
	r.none(quiet)
}

// priorities: a waiting high one overtakes the low ones. A queue that must be told how
// many priorities it has takes the number from the profile's knob.
func priorities(p *probe) {
	const argument = "x-max-priority"
	d := broker.Destination{}
	if levels := p.profile.Knobs[argument]; levels != "" {
		d.Native = map[string]string{argument: levels}
	}
	to := p.declare(d)
	s := p.sender()
	low, high := s.next(to, "k"), s.next(to, "k")
	low.Priority, high.Priority = 1, 9
	s.sent(low)
	s.sent(high)
	p.wantIDs("by priority", p.receiverOf(to, 1).take(1), idsOf([]*msg.Message{high}))
}
