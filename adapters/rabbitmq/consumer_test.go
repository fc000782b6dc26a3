// SPDX-License-Identifier: Apache-2.0

package rabbitmq

import (
	"errors"
	"runtime"
	"slices"
	"strings"
	"testing"

	amqp "github.com/rabbitmq/amqp091-go"

	"github.com/seed-720a3c77/harness/broker"
	"github.com/seed-720a3c77/harness/contract"
)

// each runs a case on both queue types.
func each(t *testing.T, body func(*testing.T, *engine)) {
	for _, queue := range []string{Quorum, Classic} {
		t.Run(queue, func(t *testing.T) { body(t, open(t, Config{Queue: queue})) })
	}
}

func prefetch(n int) func(*broker.ConsumerSpec) {
	return func(s *broker.ConsumerSpec) { s.Prefetch = n }
}

// TestDoubleAckClosesTheChannel and everything unsettled on it comes back.
func TestDoubleAckClosesTheChannel(t *testing.T) {
	each(t, func(t *testing.T, e *engine) {
		to := queue(t, e, broker.Destination{})
		s := newSender(t, e, nil)
		s.send(to, 5)
		s.flush()
		r := newReceiver(t, e, to, nil)
		got := r.take(5)
		r.settle(broker.Ack, got[0], got[0])
		why := r.fails()
		var said *broker.Error
		if !errors.As(why, &said) || said.Answer != contract.Closed || said.Code != "406" {
			t.Fatalf("receive: %v; want closed, 406", why)
		}
		notices := r.notices.list()
		last := notices[len(notices)-1]
		if last.Kind != broker.SessionClose || last.Code != "406" || !strings.Contains(last.Text, "unknown delivery tag") || last.Epoch != got[0].Token.Epoch {
			t.Errorf("notice %+v; want the close of epoch %d with 406", last, got[0].Token.Epoch)
		}
		again := newReceiver(t, e, to, nil).take(4)
		for _, d := range again {
			if !d.Redelivered {
				t.Errorf("%v has no redelivered flag", d.ID)
			}
		}
		if ids := seqs(again); !slices.Equal(ids, []uint64{1, 2, 3, 4}) {
			t.Errorf("came back: %v, want 1 to 4", ids)
		}
		result := make([]error, 1)
		r.Settle(t.Context(), []broker.Settlement{{Verb: broker.Ack, Token: got[1].Token}}, result)
		if said, class := broker.Classify(result[0], contract.AcceptedOnly); said != contract.Closed || class != contract.Rejected {
			t.Errorf("ack on a dead channel: %v; want closed, rejected", result[0])
		}
	})
}

// TestOldTagAcksAnotherMessage: a tag of a lost channel that exists on the new one.
func TestOldTagAcksAnotherMessage(t *testing.T) {
	each(t, func(t *testing.T, e *engine) {
		to := queue(t, e, broker.Destination{})
		s := newSender(t, e, nil)
		s.send(to, 2)
		s.flush()
		dead := newReceiver(t, e, to, prefetch(1))
		old := dead.take(1)
		dead.Abandon()
		other := newReceiver(t, e, to, prefetch(1))
		held := other.take(1)
		live := newReceiver(t, e, to, prefetch(1))
		victim := live.take(1)
		if old[0].Token.Tag != victim[0].Token.Tag || old[0].Token.Epoch == victim[0].Token.Epoch || old[0].ID == victim[0].ID {
			t.Fatalf("tokens %+v and %+v", old[0].Token, victim[0].Token)
		}
		live.settle(broker.Ack, old...)
		if err := live.Close(t.Context()); err != nil {
			t.Fatalf("close: %v", err)
		}
		other.settle(broker.Ack, held...)
		if err := other.Close(t.Context()); err != nil {
			t.Fatalf("close: %v", err)
		}
		if left := ready(t, e, to); left != 0 {
			t.Errorf("%d left: %v was not acked by the old tag", left, victim[0].ID)
		}
	})
}

func TestAbandonedAreRedelivered(t *testing.T) {
	each(t, func(t *testing.T, e *engine) {
		to := queue(t, e, broker.Destination{})
		s := newSender(t, e, nil)
		s.send(to, 3)
		s.flush()
		dead := newReceiver(t, e, to, nil)
		dead.take(1) // two stay in the client's buffer
		dead.Abandon()
		want := 0
		if e.can(contract.DeliveryCount) {
			want = 2
		}
		for _, d := range newReceiver(t, e, to, nil).take(3) {
			if !d.Redelivered || d.Count != want {
				t.Errorf("%v: redelivered %t count %d, want true and %d", d.ID, d.Redelivered, d.Count, want)
			}
		}
		if got := len(dead.notices.list()); got != 1 {
			t.Errorf("%d notices of the dead, want its opening alone", got)
		}
	})
}

