// SPDX-License-Identifier: Apache-2.0

package consumertest

import (
	"bytes"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/seed-720a3c77/harness/broker"
	"github.com/seed-720a3c77/harness/contract"
)

// arrive counts the attempts of what a worker is about to handle, and numbers the call.
func (s *scene) arrive(batch []broker.Delivery) (all []*arrival, number int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.calls++
	for _, d := range batch {
		n := int(d.ID.Seq)
		s.facts.attempts[n]++
		a := &arrival{event: n, attempt: s.facts.attempts[n], delivery: d, holder: s.holderOf(n)}
		a.message = s.message(a)
		all = append(all, a)
	}
	return all, s.calls
}

// holderOf names a worker that works on an event, "" for none. The caller holds mu.
func (s *scene) holderOf(event int) string {
	for _, p := range s.alive {
		for _, c := range p.open() {
			if slices.ContainsFunc(c.batch, func(a *arrival) bool { return a.event == event }) {
				return p.name
			}
		}
	}
	return ""
}

// message is a delivery in the words of the handler. The caller holds mu.
func (s *scene) message(a *arrival) Message {
	d, e := &a.delivery, s.config.made[a.event]
	m := Message{
		ID: e.ID, Key: e.Key, Body: bytes.Clone(e.Body), Headers: maps.Clone(e.Headers),
		BrokerID: d.BrokerID, Redelivered: d.Redelivered, Deliveries: d.Count,
	}
	switch s.rules.Model {
	case contract.Log:
		m.Partition, m.Offset = d.Token.Partition, d.Token.Offset
		m.BrokerID = fmt.Sprintf("%s-%d@%d", queue, m.Partition, m.Offset)
	case contract.PushQueue:
		m.BrokerID = fmt.Sprintf("%d/%d", d.Token.Epoch, d.Token.Tag)
	}
	if s.plan.has(a.event, garbage) != nil {
		s.facts.done[garbage]++
		m.Body = []byte("{not what you expect")
	}
	s.pretend(a, &m)
	return m
}

// pretend changes who a message seems to be, for the twin and for probes.
func (s *scene) pretend(a *arrival, m *Message) {
	if s.plan.disguise && a.attempt > 1 {
		e := s.config.made[s.config.disguised(a.event)]
		m.ID, m.Key, m.Body, m.Headers = e.ID, e.Key, bytes.Clone(e.Body), maps.Clone(e.Headers)
		m.BrokerID, m.Offset = "another", m.Offset+1000
		m.Redelivered, m.Deliveries = false, min(m.Deliveries, 1)
	}
	if s.plan.sameBrokerID {
		m.BrokerID, m.Partition, m.Offset = "first/"+m.ID, 0, int64(a.event)
	}
	if s.plan.flagged {
		m.Redelivered, m.Deliveries = a.attempt > 1, a.attempt
	}
	if s.plan.unflagged {
		m.Redelivered, m.Deliveries = false, min(m.Deliveries, 1)
	}
}

// disguised is the number of the event that a redelivery in disguise seems to be.
func (c *config) disguised(event int) int { return c.events + event }

// text says what arrived.
func (a *arrival) text(s *scene) string {
	text := fmt.Sprintf("gets %s", s.id(a.event))
	var notes []string
	if a.attempt > 1 {
		notes = append(notes, "attempt "+strconv.Itoa(a.attempt))
	}
	if a.delivery.Attempt > 1 {
		notes = append(notes, "the producer's second copy")
	}
	if a.message.Redelivered {
		notes = append(notes, "flagged as redelivered")
	}
	if a.message.Deliveries > 1 {
		notes = append(notes, "delivery count "+strconv.Itoa(a.message.Deliveries))
	}
	if s.plan.has(a.event, garbage) != nil {
		notes = append(notes, "its body is broken")
	}
	if len(notes) > 0 {
		text += " (" + strings.Join(notes, ", ") + ")"
	}
	if a.holder != "" {
		text += " while " + a.holder + " works on it"
	}
	return text
}

// returned books the end of a call.
func (s *scene) returned(w *worker, c *call, errs []error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.facts.points = max(s.facts.points, c.visited())
	for i, a := range c.batch {
		e := entry{who: w.name, event: a.event, call: c.number, kind: opReturn}
		if i < len(errs) && errs[i] != nil {
			e.failed = true
			s.trace.add(e, "the handler returns an error%s: %v", c.with(a), errs[i])
			continue
		}
		s.trace.add(e, "the handler returns%s: done", c.with(a))
	}
}

// book is what is known when all is over.
func (s *scene) book() facts {
	s.mu.Lock()
	defer s.mu.Unlock()
	f := s.facts
	f.attempts = slices.Clone(f.attempts)
	f.gaveUp, f.done, f.problems = maps.Clone(f.gaveUp), maps.Clone(f.done), slices.Clone(f.problems)
	f.took = s.trace.now()
	return f
}

func (s *scene) gaveUp(n int, why error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.facts.gaveUp[n] = why
}

func (s *scene) newProcess(name string, life int) *process {
	s.mu.Lock()
	defer s.mu.Unlock()
	p := &process{scene: s, name: name, life: life, gone: make(chan struct{})}
	s.alive = append(s.alive, p)
	return p
}

// running is the number of calls under way in processes that live.
func (s *scene) running() (n int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, p := range s.alive {
		n += p.underWay()
	}
	return n
}

// whoHangs names the calls that do not end.
func (s *scene) whoHangs() problem {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, p := range s.alive {
		for _, c := range p.open() {
			text := fmt.Sprintf("the handler's call with %s on %s does not return", c.batch[0].message.ID, p.name)
			return problem{kind: hung, event: c.batch[0].event, text: text}
		}
	}
	return problem{kind: hung, event: -1, text: "messages are left that nobody settles"}
}
