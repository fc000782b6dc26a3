// SPDX-License-Identifier: Apache-2.0

package rabbitmq

import (
	"context"
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/seed-720a3c77/harness/broker"
	"github.com/seed-720a3c77/harness/contract"
	"github.com/seed-720a3c77/harness/msg"
)

func mandatory(s *broker.ProducerSpec) { s.Mandatory = true }

func TestHalfUnroutable(t *testing.T) {
	e := open(t, Config{})
	to := queue(t, e, broker.Destination{})
	s := newSender(t, e, mandatory)
	var want []string
	for i := range 50 {
		s.send(to, 1)
		s.send(to+"-missing", 1)
		want = append(want, numbered(2*i, 1, "acked ok")[0], numbered(2*i+1, 1, "returned rejected")[0])
	}
	s.flush()
	s.want(want...)
}

// TestUnroutableIsAckedSilently: without mandatory the broker acks and drops.
func TestUnroutableIsAckedSilently(t *testing.T) {
	e := open(t, Config{})
	s := newSender(t, e, nil)
	s.send(unique("nowhere"), 2)
	s.flush()
	s.want("0 acked ok", "1 acked ok")
}

func TestMissingExchange(t *testing.T) {
	e := open(t, Config{})
	to := queue(t, e, broker.Destination{})
	s := newSender(t, e, nil)
	if err := s.try(unique("no-exchange"), "key"); err != nil {
		t.Fatalf("publish: %v", err)
	}
	s.flush()
	s.want("0 refused rejected")
	s.send(to, 1)
	s.flush()
	s.want("0 refused rejected", "1 acked ok")
	var kinds []broker.NoticeKind
	for _, n := range s.notices.list() {
		kinds = append(kinds, n.Kind)
	}
	if want := []broker.NoticeKind{broker.SessionOpen, broker.SessionClose, broker.SessionOpen}; !slices.Equal(kinds, want) {
		t.Errorf("notices %v, want %v", s.notices.list(), want)
	}
	if n := s.notices.list()[1]; n.Code != "404" || n.Epoch == s.notices.list()[2].Epoch {
		t.Errorf("notice %+v, want code 404 and another epoch than the next channel's", n)
	}
}

func TestRejectPublish(t *testing.T) {
	for _, c := range []struct {
		overflow, nacked string
	}{
		{"reject-publish", "nacked rejected"},
		{"reject-publish-dlx", "nacked unknown"},
	} {
		e := open(t, Config{Queue: Classic})
		to := queue(t, e, broker.Destination{MaxLength: 3, Overflow: c.overflow})
		s := newSender(t, e, nil)
		s.send(to, 8)
		s.flush()
		s.want(append(numbered(0, 3, "acked ok"), numbered(3, 5, c.nacked)...)...)
	}
}

// TestCutWithUnconfirmed: what is unanswered at the cut is unknown, and was stored or not.
func TestCutWithUnconfirmed(t *testing.T) {
	for _, c := range []struct {
		what   string
		fault  func(*faultyDial)
		stored int64
	}{
		{"answers swallowed", func(f *faultyDial) { f.swallowIn.Store(true) }, 5},
		{"publishes swallowed", func(f *faultyDial) { f.swallowOut.Store(true) }, 0},
	} {
		t.Run(c.what, func(t *testing.T) {
			e, faulty, fault := openFaulty(t)
			to := queue(t, e, broker.Destination{})
			s := newSender(t, faulty, nil)
			s.send(to, 1)
			s.flush()
			c.fault(fault)
			s.send(to, 5)
			until(t, "what was written is stored", func() bool { return ready(t, e, to) == 1+c.stored })
			fault.cut()
			s.flush()
			s.want(append([]string{"0 acked ok"}, numbered(1, 5, "closed unknown")...)...)
			fault.swallowIn.Store(false)
			fault.swallowOut.Store(false)
			s.send(to, 1)
			s.flush()
			if got := s.says()[6]; got != "6 acked ok" {
				t.Errorf("after a new connection: %s", got)
			}
		})
	}
}

func TestNoConfirmInTime(t *testing.T) {
	e, faulty, fault := openFaulty(t)
	to := queue(t, e, broker.Destination{})
	s := newSender(t, faulty, func(s *broker.ProducerSpec) { s.Timeout = 50 * time.Millisecond })
	faulty.learn(to, facts{})
	fault.swallowIn.Store(true)
	s.send(to, 3)
	s.flush()
	s.want(numbered(0, 3, "timeout unknown")...)
}

