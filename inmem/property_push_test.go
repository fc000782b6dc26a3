// SPDX-License-Identifier: Apache-2.0

package inmem

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/seed-720a3c77/harness/broker"
	"github.com/seed-720a3c77/harness/contract"
	"github.com/seed-720a3c77/harness/contract/profiles"
	"pgregory.net/rapid"
)

// naivePush is a push queue as one would write it first: one list of what is ready, one
// list for each channel.
type naivePush struct {
	rules    rules
	limit    int
	where    contract.Place
	ready    []*naivePushed
	channels []*naiveChannel
	turn     int
	gone     int
	dead     []string
}

type naivePushed struct {
	name    string
	seq     int
	returns int
}

type naiveChannel struct {
	name   string
	window int
	tags   []*naivePushed // by tag-1, nil where settled
	handed int
	closed bool
}

func (c *naiveChannel) held() (n int) {
	for _, m := range c.tags {
		if m != nil {
			n++
		}
	}
	return n
}

func (q *naivePush) pump() {
	for len(q.ready) > 0 {
		to := q.next()
		if to == nil {
			return
		}
		to.tags = append(to.tags, q.ready[0])
		q.ready = q.ready[1:]
	}
}

func (q *naivePush) next() *naiveChannel {
	for range q.channels {
		q.turn++
		if c := q.channels[q.turn%len(q.channels)]; c.held() < c.window {
			return c
		}
	}
	return nil
}

// back returns a message, without pumping.
func (q *naivePush) back(m *naivePushed, where contract.Place) {
	m.returns++
	if q.limit >= 0 && m.returns > q.limit {
		q.dead = append(q.dead, m.name)
		return
	}
	at := len(q.ready)
	switch where {
	case contract.PlaceOriginal:
		at = slices.IndexFunc(q.ready, func(other *naivePushed) bool { return other.seq > m.seq })
	case contract.PlaceHead:
		at = slices.IndexFunc(q.ready, func(other *naivePushed) bool { return other.returns == 0 })
	}
	if at < 0 {
		at = len(q.ready)
	}
	q.ready = slices.Insert(q.ready, at, m)
}

func (q *naivePush) end(c *naiveChannel) {
	c.closed = true
	q.channels = slices.DeleteFunc(q.channels, func(other *naiveChannel) bool { return other == c })
	for _, m := range c.tags {
		if m != nil {
			q.back(m, q.rules.Return)
		}
	}
	q.pump()
}

func (q *naivePush) settle(c *naiveChannel, verb broker.Verb, tag int, multiple bool) {
	from := tag
	if multiple {
		from = 1
	}
	var all []int
	for i := from; i <= tag && tag <= len(c.tags); i++ {
		if c.tags[i-1] != nil {
			all = append(all, i)
		}
	}
	if len(all) == 0 {
		q.end(c)
		return
	}
	for _, i := range all {
		m := c.tags[i-1]
		c.tags[i-1] = nil
		switch verb {
		case broker.Ack:
			q.gone++
		case broker.Requeue:
			q.back(m, q.where)
		default:
			q.dead = append(q.dead, m.name)
		}
	}
	q.pump()
}

func (q *naivePush) receive(c *naiveChannel, n int) string {
	if c.closed {
		return "closed"
	}
	var names []string
	for ; len(names) < n && c.handed < len(c.tags); c.handed++ {
		if m := c.tags[c.handed]; m != nil {
			d := broker.Delivery{ID: idOf(m.name), Redelivered: m.returns > 0}
			if q.rules.Can.Has(contract.DeliveryCount) {
				d.Count = m.returns + 1
			}
			names = append(names, shown(d))
		}
	}
	return strings.Join(names, " ")
}

func (q *naivePush) depth() string {
	held := 0
	for _, c := range q.channels {
		held += c.held()
	}
	return fmt.Sprintf("%d/%d", len(q.ready), held)
}

