// SPDX-License-Identifier: Apache-2.0

package inmem

import (
	"bytes"
	"errors"

	"github.com/seed-720a3c77/harness/broker"
	"github.com/seed-720a3c77/harness/msg"
)

// nowhere is added to the sequence number of a message that nobody sent.
const nowhere = 1 << 40

var errPlanted = errors.New("refused by a planted bug")

// publishWithBugs is the way of a message past the planted bugs.
func (m *Machine) publishWithBugs(p *producer, number uint64, one *msg.Message) (broker.Receipt, error) {
	if m.strikes(LoseAcked, one.ID) {
		m.tell(OracleEvent{Kind: Dropped, ID: one.ID, Where: one.To, Session: p.session, Why: string(LoseAcked)})
		return broker.Receipt{Offset: -1}, nil
	}
	stored := *one
	if m.strikes(CorruptBody, one.ID) {
		m.corruptNext(p, &stored)
	}
	receipt, err := m.model.publish(p, number, &stored)
	if err != nil {
		return receipt, err
	}
	if m.strikes(StoreTwice, one.ID) {
		m.storeAgain(p, number, stored)
	}
	if m.strikes(FromNowhere, one.ID) {
		stored.ID.Seq += nowhere
		m.storeAgain(p, number, stored)
	}
	if m.strikes(WrongReceipt, one.ID) {
		receipt.Offset = max(0, receipt.Offset-1)
	}
	if m.strikes(StoreRefused, one.ID) {
		return broker.Receipt{Offset: -1}, refused("publish", "", errPlanted)
	}
	return receipt, nil
}

// storeAgain stores another copy, past what would swallow it.
func (m *Machine) storeAgain(p *producer, number uint64, one msg.Message) {
	again := *p
	again.recent = nil
	one.Dedup += string(StoreTwice)
	// What the broker says to it is heard by nobody.
	_, _ = m.model.publish(&again, number, &one)
}

// corruptNext makes the body differ from the checksum that the writer has of it.
func (m *Machine) corruptNext(p *producer, one *msg.Message) {
	p.writer.payload(one)
	body := bytes.Clone(one.Body)
	if len(body) == 0 {
		body = []byte{0}
	}
	body[len(body)-1] ^= 1
	one.Body = body
	p.writer.last = body
}
