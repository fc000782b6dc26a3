// SPDX-License-Identifier: Apache-2.0

package faults

import (
	"bytes"
	"slices"
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
	by       *Armed // who ordered it
}

// keep remembers a delivery for another time.
func (r *Requests) keep(c *consumer, by *Armed, d *broker.Delivery) {
	g := given{delivery: *d, due: r.clock.Now() + by.Action.Again.After, first: WorkerOf(c.spec.Name), by: by}
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
		g.by.given++
		g.by.change.Wake()
	}
	r.copies = kept
	r.watched.Add(int32(-n))
	return n
}

// forget drops what a rule ordered and nobody was given yet.
func (r *Requests) forget(by *Armed) {
	before := len(r.copies)
	r.copies = slices.DeleteFunc(r.copies, func(g given) bool { return g.by == by })
	r.watched.Add(int32(len(r.copies) - before))
}

func (g *given) isFor(c *consumer) bool {
	if g.delivery.Source != c.spec.From {
		return false
	}
	to := g.by.Action.Again.To
	if to == "" {
		return g.first != WorkerOf(c.spec.Name)
	}
	return IsNamed(c.spec.Name, to)
}

// WorkerOf is the worker that a session belongs to: billing/1 of billing/1-2-1.
func WorkerOf(session string) string {
	group, rest, _ := strings.Cut(session, "/")
	number, _, _ := strings.Cut(rest, "-")
	return group + "/" + number
}
