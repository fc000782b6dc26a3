// SPDX-License-Identifier: Apache-2.0

package brokertest

import (
	"bytes"
	"errors"
	"fmt"
	"time"

	"github.com/seed-720a3c77/harness/broker"
	"github.com/seed-720a3c77/harness/contract"
	"github.com/seed-720a3c77/harness/msg"
)

// basics are the rules of the port that hold for every engine.
func basics() []testCase {
	return []testCase{
		{"profile/is complete", profileIsComplete},
		{"declare/left-over exists", leftOverExists},
		{"declare/all or nothing", declareAllOrNothing},
		{"declare/missing is not found", missingIsNotFound},
		{"declare/remove twice", removeTwice},
		{"round trip/identity", identityRoundTrip},
		{"round trip/same bytes are two messages", sameBytesAreTwo},
		{"round trip/foreign run", foreignRun},
		{"round trip/raw", rawMessages},
		{"publish/completes exactly once", completesOnce},
		{"publish/close flushes", closeFlushes},
		{"publish/after close", publishAfterClose},
		{"publish/unproven is not ok", unprovenIsNotOK},
		{"receive/empty poll", emptyPoll},
		{"receive/after close", receiveAfterClose},
		{"receive/auto ack", autoAck},
		{"order/as promised", orderAsPromised},
		{"settle/one result an entry", oneResultAnEntry},
		{"settle/done does not come back", doneStaysDone},
		{"crash/unsettled come back", unsettledComeBack},
		{"crash/stale token", staleToken},
		{"crash/nothing after abandon", nothingAfterAbandon},
		{"depth/follows the messages", depthFollows},
		{"limit/as the profile says", limitAsDeclared},
	}
}

func profileIsComplete(p *probe) {
	f := p.profile
	if f.Name == "" || f.Product == "" || f.Version == "" || f.Client == "" {
		p.errorf("profile %+v: name, product, version and client are wanted", f)
	}
	if f.Model == contract.NoModel || f.Order == "" || f.Nodes == 0 {
		p.errorf("profile %s: model %v, order %q, nodes %d: each is wanted", f.Name, f.Model, f.Order, f.Nodes)
	}
	if f.Publish == contract.Unclassed || f.Settle == contract.Unclassed {
		p.errorf("profile %s: publish %v, settle %v: each is wanted", f.Name, f.Publish, f.Settle)
	}
	if p.can(contract.Lease) && f.Lease.Default == 0 {
		p.errorf("profile %s: declares leases without a default", f.Name)
	}
}

func leftOverExists(p *probe) {
	name := p.declare(broker.Destination{})
	p.sender().send(name, 1)
	again := p.fill(broker.Destination{Name: name})
	if err := p.Engine.Declare(p.ctx, broker.Topology{Destinations: []broker.Destination{again}}); !errors.Is(err, broker.ErrExists) {
		p.errorf("declare a left-over: %v, want ErrExists", err)
	}
	p.receiver(name).take(1)
}

func declareAllOrNothing(p *probe) {
	fine, taken := p.fill(broker.Destination{}), p.fill(broker.Destination{Name: p.declare(broker.Destination{})})
	if err := p.Engine.Declare(p.ctx, broker.Topology{Destinations: []broker.Destination{fine, taken}}); !errors.Is(err, broker.ErrExists) {
		p.fatalf("declare with a left-over: %v, want ErrExists", err)
	}
	p.must(p.tryDeclare(fine), "declare the one that was fine, after the refusal")
}

func missingIsNotFound(p *probe) {
	missing := p.name("missing")
	if _, err := p.Engine.Depth(p.ctx, missing, ""); !errors.Is(err, broker.ErrNotFound) {
		p.errorf("depth of a missing destination: %v, want ErrNotFound", err)
	}
	consumer, err := p.Engine.Consumer(p.ctx, p.consumerSpec(missing))
	if !errors.Is(err, broker.ErrNotFound) {
		p.errorf("consumer of a missing destination: %v, want ErrNotFound", err)
	}
	if err == nil {
		consumer.Abandon()
	}
}

func removeTwice(p *probe) {
	name := p.declare(broker.Destination{})
	for range 2 {
		p.must(p.Engine.Remove(p.ctx, name), "remove")
	}
	p.until("a removed destination is not found", func() bool {
		_, err := p.Engine.Depth(p.ctx, name, "")
		return errors.Is(err, broker.ErrNotFound)
	})
}

