// SPDX-License-Identifier: Apache-2.0

package inmem

import (
	"cmp"

	"github.com/seed-720a3c77/harness/contract"
)

// giveBack makes an unacked message ready again. Every way back counts towards the limit.
func (q *pushQueue) giveBack(p *pushed, where contract.Place) {
	p.returns++
	if q.ttl.over(p) {
		q.bury(p, "expired")
		return
	}
	if q.usedUp(p) {
		q.bury(p, "delivery_limit")
		return
	}
	q.m.tell(OracleEvent{Kind: Returned, ID: p.id, Where: q.name, Count: p.returns})
	q.ready.back(p, where)
	q.ttl.watch()
}

// bury dead-letters a message, or drops it where there is no way to a dead-letter queue.
// Nobody is told: https://www.rabbitmq.com/docs/dlx
func (q *pushQueue) bury(p *pushed, reason string) {
	carried := 0
	if q.m.rules.carriesCount && reason == "rejected" {
		carried = p.carried + 1
	}
	content, key, deliveries := p.payload, p.route, p.returns
	q.of.give(p)
	if q.m.strikes(DeadLetterLost, content.id) {
		q.m.tell(OracleEvent{Kind: Dropped, ID: content.id, Where: q.name, Why: string(DeadLetterLost)})
		return
	}
	if q.m.strikes(DeadLetterTwice, content.id) {
		q.of.routeDead(content, q.deadLetter, key, carried)
	}
	if q.deadLetter != "" && q.of.routeDead(content, q.deadLetter, cmp.Or(key, q.name), carried) {
		q.m.tell(OracleEvent{Kind: DeadLettered, ID: content.id, Where: q.name, Count: deliveries, Why: reason})
		return
	}
	q.m.tell(OracleEvent{Kind: Dropped, ID: content.id, Where: q.name, Count: deliveries, Why: reason})
}

// routeDead is route for a dead letter, which keeps a count of the hops it made.
func (qs *pushQueues) routeDead(content payload, to, key string, carried int) bool {
	if q := qs.queues[to]; q != nil {
		q.store(content, key, 0, "dead-letter").carried = carried
		q.pump()
		return true
	}
	return qs.route(content, to, key, 0, "dead-letter") > 0
}
