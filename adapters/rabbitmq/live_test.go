// SPDX-License-Identifier: Apache-2.0

package rabbitmq

import (
	"context"
	"crypto/rand"
	"fmt"
	"net"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/seed-720a3c77/harness/broker"
	"github.com/seed-720a3c77/harness/contract"
	"github.com/seed-720a3c77/harness/msg"
)

const (
	testRun = 7
	patient = 20 * time.Second
	poll    = 100 * time.Millisecond
)

// unique is a name of this test alone.
func unique(what string) string { return "test-" + what + "-" + rand.Text()[:8] }

// queue declares a queue and removes it at the end of the test.
func queue(t testing.TB, e *engine, d broker.Destination) string {
	t.Helper()
	d.Name = unique("queue")
	return declare(t, e, d)
}

func declare(t testing.TB, e *engine, d broker.Destination) string {
	t.Helper()
	if err := e.Declare(t.Context(), broker.Topology{Destinations: []broker.Destination{d}}); err != nil {
		t.Fatalf("declare: %v", err)
	}
	t.Cleanup(func() {
		if err := e.Remove(context.Background(), d.Name); err != nil {
			t.Errorf("remove: %v", err)
		}
	})
	return d.Name
}

// sender keeps the answers of a producer.
type sender struct {
	broker.Producer
	t       *testing.T
	notices *notices

	mu      sync.Mutex
	answers []answer
	seq     uint64
}

type answer struct {
	seq uint64
	err error
}

func newSender(t *testing.T, e *engine, change func(*broker.ProducerSpec)) *sender {
	t.Helper()
	s := &sender{t: t, notices: &notices{}}
	spec := broker.ProducerSpec{Name: unique("producer"), Run: testRun, Notify: s.notices.add}
	if change != nil {
		change(&spec)
	}
	p, err := e.Producer(t.Context(), spec)
	if err != nil {
		t.Fatalf("producer: %v", err)
	}
	s.Producer = p
	t.Cleanup(p.Abandon)
	return s
}

// try publishes one message and returns what Publish said.
func (s *sender) try(to, route string) error {
	m := &msg.Message{To: to, Route: route, ID: msg.ID{Seq: s.seq}, Attempt: 1, Body: fmt.Appendf(nil, "body %d", s.seq)}
	s.seq++
	return s.Publish(s.t.Context(), m, func(_ broker.Receipt, err error) {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.answers = append(s.answers, answer{m.ID.Seq, err})
	})
}

func (s *sender) send(to string, n int) {
	s.t.Helper()
	for range n {
		if err := s.try(to, ""); err != nil {
			s.t.Fatalf("publish: %v", err)
		}
	}
}

func (s *sender) flush() {
	s.t.Helper()
	if err := s.Flush(s.t.Context()); err != nil {
		s.t.Fatalf("flush: %v", err)
	}
}

// says lists the answers in the order of the sequence numbers.
func (s *sender) says() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	slices.SortStableFunc(s.answers, func(a, b answer) int { return int(a.seq) - int(b.seq) })
	var all []string
	for _, a := range s.answers {
		said, class := broker.Classify(a.err, contract.OK)
		all = append(all, fmt.Sprintf("%d %v %v", a.seq, said, class))
	}
	return all
}

func (s *sender) want(all ...string) {
	s.t.Helper()
	if got := s.says(); !slices.Equal(got, all) {
		s.t.Errorf("answers %q, want %q", got, all)
	}
}

// numbered is "0 acked ok", "1 acked ok" and so on.
func numbered(from, n int, text string) (all []string) {
	for i := range n {
		all = append(all, fmt.Sprintf("%d %s", from+i, text))
	}
	return all
}

type notices struct {
	mu  sync.Mutex
	all []broker.Notice
}

func (n *notices) add(one broker.Notice) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.all = append(n.all, one)
}

func (n *notices) list() []broker.Notice {
	n.mu.Lock()
	defer n.mu.Unlock()
	return slices.Clone(n.all)
}

