// SPDX-License-Identifier: Apache-2.0

package brokertest

import (
	"context"
	"fmt"
	"time"

	"github.com/seed-720a3c77/harness/broker"
	"github.com/seed-720a3c77/harness/contract"
	"github.com/seed-720a3c77/harness/msg"
)

// toy is the smallest queue that passes the suite: one goroutine, and a time that moves
// only when somebody waits. It does what its profile says, except for the one rule in
// broken.
type toy struct {
	profile contract.Profile
	broken  string
	now     time.Duration
	queues  map[string]*toyQueue
	serial  int
	pushes  []func() // of consumers that the broker pushes to
}

type toyQueue struct {
	broker.Destination
	messages []*toyMessage
	dedup    map[string]bool
}

type toyMessage struct {
	msg.Message
	run    uint32
	number int
	count  int
	holder *toyConsumer
	handle string
	due    time.Duration // of the lease, or of the delay
}

// bench puts the toy on its own time.
func (e *toy) bench() *Bench {
	return &Bench{
		Engine: e, Prefix: "t-",
		Now:   func() time.Duration { return e.now },
		Sleep: func(_ context.Context, d time.Duration) error { e.now += d; return nil },
	}
}

func newToy(p contract.Profile, broken string) *toy {
	return &toy{profile: p, broken: broken, queues: map[string]*toyQueue{}}
}

func (e *toy) breaks(rule string) bool { return e.broken == rule }

func (e *toy) can(c contract.Capability) bool { return e.profile.Can.Has(c) }

func (e *toy) next() int { e.serial++; return e.serial }

func (e *toy) Profile() contract.Profile   { return e.profile }
func (e *toy) Settings() map[string]string { return nil }
func (e *toy) Close(context.Context) error { return nil }

func (e *toy) Declare(_ context.Context, t broker.Topology) error {
	for _, d := range t.Destinations {
		if err := e.declarable(d); err != nil {
			return err
		}
		if e.breaks("declares half") {
			e.queues[d.Name] = &toyQueue{Destination: d, dedup: map[string]bool{}}
		}
	}
	for _, d := range t.Destinations {
		e.queues[d.Name] = &toyQueue{Destination: d, dedup: map[string]bool{}}
	}
	return nil
}

func (e *toy) declarable(d broker.Destination) error {
	if e.queues[d.Name] != nil && !e.breaks("reuses a left-over") {
		return broker.ErrExists
	}
	asked := map[contract.Capability]bool{
		contract.Partitions: d.Partitions > 1, contract.FIFOGroups: d.FIFO, contract.Lease: d.Lease > 0,
		contract.DeadLetter: d.MaxDeliveries != 0, contract.FanOut: d.Kind == broker.Exchange,
		contract.Deduplication: d.DedupWindow > 0, contract.Delay: d.Delay > 0,
	}
	return e.unsupported(asked)
}

func (e *toy) unsupported(asked map[contract.Capability]bool) error {
	for c, yes := range asked {
		if yes && !e.can(c) {
			return fmt.Errorf("%v: %w", c, broker.ErrUnsupported)
		}
	}
	return nil
}

func (e *toy) Remove(_ context.Context, names ...string) error {
	for _, name := range names {
		delete(e.queues, name)
	}
	return nil
}

func (e *toy) Purge(_ context.Context, name string) error {
	if err := e.unsupported(map[contract.Capability]bool{contract.Purge: true}); err != nil {
		return err
	}
	if !e.breaks("purge does nothing") {
		e.queues[name].messages = nil
	}
	return nil
}

func (e *toy) Depth(_ context.Context, name, _ string) (broker.Depth, error) {
	d := broker.Depth{Start: broker.Unmeasured, End: broker.Unmeasured, Stable: broker.Unmeasured, Committed: broker.Unmeasured}
	q := e.queues[name]
	if q == nil {
		return d, broker.ErrNotFound
	}
	for _, push := range e.pushes {
		push()
	}
	for _, m := range q.messages {
		switch {
		case m.holder != nil && m.holder.holds(m) && !e.breaks("in flight is ready"):
			d.InFlight++
		case m.due > e.now && m.holder == nil:
			d.Delayed++
		default:
			d.Ready++
		}
	}
	return d, nil
}

func (e *toy) Producer(_ context.Context, spec broker.ProducerSpec) (broker.Producer, error) {
	err := e.unsupported(map[contract.Capability]bool{
		contract.Returns: spec.Mandatory, contract.Idempotence: spec.Idempotent, contract.Transactions: spec.TransactionID != "",
	})
	return &toyProducer{e: e, spec: spec}, err
}

type toyProducer struct {
	e      *toy
	spec   broker.ProducerSpec
	closed bool
	late   []func() // completions held until a flush
}

