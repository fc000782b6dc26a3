// SPDX-License-Identifier: Apache-2.0

package faults

import (
	"bytes"
	"strings"
	"time"

	"github.com/seed-720a3c77/harness/broker"
)

// Again says when and to whom a delivery is given once more.
type Again struct {
	// After is how much later; 0 is at the next receive.
	After time.Duration
	// To is a worker or group; "" is any other worker of the queue than the first.
	To string
}

// given is a stored message that will be handed out once more.
type given struct {
	delivery broker.Delivery
	due      time.Duration
	first    string // who had it
	to       string
}

// keep remembers a delivery for another time.
func (r *Requests) keep(c *consumer, again *Again, d *broker.Delivery) {
	g := given{delivery: *d, due: r.clock.Now() + again.After, first: WorkerOf(c.spec.Name), to: again.To}
	g.delivery.Body, g.delivery.Injected = bytes.Clone(d.Body), true
	r.mu.Lock()
	r.copies = append(r.copies, g)
	r.mu.Unlock()
	r.watched.Add(1)
}

// give fills into with what is due for a consumer.
func (r *Requests) give(c *consumer, into []broker.Delivery) (n int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	now, kept := r.clock.Now(), r.copies[:0]
	for _, g := range r.copies {
		if n == len(into) || g.due > now || !g.isFor(c) {
			kept = append(kept, g)
			continue
		}
		into[n] = g.delivery
		n++
	}
	r.copies = kept
	r.watched.Add(int32(-n))
	return n
}

func (g *given) isFor(c *consumer) bool {
	if g.delivery.Source != c.spec.From {
		return false
	}
	if g.to == "" {
		return g.first != WorkerOf(c.spec.Name)
	}
	return IsNamed(c.spec.Name, g.to)
}

// WorkerOf is the worker that a session belongs to: billing/1 of billing/1-2-1.
func WorkerOf(session string) string {
	group, rest, _ := strings.Cut(session, "/")
	number, _, _ := strings.Cut(rest, "-")
	return group + "/" + number
}
