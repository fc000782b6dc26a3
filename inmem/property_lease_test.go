// SPDX-License-Identifier: Apache-2.0

package inmem

import (
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/seed-720a3c77/harness/broker"
	"github.com/seed-720a3c77/harness/contract"
	"github.com/seed-720a3c77/harness/contract/profiles"
	"pgregory.net/rapid"
)

// naiveLease is a standard lease queue as one would write it first: a list, scanned.
type naiveLease struct {
	rules rules
	now   time.Duration
	lease time.Duration
	limit int
	// retention is how long messages are kept; 0 is for ever.
	retention time.Duration
	list      []*naiveMessage
	dead      []string
}

type naiveMessage struct {
	name     string
	receives int
	// due is when it is visible: 0 is now. until is the exact end of its lease.
	due, until, stored time.Duration
	held, gone         bool
}

func (q *naiveLease) hide(m *naiveMessage, d time.Duration) {
	m.until = q.now + d
	m.due = m.until
	if tick := q.rules.Lease.Tick; tick > 0 {
		m.due = (m.until + tick - 1) / tick * tick
	}
}

func (q *naiveLease) visible(m *naiveMessage) bool { return !q.gone(m) && m.due <= q.now }

func (q *naiveLease) gone(m *naiveMessage) bool {
	return m.gone || q.retention > 0 && m.stored+q.retention <= q.now
}

func (q *naiveLease) receive(n int) (names []string) {
	for _, m := range q.list {
		if len(names) == n {
			break
		}
		if !q.visible(m) {
			continue
		}
		if m.receives == q.limit {
			m.gone = true
			q.dead = append(q.dead, m.name)
			continue
		}
		m.receives++
		m.held = true
		q.hide(m, q.lease)
		names = append(names, shown(broker.Delivery{ID: idOf(m.name), Count: m.receives}))
	}
	return names
}

// settle is ack with d < 0, and extend or release otherwise.
func (q *naiveLease) settle(m *naiveMessage, receive int, d time.Duration) string {
	newest := receive == m.receives
	if q.gone(m) {
		if d >= 0 {
			return "stale"
		}
		return "ok"
	}
	rule := contract.StaleApplies
	switch {
	case !newest && d < 0:
		rule = q.rules.Stale
	case !newest:
		rule = q.rules.staleExtend
	case d >= 0 && m.until <= q.now && q.rules.staleExtend != contract.StaleApplies:
		rule = contract.StaleRefused
	}
	switch {
	case rule == contract.StaleRefused:
		return "stale"
	case rule == contract.StaleSilent:
	case d < 0:
		m.gone = true
	case d == 0:
		m.due, m.until = 0, 0
	default:
		q.hide(m, d)
	}
	return "ok"
}

func (q *naiveLease) depth() string {
	ready, flying := 0, 0
	for _, m := range q.list {
		if q.visible(m) {
			ready++
		} else if !q.gone(m) {
			flying++
		}
	}
	return strings.Join([]string{strconv.Itoa(ready), strconv.Itoa(flying), "0"}, "/")
}

// TestLeaseQueueAgainstNaive compares every answer with that of the naive queue.
func TestLeaseQueueAgainstNaive(t *testing.T) {
	for _, profile := range []string{"sqs", "localstack"} {
		t.Run(profile, rapid.MakeCheck(func(t *rapid.T) {
			t.Repeat(rapid.StateMachineActions(newLeaseProperty(t, profile)))
		}))
	}
}

// leaseProperty has an exported method for each thing that may happen.
type leaseProperty struct {
	s       *script
	naive   *naiveLease
	handles []naiveHandle
}

type naiveHandle struct {
	message *naiveMessage
	receive int
	token   broker.Token
}

func newLeaseProperty(t *rapid.T, profile string) *leaseProperty {
	p, _ := profiles.Named(profile)
	limit := rapid.IntRange(1, 3).Draw(t, "limit")
	s := newScriptOf(t, p, Options{},
		broker.Destination{Name: "dead"},
		broker.Destination{Name: "q", Lease: 2 * time.Second, MaxDeliveries: limit, DeadLetter: "dead"})
	// Shorter than the service takes, so that it is met often.
	kept := rapid.SampledFrom([]time.Duration{0, 3 * time.Second}).Draw(t, "retention")
	s.m.model.(*leaseQueues).queues["q"].retention = kept
	return &leaseProperty{s: s, naive: &naiveLease{rules: s.m.rules, lease: 2 * time.Second, limit: limit, retention: kept}}
}

func (p *leaseProperty) Send(*rapid.T) {
	name := "a" + strconv.Itoa(len(p.naive.list))
	p.s.send([]string{name})
	p.naive.list = append(p.naive.list, &naiveMessage{name: name, stored: p.naive.now})
}

func (p *leaseProperty) Receive(t *rapid.T) {
	n := rapid.IntRange(1, 4).Draw(t, "n")
	got, want := strings.Fields(p.s.get("A", n, 0)), p.naive.receive(n)
	if !slices.Equal(got, want) {
		t.Fatalf("at %v received %v, want %v", p.s.now, got, want)
	}
	for _, name := range got {
		name, _, _ = strings.Cut(name, "(")
		i := slices.IndexFunc(p.naive.list, func(m *naiveMessage) bool { return m.name == name })
		p.handles = append(p.handles, naiveHandle{p.naive.list[i], p.naive.list[i].receives, p.s.held["A/"+name].Token})
	}
}

func (p *leaseProperty) Settle(t *rapid.T) {
	if len(p.handles) == 0 {
		return
	}
	h := p.handles[rapid.IntRange(0, len(p.handles)-1).Draw(t, "handle")]
	d := rapid.SampledFrom([]time.Duration{-1, 0, time.Second, 3 * time.Second}).Draw(t, "delay")
	one := broker.Settlement{Verb: broker.Extend, Token: h.token, Delay: max(d, 0)}
	if d < 0 {
		one.Verb = broker.Ack
	}
	result := []error{nil}
	p.s.m.Settle(p.s.now, p.s.session("A"), []broker.Settlement{one}, result)
	if got, want := outcome(result[0]), p.naive.settle(h.message, h.receive, d); got != want {
		t.Fatalf("at %v %v %v of %s with receive %d of %d: %s, want %s",
			p.s.now, one.Verb, d, h.message.name, h.receive, h.message.receives, got, want)
	}
}

func (p *leaseProperty) Wait(t *rapid.T) {
	p.s.until(p.s.now + rapid.SampledFrom([]time.Duration{1, 400 * time.Millisecond, time.Second, 2 * time.Second}).Draw(t, "time"))
	p.naive.now = p.s.now
}

func (p *leaseProperty) Check(t *rapid.T) {
	if got, want := p.s.depth([]string{"q"}), p.naive.depth(); got != want {
		t.Fatalf("at %v depth %s, want %s", p.s.now, got, want)
	}
	if got, want := p.s.depth([]string{"dead"}), strconv.Itoa(len(p.naive.dead))+"/0/0"; got != want {
		t.Fatalf("dead letters %s, want %s", got, want)
	}
}
