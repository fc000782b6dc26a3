// SPDX-License-Identifier: Apache-2.0

package inmem

import (
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/seed-720a3c77/harness/broker"
	"github.com/seed-720a3c77/harness/contract/profiles"
	"pgregory.net/rapid"
)

// naiveTxnLog is a partition with transactions as one would write it first: a list of entries,
// each with the transaction that it is in, and what is read is found by looking at all of them.
type naiveTxnLog struct {
	now      time.Duration
	entries  []naiveEntry
	current  map[string]*naiveTxn      // by transactional id, nil where none is open
	newest   map[string]*naiveProducer // by transactional id
	position int64                     // of the group
}

type naiveEntry struct {
	name string // "" is a marker
	in   *naiveTxn
}

type naiveTxn struct {
	state   string // open, committed, aborted
	writes  bool
	expires time.Duration
}

type naiveProducer struct {
	id      string
	session Session
	number  uint64
	fenced  bool
}

// read is what a reader of the whole log is handed out.
func (l *naiveTxnLog) read(committed bool) (names []string) {
	for _, e := range l.entries[:l.end(committed)] {
		if e.name != "" && (!committed || e.in == nil || e.in.state == "committed") {
			names = append(names, e.name)
		}
	}
	return names
}

// end is the index of the first entry of an open transaction, for who reads what is committed.
func (l *naiveTxnLog) end(committed bool) int {
	for i, e := range l.entries {
		if committed && e.in != nil && e.in.state == "open" {
			return i
		}
	}
	return len(l.entries)
}

// finish ends the transaction of an id, with a marker if it wrote anything.
func (l *naiveTxnLog) finish(id, state string) {
	t := l.current[id]
	if t == nil {
		return
	}
	t.state, l.current[id] = state, nil
	if t.writes {
		l.entries = append(l.entries, naiveEntry{in: &naiveTxn{state: state}})
	}
}

// wait lets the transactions expire, the earliest first.
func (l *naiveTxnLog) wait(until time.Duration) {
	for {
		first, at := "", until+1
		for id, t := range l.current {
			if t != nil && t.writes && (t.expires < at || t.expires == at && id < first) {
				first, at = id, t.expires
			}
		}
		if at > until {
			break
		}
		l.finish(first, "aborted")
		l.newest[first].fenced = true
	}
	l.now = max(l.now, until)
}

// TestTransactionsAgainstNaive lets producers of two transactional ids, one without and two
// readers work in any order.
func TestTransactionsAgainstNaive(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) { t.Repeat(rapid.StateMachineActions(newTxnProperty(t))) })
}

// txnProperty has an exported method for each thing that may happen.
type txnProperty struct {
	s         *script
	naive     *naiveTxnLog
	producers []*naiveProducer
	readers   map[bool]Session // by whether they read what is committed
	heard     map[bool][]string
	sent      int
}

func newTxnProperty(t *rapid.T) *txnProperty {
	p, _ := profiles.Named("kafka")
	p.Knobs[profiles.TransactionTimeout] = "10s"
	s := newScriptOf(t, p, Options{}, broker.Destination{Name: "q"})
	naive := &naiveTxnLog{current: map[string]*naiveTxn{}, newest: map[string]*naiveProducer{}}
	property := &txnProperty{s: s, naive: naive, readers: map[bool]Session{}, heard: map[bool][]string{}}
	for committed, isolation := range map[bool]string{true: "", false: "uncommitted"} {
		property.readers[committed] = property.reader(t, isolation)
	}
	return property
}

