// SPDX-License-Identifier: Apache-2.0

package inmem

import (
	"time"

	"github.com/seed-720a3c77/harness/msg"
)

// dedup is the memory of a FIFO queue: for a window from the first send with a
// deduplication id, another one with it is accepted and not stored, even if the first
// message is gone or was of another group.
type dedup struct {
	window time.Duration
	seen   map[dedupKey]string // to the broker's id of the stored message
	order  ring[dedupEntry]
}

// dedupKey is a deduplication id: a text, or the text of a message's id, which is not
// written out.
type dedupKey struct {
	text string
	id   msg.ID
}

type dedupEntry struct {
	key dedupKey
	end time.Duration
}

func newDedup(window time.Duration) *dedup {
	return &dedup{window: window, seen: map[dedupKey]string{}}
}

func keyOf(one *msg.Message) dedupKey {
	if one.Dedup == "" {
		return dedupKey{id: one.ID}
	}
	if id, err := msg.ParseID(one.Dedup); err == nil {
		return dedupKey{id: id}
	}
	return dedupKey{text: one.Dedup}
}

// forget drops the ids whose window is over.
func (d *dedup) forget(now time.Duration) {
	for d.order.len() > 0 && d.order.first().end <= now {
		delete(d.seen, d.order.pop().key)
	}
}

func (d *dedup) remember(key dedupKey, brokerID string, now time.Duration) {
	d.seen[key] = brokerID
	d.order.push(dedupEntry{key, now + d.window})
}

// sendOnce stores a message unless its deduplication id was seen in the window. The
// answer is the same: the broker's id of the one that is stored.
func (q *leaseQueue) sendOnce(p *producer, one *msg.Message) string {
	q.dedup.forget(q.m.now)
	key := keyOf(one)
	if id, seen := q.dedup.seen[key]; seen && !q.m.strikes(DedupForgotten, one.ID) || !seen && q.m.strikes(DedupSwallows, one.ID) {
		q.m.tell(OracleEvent{Kind: Swallowed, ID: one.ID, Where: q.name, Session: p.session})
		return id
	}
	l := q.send(p, one)
	q.dedup.remember(key, l.brokerID, q.m.now)
	return l.brokerID
}
