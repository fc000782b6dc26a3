// SPDX-License-Identifier: Apache-2.0

package inmem

import "github.com/seed-720a3c77/harness/msg"

// hides tells whether a record is not shown after the end of its transaction, past the
// planted bugs.
func (t *transaction) hides(r txnRecord, committed bool) bool {
	if committed {
		return t.strikes(LosePart, r)
	}
	return !t.strikes(ReadAborted, r)
}

// strikes is Machine.strikes for a record.
func (t *transaction) strikes(name BugName, r txnRecord) bool {
	m := t.logs.m
	return m.bugs != nil && m.strikes(name, r.p.records.at(r.offset).id)
}

// dropped tells whether a bug loses all records of a transaction that is committed.
func (t *transaction) dropped() bool {
	return len(t.records) > 0 && t.strikes(PositionsAlone, t.records[0])
}

// fences tells whether a record of a producer is refused for its epoch.
func (t *transaction) fences(p *producer, id msg.ID) bool {
	return p.epoch != t.epoch && !t.logs.m.strikes(ZombieProducer, id)
}
