// SPDX-License-Identifier: Apache-2.0

package rabbitmq

import (
	"cmp"
	"context"
	"fmt"
	"sync"
	"time"

	amqp "github.com/rabbitmq/amqp091-go"

	"github.com/seed-720a3c77/harness/broker"
	"github.com/seed-720a3c77/harness/msg"
)

// defaultInFlight bounds unanswered publishes where the spec does not: larger windows gain
// no throughput and lengthen the confirms.
const defaultInFlight = 500

// defaultTimeout is how long a publish may stay unanswered where the spec does not say: a
// queue whose leader is gone never answers, and nobody is to wait for it forever.
const defaultTimeout = 30 * time.Second

type producer struct {
	engine *engine
	spec   broker.ProducerSpec
	// room has a token for each unanswered publish.
	room chan struct{}
	// gone is closed by Close and Abandon.
	gone chan struct{}

	// answering makes completions and notices one stream, which ends at Abandon.
	answering sync.Mutex
	silent    bool

	mu     sync.Mutex
	shut   bool
	link   *link
	outlet *outlet

	// Used by the owner's Publish alone.
	routes  map[string]facts
	headers amqp.Table
	text    []byte
}

// Producer opens a connection and a channel in confirm mode. Retries, Linger and BatchMax
// ask for what this client never does by itself and change nothing.
func (e *engine) Producer(ctx context.Context, spec broker.ProducerSpec) (broker.Producer, error) {
	if err := refuseProducer(spec); err != nil {
		return nil, err
	}
	spec.InFlight = cmp.Or(spec.InFlight, defaultInFlight)
	spec.Timeout = cmp.Or(spec.Timeout, defaultTimeout)
	p := &producer{
		engine: e, spec: spec,
		room: make(chan struct{}, spec.InFlight), gone: make(chan struct{}),
		routes: map[string]facts{}, headers: amqp.Table{},
	}
	if err := e.clients.Enter(p); err != nil {
		return nil, err
	}
	if _, err := p.live(ctx); err != nil {
		p.Abandon()
		return nil, err
	}
	return p, nil
}

func refuseProducer(spec broker.ProducerSpec) error {
	switch {
	case spec.Acks != "" && spec.Acks != "all":
		return unsupported("producer %s: acks %q: a confirm is all or, with NoConfirms, nothing", spec.Name, spec.Acks)
	case spec.Idempotent:
		return unsupported("producer %s: idempotence", spec.Name)
	case spec.TransactionID != "":
		return unsupported("producer %s: transactions", spec.Name)
	case spec.NoConfirms && spec.Mandatory:
		return unsupported("producer %s: mandatory without confirms: a return would come after the answer", spec.Name)
	case spec.InFlight < 0:
		return fmt.Errorf("rabbitmq: producer %s: in flight %d: want 1 or more", spec.Name, spec.InFlight)
	}
	return nil
}

// Publish writes the message to the socket. It waits for room in the window as long as ctx
// allows; the write itself blocks while the broker blocks publishers.
func (p *producer) Publish(ctx context.Context, m *msg.Message, done func(broker.Receipt, error)) error {
	if err := p.engine.refuseMessage(m); err != nil {
		return err
	}
	if err := p.reserve(ctx); err != nil {
		return notSent("publish", err)
	}
	err := p.publish(ctx, m, done)
	if err != nil {
		<-p.room
	}
	return err
}

// reserve takes a place in the window.
func (p *producer) reserve(ctx context.Context) error {
	select {
	case <-p.gone:
		return p.closed()
	default:
	}
	select {
	case p.room <- struct{}{}:
		return nil
	case <-p.gone:
		return p.closed()
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (p *producer) closed() error {
	return fmt.Errorf("rabbitmq: producer %s: %w", p.spec.Name, broker.ErrClosed)
}

func (p *producer) publish(ctx context.Context, m *msg.Message, done func(broker.Receipt, error)) error {
	to, err := p.target(ctx, m)
	if err != nil {
		return notSent("publish", err)
	}
	o, err := p.live(ctx)
	if err != nil {
		return notSent("publish", err)
	}
	envelope := p.seal(m)
	if p.spec.NoConfirms {
		return p.sendUnconfirmed(o, to, m, done)
	}
	return o.send(to, p.publishing(m), envelope, p.spec.Mandatory, done)
}

func (p *producer) sendUnconfirmed(o *outlet, to target, m *msg.Message, done func(broker.Receipt, error)) error {
	if _, err := o.channel.PublishWithDeferredConfirm(to.exchange, to.key, false, false, p.publishing(m)); err != nil {
		return unsent("publish", err)
	}
	p.answer(done, errUnasked)
	return nil
}

// answer gives the outcome to its owner and its place in the window to the next.
func (p *producer) answer(done func(broker.Receipt, error), err error) {
	p.answering.Lock()
	if !p.silent {
		done(broker.Receipt{Offset: -1}, err)
	}
	p.answering.Unlock()
	<-p.room
}

func (p *producer) notify(n broker.Notice) {
	p.answering.Lock()
	defer p.answering.Unlock()
	if !p.silent && p.spec.Notify != nil {
		p.spec.Notify(n)
	}
}

// Flush waits until the whole window is free.
func (p *producer) Flush(ctx context.Context) error {
	taken := 0
	defer func() {
		for range taken {
			<-p.room
		}
	}()
	for range cap(p.room) {
		if err := p.reserve(ctx); err != nil {
			return fmt.Errorf("rabbitmq: flush producer %s: %w", p.spec.Name, err)
		}
		taken++
	}
	return nil
}

// Begin answers ErrUnsupported: AMQP transactions are not built.
func (p *producer) Begin(context.Context) error { return unsupported("transactions") }

// Commit answers ErrUnsupported.
func (p *producer) Commit(context.Context, ...broker.OffsetCommit) error {
	return unsupported("transactions")
}

// Abort answers ErrUnsupported.
func (p *producer) Abort(context.Context) error { return unsupported("transactions") }

// Close flushes and leaves. What is unanswered when ctx ends is answered as unknown.
func (p *producer) Close(ctx context.Context) error {
	flushed := p.Flush(ctx)
	l, o, first := p.leave()
	if !first {
		return nil
	}
	if flushed != nil {
		l.cut()
		<-o.ended
		return flushed
	}
	err := l.close(ctx)
	<-o.ended
	return err
}

// Abandon cuts the socket. No completion and no notice comes after it.
func (p *producer) Abandon() {
	p.answering.Lock()
	p.silent = true
	p.answering.Unlock()
	if l, _, first := p.leave(); first && l != nil {
		l.cut()
	}
}

// leave ends the producer once and hands over what it had.
func (p *producer) leave() (l *link, o *outlet, first bool) {
	p.engine.clients.Leave(p)
	p.mu.Lock()
	defer p.mu.Unlock()
	first = !p.shut
	if first {
		p.shut = true
		close(p.gone)
	}
	return p.link, p.outlet, first
}