func TestAbandonEndsTheClient(t *testing.T) {
	e := open(t, Config{})
	to := queue(t, e, broker.Destination{})
	before := clientRoutines()
	s, r := newSender(t, e, nil), newReceiver(t, e, to, nil)
	s.send(to, 10)
	r.take(1)
	s.Abandon()
	r.Abandon()
	until(t, "the client's goroutines end", func() bool { return clientRoutines() <= before })
}

// clientRoutines counts the goroutines inside the client or waiting for it.
func clientRoutines() int {
	buffer := make([]byte, 1<<20)
	text := string(buffer[:runtime.Stack(buffer, true)])
	n := 0
	for part := range strings.SplitSeq(text, "\n\n") {
		if strings.Contains(part, "amqp091") || strings.Contains(part, "rabbitmq.(*outlet)") || strings.Contains(part, "rabbitmq.(*consumer)") {
			n++
		}
	}
	return n
}

// giveBack are ways back to the queue that leave no consumer behind: each is one return.
var giveBack = []func(*testing.T, *receiver, []broker.Delivery){
	func(_ *testing.T, r *receiver, _ []broker.Delivery) { r.Abandon() },
	func(t *testing.T, r *receiver, _ []broker.Delivery) {
		if err := r.Close(t.Context()); err != nil {
			t.Fatalf("close: %v", err)
		}
	},
	func(_ *testing.T, r *receiver, d []broker.Delivery) {
		r.settle(broker.Ack, broker.Delivery{Token: broker.Token{Tag: d[0].Token.Tag + 99}})
		r.fails()
	},
}

// TestDeliveryLimit: exactly so many deliveries, whichever way the message comes back.
func TestDeliveryLimit(t *testing.T) {
	e := open(t, Config{Queue: Quorum})
	for _, limit := range []int{1, 2, 3} {
		dead := queue(t, e, broker.Destination{})
		to := queue(t, e, broker.Destination{MaxDeliveries: limit, DeadLetter: dead})
		s := newSender(t, e, nil)
		s.send(to, 1)
		s.flush()
		for i := 1; i <= limit; i++ {
			r := newReceiver(t, e, to, nil)
			d := r.take(1)
			if d[0].Count != i {
				t.Errorf("limit %d: delivery %d has count %d", limit, i, d[0].Count)
			}
			giveBack[i%len(giveBack)](t, r, d)
		}
		newReceiver(t, e, dead, nil).take(1)
		if left := ready(t, e, to); left != 0 {
			t.Errorf("limit %d: %d left", limit, left)
		}
	}
}

func TestQueueDeletedUnderAConsumer(t *testing.T) {
	each(t, func(t *testing.T, e *engine) {
		to := queue(t, e, broker.Destination{})
		r := newReceiver(t, e, to, nil)
		if err := e.Remove(t.Context(), to); err != nil {
			t.Fatalf("remove: %v", err)
		}
		var said *broker.Error
		if why := r.fails(); !errors.As(why, &said) || said.Code != "basic.cancel" {
			t.Errorf("receive: %v; want basic.cancel", why)
		}
	})
}

func TestRejectMultiple(t *testing.T) {
	each(t, func(t *testing.T, e *engine) {
		dead := queue(t, e, broker.Destination{})
		to := queue(t, e, broker.Destination{DeadLetter: dead})
		s := newSender(t, e, nil)
		s.send(to, 3)
		s.flush()
		r := newReceiver(t, e, to, nil)
		got := r.take(3)
		result := make([]error, 1)
		r.Settle(t.Context(), []broker.Settlement{{Verb: broker.Reject, Token: got[1].Token, Multiple: true}}, result)
		if result[0] != nil {
			t.Fatalf("reject: %v", result[0])
		}
		buried := seqs(newReceiver(t, e, dead, nil).take(2))
		slices.Sort(buried)
		if !slices.Equal(buried, []uint64{0, 1}) {
			t.Errorf("dead letters %v, want 0 and 1", buried)
		}
	})
}

func exclusive(s *broker.ConsumerSpec) { s.Exclusive = true }

