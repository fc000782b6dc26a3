// SPDX-License-Identifier: Apache-2.0

package inmem

import (
	"time"

	"github.com/seed-720a3c77/harness/broker"
	"github.com/seed-720a3c77/harness/msg"
)

// producer is what the broker and the client remember of one producer.
type producer struct {
	session Session
	spec    broker.ProducerSpec
	writer  writer
	// keyless counts the messages without a key, which go round the partitions.
	keyless uint32
	recent  *recent // idempotent producers only
	// transaction and epoch are of those with a transactional id.
	transaction *transaction
	epoch       int32
}

// OpenProducer starts a producer.
func (m *Machine) OpenProducer(now time.Duration, spec broker.ProducerSpec) (Session, error) {
	m.begin(now)
	if err := m.checkProducer(spec); err != nil {
		return 0, err
	}
	s := Session(len(m.producers))
	p := &producer{session: s, spec: spec, writer: writer{run: spec.Run}}
	if spec.Idempotent || spec.TransactionID != "" { // a transaction has no other mode
		p.recent = new(recent)
	}
	if l, ok := m.model.(*logs); ok && spec.TransactionID != "" {
		l.initTransactions(p)
	}
	m.producers = append(m.producers, p)
	return s, nil
}

// CloseProducer ends a producer.
func (m *Machine) CloseProducer(now time.Duration, s Session) {
	m.begin(now)
	m.producers[s] = nil
}

// Publish stores one attempt of a message and returns the broker's answer. number is the
// client's own sequence number of the message, dense from 0 for each session: a second
// attempt of an idempotent producer has the same one and is not stored again. The
// message may be reused afterwards.
func (m *Machine) Publish(now time.Duration, s Session, number uint64, one *msg.Message) (broker.Receipt, error) {
	m.begin(now)
	p := m.producers[s]
	if p == nil {
		return broker.Receipt{}, broker.ErrClosed
	}
	receipt, err := m.publish(p, number, one)
	if p.spec.Acks == "0" || p.spec.NoConfirms {
		// A refusal is not heard either.
		return broker.Receipt{Offset: -1}, errUnproven
	}
	return receipt, err
}

func (m *Machine) publish(p *producer, number uint64, one *msg.Message) (broker.Receipt, error) {
	if err := m.checkMessage(one); err != nil {
		return broker.Receipt{Offset: -1}, err
	}
	if m.bugs != nil {
		return m.publishWithBugs(p, number, one)
	}
	return m.model.publish(p, number, one)
}

// recent remembers where an idempotent producer's last messages were stored.
type recent struct {
	numbers  [recentSize]uint64 // plus one; zero is none
	receipts [recentSize]broker.Receipt
}

// recentSize is more than a client has in flight.
const recentSize = 64

func (r *recent) find(number uint64) (broker.Receipt, bool) {
	i := number % recentSize
	return r.receipts[i], r.numbers[i] == number+1
}

func (r *recent) keep(number uint64, receipt broker.Receipt) {
	i := number % recentSize
	r.numbers[i], r.receipts[i] = number+1, receipt
}