func (p *txnProperty) reader(t *rapid.T, isolation string) Session {
	c, err := p.s.m.OpenConsumer(p.s.now, broker.ConsumerSpec{Name: "r" + isolation, From: "q", Batch: 3, Isolation: isolation})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func (p *txnProperty) Open(t *rapid.T) {
	id := rapid.SampledFrom([]string{"x", "y"}).Draw(t, "id")
	session, err := p.s.m.OpenProducer(p.s.now, broker.ProducerSpec{Name: id, TransactionID: id})
	if err != nil {
		t.Fatal(err)
	}
	p.naive.finish(id, "aborted")
	if old := p.naive.newest[id]; old != nil {
		old.fenced = true
	}
	one := &naiveProducer{id: id, session: session}
	p.naive.newest[id] = one
	p.producers = append(p.producers, one)
}

// pick is one of the producers, or nil.
func (p *txnProperty) pick(t *rapid.T) *naiveProducer {
	if len(p.producers) == 0 {
		return nil
	}
	return p.producers[rapid.IntRange(max(0, len(p.producers)-4), len(p.producers)-1).Draw(t, "producer")]
}

// wants is the outcome of a call that a transaction that is open, or is not, allows.
func (p *txnProperty) wants(one *naiveProducer, open bool, wrong string) string {
	switch {
	case one.fenced:
		return "stale"
	case (p.naive.current[one.id] != nil) != open:
		return wrong
	default:
		return "ok"
	}
}

func same(t *rapid.T, what, got, want string) bool {
	t.Helper()
	if got != want {
		t.Fatalf("%s: %s, want %s", what, got, want)
	}
	return want == "ok"
}

func (p *txnProperty) Begin(t *rapid.T) {
	one := p.pick(t)
	if one == nil {
		return
	}
	if same(t, "begin", outcome(p.s.m.Begin(p.s.now, one.session, one.number)), p.wants(one, false, "closed")) {
		p.naive.current[one.id] = &naiveTxn{state: "open"}
	}
}

// Send is a record of a transactional producer.
func (p *txnProperty) Send(t *rapid.T) {
	one := p.pick(t)
	if one == nil {
		return
	}
	p.sent++
	name := "a" + strconv.Itoa(p.sent)
	_, err := p.s.m.Publish(p.s.now, one.session, one.number, p.s.message(name))
	one.number++
	if !same(t, "send", outcome(err), p.wants(one, true, "refused")) {
		return
	}
	in := p.naive.current[one.id]
	if !in.writes {
		in.writes, in.expires = true, p.naive.now+10*time.Second
	}
	p.naive.entries = append(p.naive.entries, naiveEntry{name, in})
}

func (p *txnProperty) Plain(*rapid.T) {
	p.sent++
	name := "a" + strconv.Itoa(p.sent)
	p.s.send([]string{name})
	p.naive.entries = append(p.naive.entries, naiveEntry{name: name})
}

func (p *txnProperty) Commit(t *rapid.T) {
	one := p.pick(t)
	if one == nil {
		return
	}
	next := rapid.Int64Range(0, int64(len(p.naive.entries))).Draw(t, "next")
	offsets := []broker.OffsetCommit{{Group: "g", Destination: "q", Next: next}}
	if same(t, "commit", outcome(p.s.m.Commit(p.s.now, one.session, offsets)), p.wants(one, true, "closed")) {
		p.naive.finish(one.id, "committed")
		p.naive.position = next
	}
}

func (p *txnProperty) Abort(t *rapid.T) {
	one := p.pick(t)
	if one == nil {
		return
	}
	if same(t, "abort", outcome(p.s.m.Abort(p.s.now, one.session)), p.wants(one, true, "closed")) {
		p.naive.finish(one.id, "aborted")
	}
}

func (p *txnProperty) Wait(t *rapid.T) {
	end := p.s.now + rapid.SampledFrom([]time.Duration{time.Second, 4 * time.Second, time.Minute}).Draw(t, "time")
	p.s.until(end)
	p.naive.wait(end)
}

// Check: readers that were there all the time and ones that come now are handed out the same.
func (p *txnProperty) Check(t *rapid.T) {
	for committed, isolation := range map[bool]string{true: "", false: "uncommitted"} {
		want := p.naive.read(committed)
		p.heard[committed] = append(p.heard[committed], p.all(t, p.readers[committed])...)
		late := p.reader(t, isolation)
		for who, got := range map[string][]string{"from the start": p.heard[committed], "now": p.all(t, late)} {
			if !slices.Equal(got, want) {
				t.Fatalf("committed %t, %s: read %v, want %v", committed, who, got, want)
			}
		}
		p.s.m.Vanish(p.s.now, late)
	}
	d, err := p.s.m.Depth(p.s.now, "q", "g")
	if err != nil || d.End != int64(len(p.naive.entries)) || d.Stable != int64(p.naive.end(true)) || d.Committed != p.naive.position {
		t.Fatalf("depth %+v, %v; want the end %d, stable %d, position %d", d, err, len(p.naive.entries), p.naive.end(true), p.naive.position)
	}
}

func (p *txnProperty) all(t *rapid.T, c Session) (names []string) {
	into := make([]broker.Delivery, 3)
	for {
		n, err := p.s.m.Receive(p.s.now, c, 0, into)
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range into[:n] {
			names = append(names, nameOf(d.ID))
		}
		if n == 0 {
			return names
		}
	}
}
