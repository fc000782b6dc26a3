// SPDX-License-Identifier: Apache-2.0

package inmem

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/seed-720a3c77/harness/broker"
	"github.com/seed-720a3c77/harness/contract"
	"github.com/seed-720a3c77/harness/msg"
)

// transaction is what the coordinator knows of one transactional id: the epoch of its newest
// producer, and the transaction that is open, if one is.
//
//	none --begin--> open --commit, abort--> none
//	                 |--timeout, or a newer producer of the id--> aborted, epoch+1
//
// https://kafka.apache.org/documentation/#semantics
type transaction struct {
	logs *logs
	// epoch is that of the newest producer: those with a lower one are fenced.
	epoch int32
	open  bool
	// from is the number of its first message. An attempt of one before it is late, and
	// belongs to a transaction that has ended (KIP-890).
	from    uint64
	records []txnRecord
	// end aborts it when it has been open for too long.
	end deadline
}

// txnRecord is a record of an open transaction.
type txnRecord struct {
	p      *partition
	offset int64
}

// Codes of the coordinator, as in the Kafka protocol.
const (
	invalidEpoch   = "KError 47"
	producerFenced = "KError 90"
)

var (
	errNoTransaction = errors.New("no transaction is open")
	errInTransaction = errors.New("a transaction is open already")
	errFenced        = fmt.Errorf("a newer producer of this transactional id, or a timeout: %w", broker.ErrStale)
	errNoID          = fmt.Errorf("%w without a transaction id", broker.ErrUnsupported)
)

// initTransactions gives a new producer of a transactional id its epoch. Older ones are
// fenced, and what they left open is aborted.
func (l *logs) initTransactions(p *producer) {
	t := l.transactions[p.spec.TransactionID]
	if t == nil {
		t = &transaction{logs: l}
		t.end.of = t
		l.transactions[p.spec.TransactionID] = t
	}
	t.fence()
	p.transaction, p.epoch = t, t.epoch
}

// fence ends what is open, and whoever opened it.
func (t *transaction) fence() {
	if t.open {
		t.finish(false)
	}
	t.epoch++
}

// expire aborts a transaction that has been open for too long.
func (t *transaction) expire(time.Duration) { t.fence() }

// admits refuses a record of a fenced producer, one outside of a transaction, and one that is
// late.
func (t *transaction) admits(p *producer, number uint64, id msg.ID) error {
	switch {
	case t.fences(p, id):
		return refused("publish", invalidEpoch, errFenced)
	case !t.open:
		return refused("publish", "", errNoTransaction)
	case p.epoch == t.epoch && number < t.from:
		return refused("publish", invalidEpoch, errFenced)
	}
	return nil
}

// stored makes a record one of the transaction. The time runs from the first of them.
func (t *transaction) stored(p *partition, offset int64) {
	m := t.logs.m
	if len(t.records) == 0 {
		m.agenda.arm(&t.end, m.now+m.rules.transaction)
	}
	r := txnRecord{p, offset}
	t.records = append(t.records, r)
	if !t.strikes(DirtyRead, r) {
		p.opened(t, offset)
	}
}

// finish shows the records to everybody, or hides them from those who read what is committed,
// and writes a marker into each partition.
func (t *transaction) finish(commit bool) {
	t.logs.m.agenda.disarm(&t.end)
	t.open = false
	var touched []*partition
	for _, r := range t.records {
		if t.hides(r, commit) {
			r.p.hide(r.offset, aborted)
		}
		if !slices.Contains(touched, r.p) {
			touched = append(touched, r.p)
		}
	}
	t.records = t.records[:0]
	for _, p := range touched {
		p.ended(t)
	}
}

// Begin opens a transaction of a producer; from is the number that its next message has.
func (m *Machine) Begin(now time.Duration, s Session, from uint64) error {
	p, err := m.inTransaction(now, s, "begin")
	switch {
	case err != nil:
		return err
	case p.transaction.open:
		return misplaced("begin", errInTransaction)
	}
	p.transaction.open, p.transaction.from = true, from
	return nil
}

// Commit ends a producer's transaction, with positions of groups inside it: all of it holds,
// or after an error nothing. The group does not fence them.
func (m *Machine) Commit(now time.Duration, s Session, offsets []broker.OffsetCommit) error {
	p, err := m.inTransaction(now, s, "commit")
	switch {
	case err != nil:
		return err
	case !p.transaction.open:
		return misplaced("commit", errNoTransaction)
	}
	return p.transaction.commit(offsets)
}

func (t *transaction) commit(offsets []broker.OffsetCommit) error {
	for _, o := range offsets {
		if topic := t.logs.topics[o.Destination]; topic == nil || o.Partition < 0 || int(o.Partition) >= len(topic.partitions) {
			return refused("commit", unknownPartition, notFound(o.Destination))
		}
	}
	t.finish(!t.dropped())
	t.logs.commitAll(offsets)
	return nil
}

// commitAll moves positions of groups, which need not have members.
func (l *logs) commitAll(offsets []broker.OffsetCommit) {
	for _, o := range offsets {
		l.topics[o.Destination].groupNamed(o.Group).commit(o.Partition, o.Next)
	}
}

// Abort ends a producer's transaction as if it had not been.
func (m *Machine) Abort(now time.Duration, s Session) error {
	p, err := m.inTransaction(now, s, "abort")
	switch {
	case err != nil:
		return err
	case !p.transaction.open:
		return misplaced("abort", errNoTransaction)
	}
	p.transaction.finish(false)
	return nil
}

// inTransaction is a producer that has transactions and is not fenced.
func (m *Machine) inTransaction(now time.Duration, s Session, op string) (*producer, error) {
	m.begin(now)
	p := m.producers[s]
	switch {
	case p == nil:
		return nil, closed(op, "")
	case p.transaction == nil:
		return nil, refused(op, "", errNoID)
	case p.epoch == p.transaction.epoch:
		return p, nil
	case op == "abort":
		return nil, refused(op, producerFenced, errFenced)
	default:
		return nil, refused(op, invalidEpoch, errFenced)
	}
}

// misplaced is the client's own answer to a call out of turn: nothing was sent.
func misplaced(op string, why error) error {
	return &broker.Error{Op: op, Answer: contract.Closed, Class: contract.Rejected, Err: why}
}
