// SPDX-License-Identifier: Apache-2.0

package kafka

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/IBM/sarama"

	"github.com/seed-720a3c77/harness/broker"
	"github.com/seed-720a3c77/harness/contract"
	"github.com/seed-720a3c77/harness/msg"
)

// producer publishes through an asynchronous client of its own. Completions run on one
// goroutine, one at a time.
type producer struct {
	engine  *engine
	spec    broker.ProducerSpec
	sockets *sockets
	notices notices
	client  sarama.Client
	async   sarama.AsyncProducer

	// free holds what is not in flight: the window and the pool in one.
	free    chan *pending
	retried atomic.Uint64

	sending   sync.Mutex    // held while a record is handed to the client
	closed    bool          // under sending
	vanished  chan struct{} // closed by Abandon
	vanish    sync.Once
	collected chan struct{} // closed when the client has nothing more to say
}

// Producer opens a client of its own for a specification.
func (e *engine) Producer(ctx context.Context, spec broker.ProducerSpec) (broker.Producer, error) {
	p, err := e.newProducer(ctx, spec)
	if err != nil {
		return nil, fmt.Errorf("kafka: producer %s: %w", spec.Name, err)
	}
	return p, nil
}

func (e *engine) newProducer(ctx context.Context, spec broker.ProducerSpec) (*producer, error) {
	if spec.InFlight == 0 {
		spec.InFlight = defaultInFlight
	}
	if spec.TransactionID != "" { // a transaction has no other mode
		spec.Idempotent, spec.Retries = true, max(spec.Retries, 1)
	}
	p := &producer{
		engine: e, spec: spec, sockets: newSockets(e.config.Dial, e.config.Timeout),
		free: make(chan *pending, spec.InFlight), vanished: make(chan struct{}), collected: make(chan struct{}),
		notices: notices{hear: spec.Notify},
	}
	settings, err := e.producerSettings(spec, p.sockets)
	if err != nil {
		return nil, err
	}
	settings.Producer.Retry.BackoffFunc = p.retry
	if err := awaitDone(ctx, func() error { return p.connect(settings) }); err != nil {
		p.sockets.cut()
		return nil, reached(err)
	}
	for range spec.InFlight {
		p.free <- new(pending)
	}
	go p.collect()
	if err := e.clients.Enter(p); err != nil {
		p.Abandon()
		return nil, err
	}
	e.tell(producerTells(settings, spec.InFlight))
	p.notices.tell(broker.Notice{Kind: broker.SessionOpen, Text: spec.Name})
	return p, nil
}

func (p *producer) connect(settings *sarama.Config) (err error) {
	if p.client, err = p.engine.client(settings); err != nil {
		return err
	}
	if p.async, err = sarama.NewAsyncProducerFromClient(p.client); err != nil {
		p.client.Close()
	}
	return err
}

// Publish hands the message over. It waits for room in the window and in the client.
func (p *producer) Publish(ctx context.Context, m *msg.Message, done func(broker.Receipt, error)) error {
	if err := unsupported(m); err != nil {
		return refuse(contract.Refused, err)
	}
	p.sending.Lock()
	defer p.sending.Unlock()
	if p.closed || gone(p.vanished) {
		return refuse(contract.Closed, broker.ErrClosed)
	}
	next, err := p.room(ctx)
	if err != nil {
		return err
	}
	next.fill(p.spec.Run, m, done)
	next.retried = p.retried.Load()
	select {
	case p.async.Input() <- &next.record:
		return nil
	case <-ctx.Done():
		p.free <- next
		return refuse(contract.Timeout, ctx.Err())
	case <-p.vanished:
		return refuse(contract.Closed, broker.ErrClosed)
	}
}

// room waits for a place in the window.
func (p *producer) room(ctx context.Context) (*pending, error) {
	select {
	case next := <-p.free:
		return next, nil
	default:
	}
	select {
	case next := <-p.free:
		return next, nil
	case <-ctx.Done():
		return nil, refuse(contract.Timeout, ctx.Err())
	case <-p.vanished:
		return nil, refuse(contract.Closed, broker.ErrClosed)
	}
}

// unsupported refuses what a log does not have.
func unsupported(m *msg.Message) error {
	switch {
	case m.Route != "":
		return fmt.Errorf("a routing key: %w", broker.ErrUnsupported)
	case m.Dedup != "":
		return fmt.Errorf("a deduplication id: %w", broker.ErrUnsupported)
	case m.Delay != 0:
		return fmt.Errorf("a delay: %w", broker.ErrUnsupported)
	case m.TTL != 0:
		return fmt.Errorf("a time to live: %w", broker.ErrUnsupported)
	case m.Priority != 0:
		return fmt.Errorf("a priority: %w", broker.ErrUnsupported)
	case m.Partition < msg.AnyPartition:
		return fmt.Errorf("partition %d: %w", m.Partition, broker.ErrUnsupported)
	}
	return nil
}