func TestWindowBoundsWhatIsUnanswered(t *testing.T) {
	e, faulty, fault := openFaulty(t)
	to := queue(t, e, broker.Destination{})
	s := newSender(t, faulty, func(s *broker.ProducerSpec) { s.InFlight = 2 })
	faulty.learn(to, facts{})
	fault.swallowIn.Store(true)
	s.send(to, 2)
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer cancel()
	err := s.Publish(ctx, &msg.Message{To: to}, func(broker.Receipt, error) { t.Error("answered") })
	if said, class := broker.Classify(err, contract.OK); said != contract.Timeout || class != contract.Rejected {
		t.Errorf("publish into a full window: %v; want timeout, rejected", err)
	}
}

// TestCloseOfAFrozenBroker ends with its context and answers what was open.
func TestCloseOfAFrozenBroker(t *testing.T) {
	e, faulty, fault := openFaulty(t)
	to := queue(t, e, broker.Destination{})
	s := newSender(t, faulty, nil)
	faulty.learn(to, facts{})
	fault.swallowIn.Store(true)
	s.send(to, 2)
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer cancel()
	if err := s.Close(ctx); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("close: %v, want the deadline", err)
	}
	s.want(numbered(0, 2, "closed unknown")...)
}

func TestNothingIsAnsweredAfterAbandon(t *testing.T) {
	e, faulty, fault := openFaulty(t)
	to := queue(t, e, broker.Destination{})
	s := newSender(t, faulty, nil)
	faulty.learn(to, facts{})
	fault.swallowIn.Store(true)
	s.send(to, 3)
	s.Abandon()
	<-s.Producer.(*producer).outlet.ended
	s.want()
	if got := len(s.notices.list()); got != 1 {
		t.Errorf("%d notices, want the opening alone", got)
	}
}

// TestExchangeOfAnotherProcess: its kind is asked of the broker.
func TestExchangeOfAnotherProcess(t *testing.T) {
	declarer, e := open(t, Config{}), open(t, Config{})
	to := queue(t, declarer, broker.Destination{})
	x := declare(t, declarer, broker.Destination{Name: unique("x"), Kind: broker.Exchange, Bindings: map[string]string{to: ""}})
	s := newSender(t, e, mandatory)
	s.send(x, 1)
	s.flush()
	s.want("0 acked ok")
	newReceiver(t, e, to, nil).take(1)
}

func TestDirectExchangeRoutesByKey(t *testing.T) {
	e := open(t, Config{})
	a, b := queue(t, e, broker.Destination{}), queue(t, e, broker.Destination{})
	x := declare(t, e, broker.Destination{Name: unique("x"), Kind: broker.Exchange, Bindings: map[string]string{a: "red", b: "blue"}})
	s := newSender(t, e, mandatory)
	for _, route := range []string{"red", "blue", "green", "blue"} {
		if err := s.try(x, route); err != nil {
			t.Fatalf("publish: %v", err)
		}
	}
	s.flush()
	s.want("0 acked ok", "1 acked ok", "2 returned rejected", "3 acked ok")
	if got := seqs(newReceiver(t, e, b, nil).take(2)); !slices.Equal(got, []uint64{1, 3}) {
		t.Errorf("blue got %v, want 1 and 3", got)
	}
}

func TestRefusedProducers(t *testing.T) {
	for what, spec := range map[string]broker.ProducerSpec{
		"acks 1":           {Acks: "1"},
		"idempotent":       {Idempotent: true},
		"transaction":      {TransactionID: "t"},
		"unconfirmed must": {NoConfirms: true, Mandatory: true},
	} {
		if err := refuseProducer(spec); !errors.Is(err, broker.ErrUnsupported) {
			t.Errorf("%s: %v, want ErrUnsupported", what, err)
		}
	}
}

func TestPublishing(t *testing.T) {
	p := &producer{spec: broker.ProducerSpec{Run: testRun}, headers: map[string]any{"stale": "x"}}
	m := &msg.Message{
		ID: msg.ID{Producer: 1, Seq: 2}, Attempt: 3, Key: "k", Headers: map[string]string{"own": "y"},
		Transient: true, TTL: 1500 * time.Microsecond, Priority: 4,
	}
	envelope := p.seal(m)
	got := p.publishing(m)
	if got.DeliveryMode != 1 || got.Expiration != "2" || got.Priority != 4 {
		t.Errorf("mode %d expiration %q priority %d, want 1, 2, 4", got.DeliveryMode, got.Expiration, got.Priority)
	}
	want := map[string]any{msg.HeaderName: envelope, msg.KeyHeader: "k", "own": "y"}
	if len(got.Headers) != len(want) {
		t.Errorf("headers %v, want %v", got.Headers, want)
	}
	for name, value := range want {
		if got.Headers[name] != value {
			t.Errorf("header %s is %v, want %v", name, got.Headers[name], value)
		}
	}
}