// TestPushQueueAgainstNaive compares every answer with that of the naive queue. The tail
// place cannot be compared by this model and has its rows in TestRequeuePlace.
func TestPushQueueAgainstNaive(t *testing.T) {
	for _, profile := range []string{classic310, classic40, quorum40} {
		t.Run(profile, rapid.MakeCheck(func(t *rapid.T) {
			t.Repeat(rapid.StateMachineActions(newPushProperty(t, profile)))
		}))
	}
}

// pushProperty has an exported method for each thing that may happen.
type pushProperty struct {
	s     *script
	naive *naivePush
	all   []*naiveChannel
	sent  int
}

func newPushProperty(t *rapid.T, profile string) *pushProperty {
	p, _ := profiles.Named(profile)
	q := broker.Destination{Name: "q", DeadLetter: "dead"}
	naive := &naivePush{limit: -1}
	if p.Can.Has(contract.DeadLetter) {
		q.MaxDeliveries = rapid.IntRange(1, 3).Draw(t, "deliveries")
		naive.limit = q.MaxDeliveries - 1
	}
	s := newScriptOf(t, p, Options{}, broker.Destination{Name: "dead"}, q)
	naive.rules, naive.where = s.m.rules, s.m.rules.Requeue
	return &pushProperty{s: s, naive: naive}
}

// pick is one of the channels, dead or alive, or nil.
func (p *pushProperty) pick(t *rapid.T) *naiveChannel {
	if len(p.all) == 0 {
		return nil
	}
	return p.all[rapid.IntRange(0, len(p.all)-1).Draw(t, "channel")]
}

func (p *pushProperty) Send(*rapid.T) {
	p.sent++
	name := "a" + strconv.Itoa(p.sent)
	p.s.send([]string{name})
	p.naive.ready = append(p.naive.ready, &naivePushed{name: name, seq: p.sent})
	p.naive.pump()
}

func (p *pushProperty) Open(t *rapid.T) {
	if len(p.naive.channels) == 3 {
		return
	}
	c := &naiveChannel{name: "C" + strconv.Itoa(len(p.all)), window: rapid.IntRange(1, 3).Draw(t, "window")}
	p.s.open([]string{c.name, fmt.Sprintf("prefetch=%d", c.window), "session=10h"})
	p.all = append(p.all, c)
	p.naive.channels = append(p.naive.channels, c)
	p.naive.pump()
}

func (p *pushProperty) Receive(t *rapid.T) {
	c := p.pick(t)
	if c == nil {
		return
	}
	n := rapid.IntRange(1, 3).Draw(t, "n")
	if got, want := p.s.get(c.name, n, 0), p.naive.receive(c, n); got != want {
		t.Fatalf("%s received %q, want %q", c.name, got, want)
	}
}

func (p *pushProperty) Settle(t *rapid.T) {
	c := p.pick(t)
	if c == nil {
		return
	}
	verb := rapid.SampledFrom([]broker.Verb{broker.Ack, broker.Ack, broker.Requeue, broker.Reject}).Draw(t, "verb")
	one := broker.Settlement{Verb: verb, Multiple: rapid.Bool().Draw(t, "multiple")}
	one.Token.Tag = uint64(rapid.IntRange(1, 6).Draw(t, "tag"))
	result := []error{nil}
	p.s.m.Settle(p.s.now, p.s.session(c.name), []broker.Settlement{one}, result)
	want := "closed"
	if !c.closed {
		want = "ok"
		p.naive.settle(c, verb, int(one.Token.Tag), one.Multiple)
	}
	if got := outcome(result[0]); got != want {
		t.Fatalf("%v on %s: %s, want %s", verb, c.name, got, want)
	}
}

func (p *pushProperty) Vanish(t *rapid.T) {
	if c := p.pick(t); c != nil && !c.closed {
		p.s.run("vanish " + c.name)
		p.naive.end(c)
	}
}

func (p *pushProperty) Check(t *rapid.T) {
	if got, want := p.s.depth([]string{"q"}), p.naive.depth(); got != want {
		t.Fatalf("depth %s, want %s", got, want)
	}
	if got, want := p.s.depth([]string{"dead"}), fmt.Sprintf("%d/0", len(p.naive.dead)); got != want {
		t.Fatalf("dead letters %s, want %s", got, want)
	}
}