// refuse is the error of a publish that never left.
func refuse(answer contract.Answer, err error) error {
	return &broker.Error{Op: "publish", Answer: answer, Class: contract.Rejected, Err: err}
}

// errAccepted is what acks=0 proves: nothing but that the record was handed over.
var errAccepted = &broker.Error{Op: "publish", Class: contract.AcceptedOnly, Code: "acks=0", Err: errors.New("no answer was asked for")}

// collect runs completions until the client has none left.
func (p *producer) collect() {
	defer close(p.collected)
	successes, failures := p.async.Successes(), p.async.Errors()
	for successes != nil || failures != nil {
		select {
		case record, ok := <-successes:
			if !ok {
				successes = nil
				continue
			}
			p.succeed(record.Metadata.(*pending))
		case failure, ok := <-failures:
			if !ok {
				failures = nil
				continue
			}
			p.fail(failure.Msg.Metadata.(*pending), failure.Err)
		}
	}
}

func (p *producer) succeed(record *pending) {
	receipt := broker.Receipt{Partition: record.record.Partition, Offset: record.record.Offset}
	if p.hidden(record) {
		receipt.Copies = 1 + p.spec.Retries
	}
	if p.spec.Acks == "0" {
		p.complete(record, receipt, errAccepted)
		return
	}
	p.complete(record, receipt, nil)
}

func (p *producer) fail(record *pending, err error) {
	receipt := broker.Receipt{Partition: record.record.Partition, Offset: noOffset}
	p.complete(record, receipt, publishError(err, p.hidden(record)))
}

// hidden tells whether the client retried anything since it got the record, and so
// perhaps this record: more it does not tell.
func (p *producer) hidden(record *pending) bool {
	return p.spec.Retries > 0 && record.retried != p.retried.Load()
}

func (p *producer) complete(record *pending, receipt broker.Receipt, err error) {
	if !gone(p.vanished) {
		record.done(receipt, err)
	}
	record.done = nil
	p.free <- record
}

// retry is the client's question how long to wait before another attempt.
func (p *producer) retry(attempt, most int) time.Duration {
	p.retried.Add(1)
	if p.spec.Retries > 0 {
		p.notices.tell(broker.Notice{Kind: broker.Retried, Text: fmt.Sprintf("attempt %d of %d", attempt+1, most+1)})
	}
	return retryBackoff
}

// Flush waits until the whole window is free again. The client has no way to send what
// lingers at once: it takes up to a linger longer.
func (p *producer) Flush(ctx context.Context) error {
	p.sending.Lock()
	defer p.sending.Unlock()
	if p.closed || gone(p.vanished) {
		return fmt.Errorf("kafka: flush: %w", broker.ErrClosed)
	}
	return p.flush(ctx)
}

func (p *producer) flush(ctx context.Context) error {
	idle := make([]*pending, 0, p.spec.InFlight)
	defer func() {
		for _, one := range idle {
			p.free <- one
		}
	}()
	for len(idle) < p.spec.InFlight {
		one, err := p.room(ctx)
		if err != nil {
			return fmt.Errorf("kafka: flush with %d unanswered: %w", p.spec.InFlight-len(idle), errors.Unwrap(err))
		}
		idle = append(idle, one)
	}
	return nil
}

// Close flushes and leaves. When the context ends first, the rest is abandoned.
func (p *producer) Close(ctx context.Context) error {
	p.sending.Lock()
	if p.closed {
		p.sending.Unlock()
		return nil
	}
	p.closed = true
	p.sending.Unlock()
	p.async.AsyncClose()
	select {
	case <-p.collected:
	case <-ctx.Done():
		p.Abandon()
		return fmt.Errorf("kafka: close of producer %s: %w", p.spec.Name, ctx.Err())
	}
	p.notices.tell(broker.Notice{Kind: broker.SessionClose, Text: "closed"})
	p.vanish.Do(func() { close(p.vanished) })
	p.engine.clients.Leave(p)
	return awaitDone(ctx, p.client.Close)
}

// Abandon cuts the sockets. The client notices, fails what it holds, and ends in the
// background; none of its answers is delivered, except one that is being delivered now.
func (p *producer) Abandon() {
	p.notices.silent.Store(true)
	p.vanish.Do(func() {
		close(p.vanished)
		p.sockets.cut()
		p.engine.clients.Leave(p)
		go p.bury()
	})
}

// bury lets the client end. Its sockets are gone, so nothing it does on its way is seen.
func (p *producer) bury() {
	p.sending.Lock() // a publish that is under way has seen that the sockets are gone
	closed := p.closed
	p.closed = true
	p.sending.Unlock()
	if !closed {
		p.async.AsyncClose()
	}
	<-p.collected
	p.client.Close()
}
