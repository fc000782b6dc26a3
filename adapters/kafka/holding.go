// SPDX-License-Identifier: Apache-2.0

package kafka

import (
	"context"
	"sync"
	"sync/atomic"

	"github.com/IBM/sarama"
)

// stream is one uninterrupted reading of a partition: from a claim or a seek to the end
// of the claim or the next seek.
type stream struct {
	holding *holding
	over    atomic.Bool   // nothing of it is handed out any more
	stopped chan struct{} // closed with over
	once    sync.Once
	// mark is the highest position that was committed through it, under the consumer's lock.
	mark int64
}

func newStream(h *holding) *stream { return &stream{holding: h, stopped: make(chan struct{})} }

func (s *stream) stop() {
	s.once.Do(func() {
		s.over.Store(true)
		close(s.stopped)
	})
}

// item is one record in the consumer's buffer.
type item struct {
	record *sarama.ConsumerMessage
	from   *stream
}

// holding is a partition that the consumer has: through a claim of its group's session,
// through a reader of its own, or, after a seek, through both.
type holding struct {
	consumer  *consumer
	partition int32
	session   sarama.ConsumerGroupSession // nil without a group
	since     int32                       // the generation that assigned it
	revoked   chan struct{}               // closed when a cooperative assignment takes it away
	taken     sync.Once
	moved     chan struct{} // has one element when current or reader were replaced

	// Under the consumer's lock.
	current *stream
	reader  sarama.PartitionConsumer // nil while the claim is read
}

func (c *consumer) newHolding(partition int32, session sarama.ConsumerGroupSession) *holding {
	h := &holding{
		consumer: c, partition: partition, session: session, since: noGeneration,
		revoked: make(chan struct{}), moved: make(chan struct{}, 1),
	}
	if session != nil {
		h.since = session.GenerationID()
	}
	h.current = newStream(h)
	return h
}

// noGeneration is that of a reader without a group.
const noGeneration int32 = -1

// generation is the current one: a cooperative session outlives several.
func (h *holding) generation() int32 {
	if h.session == nil {
		return noGeneration
	}
	return h.session.GenerationID()
}

func (h *holding) member() string {
	if h.session == nil {
		return ""
	}
	return h.session.MemberID()
}

func (h *holding) take() { h.taken.Do(func() { close(h.revoked) }) }

// read moves records into the consumer's buffer until the partition is lost. It never
// waits for the caller longer than it holds the partition.
func (h *holding) read(ctx context.Context, claimed <-chan *sarama.ConsumerMessage) {
	for {
		current, own := h.source()
		select {
		case record, open := <-claimed:
			if !open {
				return
			}
			if own == nil {
				h.push(ctx, current, record)
			}
		case record, open := <-own:
			if !open && !current.over.Load() {
				return
			}
			h.push(ctx, current, record)
		case <-h.moved:
		case <-h.revoked:
			drop(ctx, claimed)
			return
		case <-ctx.Done():
			return
		}
	}
}

func (h *holding) source() (*stream, <-chan *sarama.ConsumerMessage) {
	h.consumer.mu.Lock()
	defer h.consumer.mu.Unlock()
	if h.reader == nil {
		return h.current, nil
	}
	return h.current, h.reader.Messages()
}

func (h *holding) push(ctx context.Context, current *stream, record *sarama.ConsumerMessage) {
	if current.over.Load() {
		return
	}
	select {
	case h.consumer.buffer <- item{record, current}:
	case <-current.stopped:
	case <-h.revoked:
	case <-ctx.Done():
	}
}

// drop empties a claim until the client closes it: returning earlier would end the
// whole session.
func drop(ctx context.Context, claimed <-chan *sarama.ConsumerMessage) {
	for {
		select {
		case _, open := <-claimed:
			if !open {
				return
			}
		case <-ctx.Done():
			return
		}
	}
}