func identityRoundTrip(p *probe) {
	to := p.declare(broker.Destination{})
	s := p.sender()
	m := s.next(to, "key-1")
	m.ID.Seq, m.Attempt, m.Intended = 1<<40, 3, 1234567891*time.Nanosecond
	m.Body = []byte(`{"text": "ünïcode & <tags>"}`)
	receipt := s.sent(m)
	d := p.receiver(to).take(1)[0]
	if d.Foreign || d.Corrupt {
		p.errorf("foreign %t, corrupt %t of an own message", d.Foreign, d.Corrupt)
	}
	if d.ID != m.ID || d.Attempt != m.Attempt || d.Intended != m.Intended {
		p.errorf("delivered %v attempt %d intended %v, want %v, %d, %v", d.ID, d.Attempt, d.Intended, m.ID, m.Attempt, m.Intended)
	}
	if d.Source != to || d.Key != m.Key || !bytes.Equal(d.Body, m.Body) {
		p.errorf("delivered source %q key %q body %q, want %q, %q, %q", d.Source, d.Key, d.Body, to, m.Key, m.Body)
	}
	if receipt.BrokerID != d.BrokerID {
		p.errorf("broker's id is %q in the receipt and %q in the delivery", receipt.BrokerID, d.BrokerID)
	}
}

func sameBytesAreTwo(p *probe) {
	to := p.declare(broker.Destination{})
	s := p.sender()
	a, b := s.next(to, "k"), s.next(to, "k")
	a.Body, b.Body = []byte("same"), []byte("same")
	s.sent(a)
	s.sent(b)
	p.wantSet("two messages of the same bytes", p.receiver(to).take(2), []msg.ID{a.ID, b.ID})
}

func foreignRun(p *probe) {
	to := p.declare(broker.Destination{})
	spec := p.producerSpec()
	spec.Run = run + 1
	p.senderWith(spec).send(to, 1)
	d := p.receiver(to).take(1)[0]
	if !d.Foreign || d.ID != (msg.ID{}) {
		p.errorf("a message of another run: foreign %t, id %v; want true and the zero id", d.Foreign, d.ID)
	}
}

// rawMessages needs the bench's way around the port.
func rawMessages(p *probe) {
	if p.Raw == nil {
		p.r.Logf("the bench has no raw publisher: corrupt bodies are not covered")
		return
	}
	to := p.declare(broker.Destination{})
	r := p.receiver(to)
	envelope := msg.Envelope{Run: run, ID: msg.ID{Producer: 9, Seq: 9}, CRC: msg.Checksum([]byte("as sent"))}
	for _, c := range []struct {
		headers          map[string]string
		foreign, corrupt bool
	}{
		{nil, true, false},
		{map[string]string{msg.HeaderName: "not an envelope"}, true, false},
		{map[string]string{msg.HeaderName: envelope.String()}, false, true},
	} {
		p.must(p.Raw(p.ctx, to, c.headers, []byte("as stored")), "publish raw")
		d := r.take(1)[0]
		r.done(d)
		if d.Foreign != c.foreign || d.Corrupt != c.corrupt {
			p.errorf("raw message with headers %v: foreign %t, corrupt %t", c.headers, d.Foreign, d.Corrupt)
		}
	}
}

func completesOnce(p *probe) {
	const n = 25
	to := p.declare(broker.Destination{})
	s := p.sender()
	all := make([]*msg.Message, n)
	for i := range all {
		all[i] = s.next(to, fmt.Sprint("k", i%3))
		p.must(s.try(all[i]), "publish")
	}
	p.must(s.Flush(p.ctx), "flush")
	p.wantOneAnswer(s, "a flush", all)
	p.must(s.Close(p.ctx), "close")
	p.wantOneAnswer(s, "a close", all)
	p.wantSet("everything published", p.receiverOf(to, n).takeDone(n), idsOf(all))
}

func (p *probe) wantOneAnswer(s *sender, after string, all []*msg.Message) {
	p.r.Helper()
	for _, m := range all {
		got := s.answersOf(m.ID)
		if len(got) != 1 {
			p.fatalf("%v has %d completions after %s, want exactly 1", m.ID, len(got), after)
		}
		p.must(got[0].err, "completion")
	}
}

