// SPDX-License-Identifier: Apache-2.0

package sqs

import (
	"cmp"
	"context"
	"fmt"
	"sync"

	"github.com/seed-720a3c77/harness/broker"
	"github.com/seed-720a3c77/harness/msg"
)

const (
	// defaultInFlight bounds the unanswered publishes of a producer.
	defaultInFlight = 100
	// maxBatch and maxBatchBytes bound a batch request.
	// https://docs.aws.amazon.com/AWSSimpleQueueService/latest/SQSDeveloperGuide/quotas-messages.html
	maxBatch      = 10
	maxBatchBytes = 1 << 20
)

// producer hands each publish to the lane of its queue, which batches and sends.
type producer struct {
	engine *engine
	spec   broker.ProducerSpec
	link   *link
	lanes  map[string]*lane // of the owner alone
	// room holds a slot for each unanswered publish.
	room chan struct{}

	ending, dying sync.Once
	// quit is closed when no publish comes any more, gone when nobody waits for answers.
	quit, gone chan struct{}
}

// Producer opens a producer. It sends nothing yet.
func (e *engine) Producer(_ context.Context, spec broker.ProducerSpec) (broker.Producer, error) {
	switch {
	case spec.Acks != "" && spec.Acks != "all":
		return nil, unsupported("acks %s", spec.Acks)
	case spec.NoConfirms:
		return nil, unsupported("publishing without answers")
	case spec.Mandatory:
		return nil, unsupported("mandatory publishes")
	case spec.Idempotent:
		return nil, unsupported("an idempotent producer")
	case spec.TransactionID != "":
		return nil, unsupported("transactions")
	case spec.BatchMax > maxBatch:
		return nil, unsupported("batches of %d (at most %d)", spec.BatchMax, maxBatch)
	}
	if spec.BatchMax == 0 && spec.Linger > 0 {
		spec.BatchMax = maxBatch
	}
	spec.BatchMax = max(spec.BatchMax, 1)
	p := &producer{
		engine: e, spec: spec, lanes: map[string]*lane{},
		link: newLink(e.config, spec.Retries, cmp.Or(spec.Timeout, e.config.Timeout)),
		room: make(chan struct{}, cmp.Or(spec.InFlight, defaultInFlight)),
		quit: make(chan struct{}), gone: make(chan struct{}),
	}
	return p, e.clients.Enter(p)
}

// Publish waits for room and for nothing else; the first to a queue also looks its URL up.
func (p *producer) Publish(ctx context.Context, m *msg.Message, done func(broker.Receipt, error)) error {
	if over(p.quit) {
		return notSent("publish", broker.ErrClosed)
	}
	if err := p.engine.checkMessage(m); err != nil {
		return notSent("publish", err)
	}
	to, err := p.lane(ctx, m.To)
	if err != nil {
		return notSent("publish", err)
	}
	select {
	case p.room <- struct{}{}:
	case <-p.quit:
		return notSent("publish", broker.ErrClosed)
	case <-ctx.Done():
		return notSent("publish", ctx.Err())
	}
	to.in <- publish{p.engine.entryOf(p.spec.Run, m), done}
	return nil
}

func over(done <-chan struct{}) bool {
	select {
	case <-done:
		return true
	default:
		return false
	}
}

func (p *producer) lane(ctx context.Context, to string) (*lane, error) {
	if l := p.lanes[to]; l != nil {
		return l, nil
	}
	url, err := p.engine.url(ctx, to)
	if err != nil {
		return nil, err
	}
	// The lane's queue has room for all that is in flight: handing over never waits.
	l := &lane{producer: p, url: url, in: make(chan publish, cap(p.room))}
	p.lanes[to] = l
	go l.run()
	return l, nil
}

// answer completes one publish and makes room for the next.
func (p *producer) answer(one publish, receipt broker.Receipt, err error) {
	if !over(p.gone) {
		one.done(receipt, err)
	}
	<-p.room
}

// retried tells of the attempts that the client made by itself.
func (p *producer) retried(attempts int32, err error) {
	if p.spec.Notify == nil || over(p.gone) {
		return
	}
	for n := int32(2); n <= attempts; n++ {
		p.spec.Notify(broker.Notice{Kind: broker.Retried, Text: fmt.Sprintf("attempt %d of %d; final error: %v", n, attempts, err)})
	}
}

// Flush waits until no publish is unanswered. What lingers goes out when its time is over.
func (p *producer) Flush(ctx context.Context) error {
	taken := 0
	defer func() {
		for range taken {
			<-p.room
		}
	}()
	for ; taken < cap(p.room); taken++ {
		select {
		case p.room <- struct{}{}:
		case <-p.gone:
			return fmt.Errorf("sqs: flush: %w", broker.ErrClosed)
		case <-ctx.Done():
			return fmt.Errorf("sqs: flush: %w", ctx.Err())
		}
	}
	return nil
}

// Close sends what lingers at once and waits for every answer.
func (p *producer) Close(ctx context.Context) error {
	p.end()
	if over(p.gone) {
		return nil
	}
	err := p.Flush(ctx)
	p.link.close()
	p.engine.clients.Leave(p)
	return err
}

func (p *producer) end() { p.ending.Do(func() { close(p.quit) }) }

// Abandon cuts the sockets: requests under way may be applied or not, and nobody hears.
func (p *producer) Abandon() {
	p.dying.Do(func() { close(p.gone) })
	p.end()
	p.link.sever()
	p.engine.clients.Leave(p)
}

// Begin, Commit and Abort: SQS has no transactions.
func (p *producer) Begin(context.Context) error { return unsupported("transactions") }

// Commit is unsupported.
func (p *producer) Commit(context.Context, ...broker.OffsetCommit) error {
	return unsupported("transactions")
}

// Abort is unsupported.
func (p *producer) Abort(context.Context) error { return unsupported("transactions") }
