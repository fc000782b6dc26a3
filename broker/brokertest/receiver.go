// SPDX-License-Identifier: Apache-2.0

package brokertest

import (
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/seed-720a3c77/harness/broker"
	"github.com/seed-720a3c77/harness/contract"
	"github.com/seed-720a3c77/harness/msg"
)

// receiver is a consumer and the notices it got.
type receiver struct {
	broker.Consumer
	p     *probe
	batch int

	mu   sync.Mutex
	held map[int32]bool
}

// consumerSpec reads in a group of the destination's name, so that two receivers of one
// destination share it in every model.
func (p *probe) consumerSpec(from string) broker.ConsumerSpec {
	return broker.ConsumerSpec{Name: p.name("consumer"), Run: run, From: from, Group: from + "-g", Batch: 10}
}

func (p *probe) receiver(from string) *receiver {
	p.r.Helper()
	return p.receiverWith(p.consumerSpec(from))
}

// receiverOf holds at most n unsettled messages.
func (p *probe) receiverOf(from string, n int) *receiver {
	p.r.Helper()
	spec := p.consumerSpec(from)
	spec.Batch = n
	return p.receiverWith(spec)
}

func (p *probe) receiverWith(spec broker.ConsumerSpec) *receiver {
	p.r.Helper()
	r := &receiver{p: p, batch: spec.Batch, held: map[int32]bool{}}
	spec.Notify = r.notice
	consumer, err := p.Engine.Consumer(p.ctx, spec)
	p.must(err, "open a consumer")
	p.opened = append(p.opened, consumer)
	r.Consumer = consumer
	return r
}

// refusesConsumer wants a consumer to be unsupported.
func (p *probe) refusesConsumer(what string, change func(*broker.ConsumerSpec)) {
	p.r.Helper()
	spec := p.consumerSpec(p.declare(broker.Destination{}))
	change(&spec)
	consumer, err := p.Engine.Consumer(p.ctx, spec)
	p.refuses(err, "consumer with "+what)
	if err == nil {
		consumer.Abandon()
	}
}

func (r *receiver) notice(n broker.Notice) {
	r.mu.Lock()
	defer r.mu.Unlock()
	switch n.Kind {
	case broker.Assigned:
		r.held[n.Partition] = true
	case broker.Revoked, broker.Lost:
		delete(r.held, n.Partition)
	}
}

// holds is how many partitions the receiver was told it has.
func (r *receiver) holds() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return len(r.held)
}

// some is one poll for at most n.
func (r *receiver) some(n int) []broker.Delivery {
	r.p.r.Helper()
	into := make([]broker.Delivery, min(n, r.batch))
	got, err := r.Receive(r.p.ctx, into, poll)
	r.p.must(err, "receive")
	if got > len(into) {
		r.p.fatalf("receive returned %d deliveries into room for %d", got, len(into))
	}
	return keep(into[:got])
}

// keep copies bodies: a Receive may reuse what an earlier one handed out.
func keep(all []broker.Delivery) []broker.Delivery {
	for i := range all {
		all[i].Body = slices.Clone(all[i].Body)
	}
	return all
}

// take receives exactly n, over as many polls as it needs.
func (r *receiver) take(n int) []broker.Delivery {
	r.p.r.Helper()
	return r.takeWithin(n, r.p.patience())
}

func (r *receiver) takeWithin(n int, wait time.Duration) []broker.Delivery {
	r.p.r.Helper()
	var all []broker.Delivery
	for end := r.p.Now() + wait; len(all) < n; {
		all = append(all, r.some(n-len(all))...)
		if len(all) < n && r.p.Now() > end {
			r.p.fatalf("received %d of %d messages within %v: %v", len(all), n, wait, deliveredIDs(all))
		}
	}
	return all
}

// takeDone receives exactly n and settles each poll's before the next, so that no message
// group holds back what is left.
func (r *receiver) takeDone(n int) []broker.Delivery {
	r.p.r.Helper()
	var all []broker.Delivery
	r.p.until(fmt.Sprintf("%d messages were received and settled", n), func() bool {
		some := r.some(n - len(all))
		r.done(some...)
		all = append(all, some...)
		return len(all) == n
	})
	return all
}

// none wants nothing to arrive for a while.
func (r *receiver) none(d time.Duration) {
	r.p.r.Helper()
	for end := r.p.Now() + d; ; {
		if got := r.some(r.batch); len(got) > 0 {
			r.p.fatalf("received %v, want nothing", deliveredIDs(got))
		}
		if r.p.Now() >= end {
			return
		}
	}
}

// settle applies settlements and returns one result each.
func (r *receiver) settle(all ...broker.Settlement) []error {
	r.p.r.Helper()
	results := make([]error, len(all))
	for i := range results {
		results[i] = errUnwritten
	}
	r.Settle(r.p.ctx, all, results)
	for i, err := range results {
		if errors.Is(err, errUnwritten) {
			r.p.errorf("settle left the result of entry %d (%v) unwritten", i, all[i].Verb)
		}
	}
	return results
}

var errUnwritten = errors.New("result not written")

// settled settles deliveries with one verb and wants what the profile promises.
func (r *receiver) settled(verb broker.Verb, delay time.Duration, all ...broker.Delivery) {
	r.p.r.Helper()
	for i, err := range r.settle(settlements(verb, delay, all)...) {
		_, class := broker.Classify(err, r.p.profile.Settle)
		if class != contract.OK && class != contract.AcceptedOnly {
			r.p.fatalf("%v %v: %v (%v), want it accepted", verb, all[i].ID, err, class)
		}
	}
}

// done settles for good: an ack of each, or a commit of each position.
func (r *receiver) done(all ...broker.Delivery) {
	r.p.r.Helper()
	r.settled(r.p.doneVerb(), 0, all...)
}

func (p *probe) doneVerb() broker.Verb {
	if p.can(contract.Acks) {
		return broker.Ack
	}
	return broker.Commit
}

// refuses wants a verb to be unsupported, on a delivery that is held.
func (p *probe) refusesVerb(s broker.Settlement) {
	p.r.Helper()
	to := p.declare(broker.Destination{})
	p.sender().send(to, 1)
	r := p.receiver(to)
	s.Token = r.take(1)[0].Token
	p.refuses(r.settle(s)[0], s.Verb.String())
}

func settlements(verb broker.Verb, delay time.Duration, all []broker.Delivery) []broker.Settlement {
	out := make([]broker.Settlement, len(all))
	for i := range all {
		out[i] = broker.Settlement{Verb: verb, Token: all[i].Token, Delay: delay}
	}
	return out
}

func deliveredIDs(all []broker.Delivery) []msg.ID {
	ids := make([]msg.ID, len(all))
	for i := range all {
		ids[i] = all[i].ID
	}
	return ids
}

// wantIDs compares in order.
func (p *probe) wantIDs(what string, got []broker.Delivery, want []msg.ID) {
	p.r.Helper()
	if ids := deliveredIDs(got); !slices.Equal(ids, want) {
		p.errorf("%s: delivered %v, want %v", what, ids, want)
	}
}

// wantSet compares whatever the order.
func (p *probe) wantSet(what string, got []broker.Delivery, want []msg.ID) {
	p.r.Helper()
	ids := deliveredIDs(got)
	slices.SortFunc(ids, msg.ID.Compare)
	want = slices.SortedFunc(slices.Values(want), msg.ID.Compare)
	if !slices.Equal(ids, want) {
		p.errorf("%s: delivered %v, want %v", what, ids, want)
	}
}