func closeFlushes(p *probe) {
	const n = 5
	to := p.declare(broker.Destination{})
	spec := p.producerSpec()
	spec.Linger, spec.BatchMax = 300*time.Millisecond, 10
	s := p.senderWith(spec)
	all := make([]*msg.Message, n)
	for i := range all {
		all[i] = s.next(to, "k")
		p.must(s.try(all[i]), "publish")
	}
	p.must(s.Close(p.ctx), "close")
	p.wantOneAnswer(s, "a close", all)
	p.wantSet("everything published before a close", p.receiver(to).take(n), idsOf(all))
}

func publishAfterClose(p *probe) {
	to := p.declare(broker.Destination{})
	s := p.sender()
	p.must(s.Close(p.ctx), "close")
	if err := s.try(s.next(to, "k")); !errors.Is(err, broker.ErrClosed) {
		p.errorf("publish after a close: %v, want ErrClosed", err)
	}
}

// unprovenIsNotOK: an answer that nobody asked for cannot prove anything.
func unprovenIsNotOK(p *probe) {
	to := p.declare(broker.Destination{})
	for _, change := range []func(*broker.ProducerSpec){
		func(s *broker.ProducerSpec) { s.NoConfirms = true },
		func(s *broker.ProducerSpec) { s.Acks = "0" },
	} {
		spec := p.producerSpec()
		change(&spec)
		producer, err := p.Engine.Producer(p.ctx, spec)
		if errors.Is(err, broker.ErrUnsupported) {
			continue
		}
		p.must(err, "producer without answers")
		producer.Abandon()
		s := p.senderWith(spec)
		got := s.one(s.next(to, "k"))
		if _, class := broker.Classify(got.err, p.profile.Publish); class != contract.AcceptedOnly {
			p.errorf("publish without answers (acks %q, no confirms %t): %v is %v, want accepted-only", spec.Acks, spec.NoConfirms, got.err, class)
		}
	}
}

func emptyPoll(p *probe) {
	const wait = 300 * time.Millisecond
	r := p.receiver(p.declare(broker.Destination{}))
	start := p.Now()
	n, err := r.Receive(p.ctx, make([]broker.Delivery, 5), wait)
	if n != 0 || err != nil {
		p.errorf("receive from an empty destination: %d, %v; want 0 and no error", n, err)
	}
	if took := p.Now() - start; took < wait*9/10 {
		p.errorf("an empty poll returned after %v, before its wait of %v", took, wait)
	}
}

func receiveAfterClose(p *probe) {
	r := p.receiver(p.declare(broker.Destination{}))
	p.must(r.Close(p.ctx), "close")
	if _, err := r.Receive(p.ctx, make([]broker.Delivery, 1), poll); !errors.Is(err, broker.ErrClosed) {
		p.errorf("receive after a close: %v, want ErrClosed", err)
	}
}

// autoAck forgets on sending, or is refused.
func autoAck(p *probe) {
	to := p.declare(broker.Destination{})
	spec := p.consumerSpec(to)
	spec.AutoAck = true
	consumer, err := p.Engine.Consumer(p.ctx, spec)
	if errors.Is(err, broker.ErrUnsupported) {
		return
	}
	p.must(err, "consumer with auto ack")
	consumer.Abandon()
	spec.Name = p.name("consumer")
	r := p.receiverWith(spec)
	p.sender().send(to, 2)
	r.take(2)
	r.Abandon()
	p.receiver(to).none(quiet)
}

func orderAsPromised(p *probe) {
	const n = 20
	to := p.declare(broker.Destination{})
	want := idsOf(p.sender().send(to, n))
	got := p.receiverOf(to, n).takeDone(n)
	if p.profile.Order == contract.OrderNone {
		p.wantSet("unordered", got, want)
		return
	}
	p.wantIDs("in the order of the sends", got, want)
}

func oneResultAnEntry(p *probe) {
	to := p.declare(broker.Destination{})
	p.sender().send(to, 3)
	r := p.receiver(to)
	got := r.take(3)
	all := settlements(p.doneVerb(), 0, got)
	all[1].Verb = broker.NoVerb
	results := r.settle(all...)
	for i, want := range []bool{true, false, true} {
		_, class := broker.Classify(results[i], p.profile.Settle)
		if ok := class == contract.OK || class == contract.AcceptedOnly; ok != want {
			p.errorf("entry %d with verb %v: %v", i, all[i].Verb, results[i])
		}
	}
}