// receiver is a consumer with its notices.
type receiver struct {
	broker.Consumer
	t       *testing.T
	notices *notices
}

func newReceiver(t *testing.T, e *engine, from string, change func(*broker.ConsumerSpec)) *receiver {
	t.Helper()
	r := &receiver{t: t, notices: &notices{}}
	spec := broker.ConsumerSpec{Name: unique("consumer"), Run: testRun, From: from, Batch: 10, Notify: r.notices.add}
	if change != nil {
		change(&spec)
	}
	c, err := e.Consumer(t.Context(), spec)
	if err != nil {
		t.Fatalf("consumer: %v", err)
	}
	r.Consumer = c
	t.Cleanup(c.Abandon)
	return r
}

// take receives exactly n.
func (r *receiver) take(n int) []broker.Delivery {
	r.t.Helper()
	all := make([]broker.Delivery, 0, n)
	for end := time.Now().Add(patient); len(all) < n; {
		got, err := r.Receive(r.t.Context(), all[len(all):n], poll)
		if err != nil {
			r.t.Fatalf("receive: %v", err)
		}
		all = all[:len(all)+got]
		if time.Now().After(end) {
			r.t.Fatalf("%d of %d messages", len(all), n)
		}
	}
	return all
}

// fails receives until the consumer is dead, and returns why.
func (r *receiver) fails() error {
	r.t.Helper()
	var why error
	until(r.t, "the consumer is dead", func() bool {
		_, why = r.Receive(r.t.Context(), make([]broker.Delivery, 10), poll)
		return why != nil
	})
	return why
}

func (r *receiver) settle(verb broker.Verb, all ...broker.Delivery) {
	r.t.Helper()
	for _, d := range all {
		result := make([]error, 1)
		r.Settle(r.t.Context(), []broker.Settlement{{Verb: verb, Token: d.Token}}, result)
		if result[0] != nil {
			r.t.Fatalf("%v: %v", verb, result[0])
		}
	}
}

func seqs(all []broker.Delivery) (out []uint64) {
	for _, d := range all {
		out = append(out, d.ID.Seq)
	}
	return out
}

func until(t *testing.T, what string, holds func() bool) {
	t.Helper()
	for end := time.Now().Add(patient); !holds(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("not within %v: %s", patient, what)
		}
	}
}

func ready(t *testing.T, e *engine, name string) int64 {
	t.Helper()
	d, err := e.Depth(t.Context(), name, "")
	if err != nil {
		t.Fatalf("depth: %v", err)
	}
	return d.Ready
}

// openFaulty opens a sound engine and one whose sockets can be made to fail.
func openFaulty(t *testing.T) (sound, faulty *engine, fault *faultyDial) {
	t.Helper()
	fault = &faultyDial{}
	sound, faulty = open(t, Config{}), open(t, Config{Dial: fault.dial})
	t.Cleanup(fault.cut)
	return sound, faulty, fault
}

// faultyDial hands out sockets that can swallow bytes or be cut.
type faultyDial struct {
	swallowIn, swallowOut atomic.Bool

	mu    sync.Mutex
	conns []net.Conn
}

func (f *faultyDial) dial(ctx context.Context, network, address string) (net.Conn, error) {
	conn, err := new(net.Dialer).DialContext(ctx, network, address)
	if err != nil {
		return nil, err
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.conns = append(f.conns, conn)
	return &faultyConn{conn, f}, nil
}

// cut ends every connection so far.
func (f *faultyDial) cut() {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, conn := range f.conns {
		conn.Close()
	}
}

type faultyConn struct {
	net.Conn
	f *faultyDial
}

func (c *faultyConn) Read(p []byte) (int, error) {
	n, err := c.Conn.Read(p)
	for err == nil && c.f.swallowIn.Load() {
		n, err = c.Conn.Read(p)
	}
	return n, err
}

func (c *faultyConn) Write(p []byte) (int, error) {
	if c.f.swallowOut.Load() {
		return len(p), nil
	}
	return c.Conn.Write(p)
}
