// SPDX-License-Identifier: Apache-2.0

package inmem

import (
	"maps"
	"slices"
)

// exchange routes and keeps nothing.
type exchange struct{ bindings []binding }

// binding leads to a queue: for one routing key, or for all if that is empty.
type binding struct{ queue, key string }

func newExchange(bindings map[string]string) *exchange {
	x := &exchange{}
	for _, queue := range slices.Sorted(maps.Keys(bindings)) {
		x.bindings = append(x.bindings, binding{queue, bindings[queue]})
	}
	return x
}

// route stores a copy in every queue that the destination leads to, and returns how many
// did. A queue is also reached by its own name, as through the default exchange.
func (qs *pushQueues) route(content payload, to, key string, from Session, why string) int {
	if q := qs.queues[to]; q != nil {
		q.store(content, key, from, why)
		q.pump()
		return 1
	}
	x := qs.exchanges[to]
	if x == nil {
		return 0
	}
	stored := 0
	for _, b := range x.bindings {
		q := qs.queues[b.queue]
		if q == nil || b.key != "" && b.key != key || qs.m.strikes(MissBinding, content.id) {
			continue
		}
		q.store(content, key, from, why)
		q.pump()
		stored++
	}
	return stored
}