func TestExclusive(t *testing.T) {
	classic := open(t, Config{Queue: Classic})
	to := queue(t, classic, broker.Destination{})
	first := newReceiver(t, classic, to, exclusive)
	if _, err := classic.Consumer(t.Context(), broker.ConsumerSpec{Name: "second", From: to, Exclusive: true}); !errors.Is(err, broker.ErrDenied) {
		t.Errorf("a second exclusive consumer: %v, want ErrDenied", err)
	}
	first.Abandon()
	quorum := open(t, Config{Queue: Quorum})
	if _, err := quorum.Consumer(t.Context(), broker.ConsumerSpec{Name: "only", From: to, Exclusive: true}); !errors.Is(err, broker.ErrUnsupported) {
		t.Errorf("exclusive on a quorum queue: %v, want ErrUnsupported", err)
	}
}

func TestSingleActiveConsumer(t *testing.T) {
	each(t, func(t *testing.T, e *engine) {
		to := queue(t, e, broker.Destination{Native: map[string]string{singleActiveConsumer: "true"}})
		s := newSender(t, e, nil)
		s.send(to, 3)
		s.flush()
		active := newReceiver(t, e, to, exclusive)
		active.take(1)
		standby := newReceiver(t, e, to, exclusive)
		if n, err := standby.Receive(t.Context(), make([]broker.Delivery, 3), poll); n != 0 || err != nil {
			t.Fatalf("the standby received %d, %v", n, err)
		}
		active.Abandon()
		if got := seqs(standby.take(3)); !slices.Equal(got, []uint64{0, 1, 2}) {
			t.Errorf("the standby got %v, want 0 to 2 in order", got)
		}
	})
}

func TestRefusedConsumers(t *testing.T) {
	for what, spec := range map[string]broker.ConsumerSpec{
		"auto commit": {AutoCommit: 1},
		"start":       {Start: broker.Latest},
		"static id":   {StaticID: "a"},
		"strategy":    {Strategy: "range"},
		"prefetch":    {Prefetch: 1 << 16},
	} {
		if err := refuseConsumer(spec); !errors.Is(err, broker.ErrUnsupported) {
			t.Errorf("%s: %v, want ErrUnsupported", what, err)
		}
	}
}

// calls writes down what a settlement sends.
type calls struct{ all []string }

func (c *calls) Ack(tag uint64, multiple bool) error {
	return c.add("ack", tag, multiple, false)
}

func (c *calls) Nack(tag uint64, multiple, requeue bool) error {
	return c.add("nack", tag, multiple, requeue)
}

func (c *calls) Reject(tag uint64, requeue bool) error {
	return c.add("reject", tag, false, requeue)
}

func TestSettlements(t *testing.T) {
	for _, c := range []struct {
		s    broker.Settlement
		want string
	}{
		{broker.Settlement{Verb: broker.Ack}, "ack 7"},
		{broker.Settlement{Verb: broker.Ack, Multiple: true}, "ack 7 multiple"},
		{broker.Settlement{Verb: broker.Requeue}, "nack 7 requeue"},
		{broker.Settlement{Verb: broker.Requeue, Multiple: true}, "nack 7 multiple requeue"},
		{broker.Settlement{Verb: broker.Reject}, "reject 7"},
		{broker.Settlement{Verb: broker.Reject, Multiple: true}, "nack 7 multiple"},
	} {
		c.s.Token.Tag = 7
		sent := &calls{}
		if err := send(sent, &c.s); err != nil || !slices.Equal(sent.all, []string{c.want}) {
			t.Errorf("%+v sent %q, %v; want %q", c.s, sent.all, err, c.want)
		}
	}
	for _, s := range []broker.Settlement{{}, {Verb: broker.Extend}, {Verb: broker.Commit}, {Verb: broker.Mark}, {Verb: broker.Requeue, Delay: 1}} {
		if err := refuseSettlement(&s); !errors.Is(err, broker.ErrUnsupported) {
			t.Errorf("%+v: %v, want ErrUnsupported", s, err)
		}
	}
}

func (c *calls) add(verb string, tag uint64, multiple, requeue bool) error {
	text := verb + " " + string(rune('0'+tag))
	if multiple {
		text += " multiple"
	}
	if requeue {
		text += " requeue"
	}
	c.all = append(c.all, text)
	return nil
}

func TestDeliveryCountHeader(t *testing.T) {
	for _, c := range []struct {
		value any
		want  int
	}{{nil, 0}, {int64(2), 2}, {int32(3), 3}, {int16(4), 4}, {int8(5), 5}, {uint8(6), 6}, {"7", 0}} {
		if got := earlier(amqp.Table{countHeader: c.value}); got != c.want {
			t.Errorf("%T %v is read as %d, want %d", c.value, c.value, got, c.want)
		}
	}
}