func (p *toyProducer) Publish(_ context.Context, m *msg.Message, done func(broker.Receipt, error)) error {
	if p.closed {
		return broker.ErrClosed
	}
	if err := p.e.unsupported(map[contract.Capability]bool{
		contract.Deduplication: m.Dedup != "", contract.Delay: m.Delay > 0, contract.MessageTTL: m.TTL > 0, contract.Priorities: m.Priority > 0,
	}); err != nil {
		return err
	}
	receipt, err := p.e.route(m, p.spec)
	p.late = append(p.late, func() { done(receipt, err) })
	if p.e.breaks("completes twice") {
		p.late = append(p.late, func() { done(receipt, err) })
	}
	return nil
}

// route stores one copy for each queue that the message reaches.
func (e *toy) route(m *msg.Message, spec broker.ProducerSpec) (broker.Receipt, error) {
	q := e.queues[m.To]
	switch {
	case q == nil && e.breaks("returned is acked"):
		return broker.Receipt{}, nil
	case q == nil:
		return broker.Receipt{}, &broker.Error{Op: "publish", Answer: contract.Returned, Class: contract.Rejected}
	case (spec.NoConfirms || spec.Acks == "0") && !e.breaks("unproven is ok"):
		e.store(q, m, spec.Run)
		return broker.Receipt{}, &broker.Error{Op: "publish", Class: contract.AcceptedOnly}
	case q.Kind != broker.Exchange:
		return e.store(q, m, spec.Run), nil
	}
	for name := range q.Bindings {
		e.store(e.queues[name], m, spec.Run)
		if e.breaks("forgets a bound queue") {
			break
		}
	}
	return broker.Receipt{}, nil
}

func (e *toy) store(q *toyQueue, m *msg.Message, run uint32) broker.Receipt {
	stored := &toyMessage{Message: *m, run: run, number: e.next()}
	key := m.Dedup
	if e.breaks("identity by body") {
		key = string(m.Body)
	}
	swallowed := q.dedup[key] && !e.breaks("stores copies")
	q.dedup[key] = key != ""
	if delay := max(m.Delay, q.Delay); delay > 0 && !e.breaks("ignores the delay") {
		stored.due = e.now + delay
	}
	if !swallowed && !e.breaks("acks and forgets") {
		q.messages = append(q.messages, stored)
	}
	return broker.Receipt{BrokerID: stored.id()}
}

func (m *toyMessage) id() string { return fmt.Sprint("m", m.number) }

func (p *toyProducer) Flush(context.Context) error {
	for _, done := range p.late {
		done()
	}
	p.late = nil
	return nil
}

func (p *toyProducer) Close(ctx context.Context) error {
	p.closed = true
	if p.e.breaks("close drops") {
		return nil
	}
	return p.Flush(ctx)
}

func (p *toyProducer) Abandon()                    { p.closed = true }
func (p *toyProducer) Begin(context.Context) error { return broker.ErrUnsupported }
func (p *toyProducer) Abort(context.Context) error { return broker.ErrUnsupported }
func (p *toyProducer) Commit(context.Context, ...broker.OffsetCommit) error {
	return broker.ErrUnsupported
}

// leaseToy and pushToy are the two configurations that the suite is tested with.
func leaseToy() contract.Profile {
	return contract.Profile{
		Name: "toy-lease", Product: "toy", Version: "1", Client: "toy", Model: contract.LeaseQueue, Nodes: 1,
		Can: contract.Can(contract.Acks, contract.Requeue, contract.RequeueDelay, contract.Lease, contract.Extend,
			contract.DeliveryCount, contract.DeadLetter, contract.FIFOGroups, contract.Deduplication, contract.Confirms,
			contract.BatchEntries, contract.Delay, contract.Purge),
		Order: contract.OrderGroup, Requeue: contract.PlaceOriginal, Return: contract.PlaceOriginal,
		Lease: contract.Hold{Default: 30 * time.Second, Floor: time.Second, Step: time.Second},
		Stale: contract.StaleRefused, Publish: contract.OK, Settle: contract.OK, BatchMax: 10, Tolerance: time.Second,
	}
}

func pushToy() contract.Profile {
	return contract.Profile{
		Name: "toy-push", Product: "toy", Version: "1", Client: "toy", Model: contract.PushQueue, Nodes: 1,
		Can: contract.Can(contract.Acks, contract.Requeue, contract.Reject, contract.AckMultiple, contract.RedeliveredFlag,
			contract.DeadLetter, contract.Confirms, contract.Returns, contract.Prefetch, contract.FanOut),
		Order: contract.OrderQueue, Requeue: contract.PlaceOriginal, Return: contract.PlaceOriginal,
		Stale: contract.StaleCloses, Publish: contract.OK, Settle: contract.AcceptedOnly, Tolerance: time.Second,
		Limit: contract.Limit{Default: 20},
	}
}
