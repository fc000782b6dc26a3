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
	"pgregory.net/rapid"
)

// naiveLease is a standard lease queue as one would write it first: a list, scanned.
type naiveLease struct {
	rules rules
	now   time.Duration
	lease time.Duration
	limit int
	list  []*naiveMessage
	dead  []string
}

type naiveMessage struct {
	name     string
	receives int
	// due is when it is visible: 0 is now. until is the exact end of its lease.
	due, until time.Duration
	held, gone bool
}

func (q *naiveLease) hide(m *naiveMessage, d time.Duration) {
	m.until = q.now + d
	m.due = m.until
	if tick := q.rules.Lease.Tick; tick > 0 {
		m.due = (m.until + tick - 1) / tick * tick
	}
}

func (q *naiveLease) visible(m *naiveMessage) bool { return !m.gone && m.due <= q.now }

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
	if m.gone {
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
		} else if !m.gone {
			flying++
		}
	}
	return strings.Join([]string{strconv.Itoa(ready), strconv.Itoa(flying), "0"}, "/")
}

// TestLeaseQueueAgainstNaive compares every answer with that of the naive queue.
func TestLeaseQueueAgainstNaive(t *testing.T) {
	for _, profile := range []string{"sqs", "localstack"} {
		t.Run(profile, rapid.MakeCheck(func(t *rapid.T) { leaseAgainstNaive(t, profile) }))
	}
}

func leaseAgainstNaive(t *rapid.T, profile string) {
	p, _ := Profile(profile)
	limit := rapid.IntRange(1, 3).Draw(t, "limit")
	s := newScriptOf(t, p, Options{},
		broker.Destination{Name: "dead"},
		broker.Destination{Name: "q", Lease: 2 * time.Second, MaxDeliveries: limit, DeadLetter: "dead"})
	naive := &naiveLease{rules: s.m.rules, lease: 2 * time.Second, limit: limit}
	var handles []naiveHandle
	t.Repeat(map[string]func(*rapid.T){
		"send": func(t *rapid.T) {
			name := "a" + strconv.Itoa(len(naive.list))
			s.send([]string{name})
			naive.list = append(naive.list, &naiveMessage{name: name})
		},
		"receive": func(t *rapid.T) {
			n := rapid.IntRange(1, 4).Draw(t, "n")
			got, want := strings.Fields(s.get("A", n, 0)), naive.receive(n)
			if !slices.Equal(got, want) {
				t.Fatalf("at %v received %v, want %v", s.now, got, want)
			}
			for _, name := range got {
				name, _, _ = strings.Cut(name, "(")
				i := slices.IndexFunc(naive.list, func(m *naiveMessage) bool { return m.name == name })
				handles = append(handles, naiveHandle{naive.list[i], naive.list[i].receives, s.held["A/"+name]})
			}
		},
		"settle": func(t *rapid.T) {
			if len(handles) == 0 {
				return
			}
			h := rapid.SampledFrom(handles).Draw(t, "handle")
			d := rapid.SampledFrom([]time.Duration{-1, 0, time.Second, 3 * time.Second}).Draw(t, "delay")
			verb := broker.Extend
			if d < 0 {
				verb = broker.Ack
			}
			result := []error{nil}
			s.m.Settle(s.now, s.session("A"), []broker.Settlement{{Verb: verb, Token: h.delivery.Token, Delay: max(d, 0)}}, result)
			if got, want := outcome(result[0]), naive.settle(h.message, h.receive, d); got != want {
				t.Fatalf("at %v %v %v of %s with receive %d of %d: %s, want %s", s.now, verb, d, h.message.name, h.receive, h.message.receives, got, want)
			}
		},
		"wait": func(t *rapid.T) {
			s.until(s.now + rapid.SampledFrom([]time.Duration{1, 400 * time.Millisecond, time.Second, 2 * time.Second}).Draw(t, "time"))
			naive.now = s.now
		},
		"": func(t *rapid.T) {
			if got, want := s.depth([]string{"q"}), naive.depth(); got != want {
				t.Fatalf("at %v depth %s, want %s", s.now, got, want)
			}
			if got, want := s.depth([]string{"dead"}), strconv.Itoa(len(naive.dead))+"/0/0"; got != want {
				t.Fatalf("dead letters %s, want %s", got, want)
			}
		},
	})
}

type naiveHandle struct {
	message  *naiveMessage
	receive  int
	delivery broker.Delivery
}

// TestFIFOInvariants holds every receive of a FIFO queue to the rules of message groups.
func TestFIFOInvariants(t *testing.T) { rapid.Check(t, fifoInvariants) }

func fifoInvariants(t *rapid.T) {
	p, _ := Profile("sqs-fifo")
	s := newScriptOf(t, p, Options{}, broker.Destination{Name: "q", Lease: 2 * time.Second})
	stored := map[string][]string{}      // by key, not yet deleted, in order
	flying := map[string]time.Duration{} // name to the end of its lease
	sent := 0
	inFlight := func(key string) int {
		n := 0
		for name, until := range flying {
			if name[:1] == key && until > s.now {
				n++
			}
		}
		return n
	}
	t.Repeat(map[string]func(*rapid.T){
		"send": func(t *rapid.T) {
			name := rapid.SampledFrom([]string{"a", "b", "c"}).Draw(t, "key") + strconv.Itoa(sent)
			sent++
			s.send([]string{name})
			stored[name[:1]] = append(stored[name[:1]], name)
		},
		"receive": func(t *rapid.T) {
			n := rapid.IntRange(1, 6).Draw(t, "n")
			closed := map[string]bool{}
			for key := range stored {
				closed[key] = inFlight(key) > 0
			}
			got := map[string][]string{}
			total := 0
			for _, name := range strings.Fields(s.get("A", n, 0)) {
				name, _, _ = strings.Cut(name, "(")
				got[name[:1]] = append(got[name[:1]], name)
				flying[name] = s.now + 2*time.Second
				total++
			}
			for key, names := range got {
				if closed[key] {
					t.Fatalf("received %v while the group is in flight", names)
				}
				if !slices.Equal(names, stored[key][:len(names)]) {
					t.Fatalf("received %v, the group has %v", names, stored[key])
				}
			}
			for key := range stored {
				if total < n && !closed[key] && len(got[key]) < len(stored[key]) {
					t.Fatalf("received %v of %v with room for %d", got[key], stored[key], n)
				}
			}
		},
		"delete": func(t *rapid.T) {
			var names []string
			for name, until := range flying {
				if until > s.now {
					names = append(names, name)
				}
			}
			if len(names) == 0 {
				return
			}
			slices.Sort(names)
			name := rapid.SampledFrom(names).Draw(t, "name")
			s.run("ack A " + name)
			delete(flying, name)
			stored[name[:1]] = slices.DeleteFunc(stored[name[:1]], func(other string) bool { return other == name })
		},
		"wait": func(t *rapid.T) {
			s.until(s.now + rapid.SampledFrom([]time.Duration{time.Second, 2 * time.Second}).Draw(t, "time"))
		},
	})
}
