// SPDX-License-Identifier: Apache-2.0

package brokertest

import (
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/seed-720a3c77/harness/broker"
	"github.com/seed-720a3c77/harness/contract"
	"github.com/seed-720a3c77/harness/msg"
)

// sender is a producer and the answers it got.
type sender struct {
	broker.Producer
	p      *probe
	number uint32
	seq    uint64

	mu      sync.Mutex // completions of a real client come from its own goroutines
	answers map[msg.ID][]answer
}

type answer struct {
	receipt broker.Receipt
	err     error
}

func (p *probe) producerSpec() broker.ProducerSpec {
	return broker.ProducerSpec{Name: p.name("producer"), Run: run}
}

func (p *probe) sender() *sender {
	p.r.Helper()
	return p.senderWith(p.producerSpec())
}

func (p *probe) senderWith(spec broker.ProducerSpec) *sender {
	p.r.Helper()
	producer, err := p.Engine.Producer(p.ctx, spec)
	p.must(err, "open a producer")
	p.opened = append(p.opened, producer)
	return &sender{Producer: producer, p: p, number: uint32(p.serial), answers: map[msg.ID][]answer{}}
}

// refusesProducer wants a producer to be unsupported.
func (p *probe) refusesProducer(what string, change func(*broker.ProducerSpec)) {
	p.r.Helper()
	spec := p.producerSpec()
	change(&spec)
	producer, err := p.Engine.Producer(p.ctx, spec)
	p.refuses(err, "producer with "+what)
	if err == nil {
		producer.Abandon()
	}
}

// next makes the sender's next message.
func (s *sender) next(to, key string) *msg.Message {
	m := &msg.Message{
		To: to, ID: msg.ID{Producer: s.number, Seq: s.seq}, Attempt: 1, Partition: msg.AnyPartition,
		Intended: time.Duration(s.seq+1) * time.Millisecond, Key: key, Body: fmt.Appendf(nil, "body %d", s.seq),
	}
	s.seq++
	return m
}

// try publishes without waiting. Its error is the one that Publish returned.
func (s *sender) try(m *msg.Message) error {
	return s.Publish(s.p.ctx, m, func(receipt broker.Receipt, err error) {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.answers[m.ID] = append(s.answers[m.ID], answer{receipt, err})
	})
}

// answersOf are the completions of one message so far.
func (s *sender) answersOf(id msg.ID) []answer {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.answers[id])
}

// one publishes a message, waits for its answer and returns it.
func (s *sender) one(m *msg.Message) answer {
	s.p.r.Helper()
	if err := s.try(m); err != nil {
		return answer{err: err}
	}
	s.p.must(s.Flush(s.p.ctx), "flush")
	got := s.answersOf(m.ID)
	if len(got) != 1 {
		s.p.fatalf("%v: %d completions after a flush, want exactly 1", m.ID, len(got))
	}
	return got[0]
}

// sent publishes a message and wants the answer that the profile promises.
func (s *sender) sent(m *msg.Message) broker.Receipt {
	s.p.r.Helper()
	got := s.one(m)
	s.p.must(got.err, fmt.Sprintf("publish %v", m.ID))
	return got.receipt
}

// send publishes n messages of one key, one after the other.
func (s *sender) send(to string, n int) []*msg.Message {
	s.p.r.Helper()
	all := make([]*msg.Message, n)
	for i := range all {
		all[i] = s.next(to, "k")
		s.sent(all[i])
	}
	return all
}

// refusesPublish wants a message to be unsupported, at once or in its answer.
func (p *probe) refusesPublish(what string, change func(*msg.Message)) {
	p.r.Helper()
	s := p.sender()
	m := s.next(p.declare(broker.Destination{}), "k")
	change(m)
	got := s.one(m)
	p.refuses(got.err, "publish with "+what)
	if _, class := broker.Classify(got.err, p.profile.Publish); class != contract.Rejected {
		p.errorf("publish with %s: class %v, want rejected", what, class)
	}
}

func idsOf(messages []*msg.Message) []msg.ID {
	ids := make([]msg.ID, len(messages))
	for i, m := range messages {
		ids[i] = m.ID
	}
	return ids
}
