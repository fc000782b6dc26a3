// SPDX-License-Identifier: Apache-2.0

package kafka

import (
	"bytes"
	"context"
	"errors"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/seed-720a3c77/harness/broker"
	"github.com/seed-720a3c77/harness/contract"
	"github.com/seed-720a3c77/harness/msg"
)

func TestAcksZeroProvesNothing(t *testing.T) {
	r := newRig(t)
	to := r.topic(1, map[string]string{"max.message.bytes": "1000"})
	p := r.producer(broker.ProducerSpec{Acks: "0"})
	fine, refused := r.message(to, 0), r.message(to, 0)
	refused.Body = make([]byte, 5000) // the broker will not store it, and cannot say so
	for _, m := range []*msg.Message{fine, refused} {
		got := r.publish(p, m)
		r.wantClass("acks=0", got.err, contract.None, contract.AcceptedOnly)
		if got.receipt.Offset != noOffset {
			t.Errorf("acks=0 has offset %d, want none", got.receipt.Offset)
		}
	}
}

func TestTooLargeIsRejected(t *testing.T) {
	r := newRig(t)
	to := r.topic(1, map[string]string{"max.message.bytes": "1000"})
	p := r.producer(broker.ProducerSpec{})
	broad, huge, fine := r.message(to, 0), r.message(to, 0), r.message(to, 0)
	broad.Body, huge.Body = make([]byte, 5000), make([]byte, 5<<20)
	got := r.publish(p, broad)
	r.wantClass("too large for the broker", got.err, contract.Refused, contract.Rejected)
	if own := (*broker.Error)(nil); !errors.As(got.err, &own) || own.Code != "KError 10" || got.receipt.Offset != noOffset {
		t.Errorf("too large for the broker: %v at %d, want KError 10 without an offset", got.err, got.receipt.Offset)
	}
	r.wantClass("too large for the client", r.publish(p, huge).err, contract.Refused, contract.Rejected)
	got = r.publish(p, fine)
	r.must(got.err, "publish after two refusals")
	if got.receipt.Offset != 0 {
		t.Errorf("first stored record is at %d, want 0", got.receipt.Offset)
	}
}

func TestRefusedBeforeTheClient(t *testing.T) {
	r := newRig(t)
	to := r.topic(2, nil)
	p := r.producer(broker.ProducerSpec{})
	for what, change := range map[string]func(*msg.Message){
		"no such partition": func(m *msg.Message) { m.Partition = 2 },
		"below any":         func(m *msg.Message) { m.Partition = -2 },
		"a delay":           func(m *msg.Message) { m.Delay = 1 },
		"a priority":        func(m *msg.Message) { m.Priority = 1 },
		"a route":           func(m *msg.Message) { m.Route = "x" },
	} {
		m := r.message(to, msg.AnyPartition)
		change(m)
		r.wantClass(what, r.publish(p, m).err, contract.Refused, contract.Rejected)
	}
	r.wantClass("a topic that is missing", r.publish(p, r.message("missing-"+to, 0)).err, contract.Refused, contract.Rejected)
}

// The caller may use its message and body again as soon as Publish returns.
func TestMessageIsCopied(t *testing.T) {
	const n = 50
	r := newRig(t)
	to := r.topic(1, nil)
	p := r.producer(broker.ProducerSpec{Linger: 50 * time.Millisecond})
	m, want := r.message(to, 0), map[uint64]string{}
	for i := range n {
		m.ID.Seq, m.Key = uint64(i), "k"+strconv.Itoa(i)
		m.Body = append(m.Body[:0], "body "+strconv.Itoa(i)...)
		want[m.ID.Seq] = string(m.Body)
		r.must(p.Publish(r.ctx, m, func(broker.Receipt, error) {}), "publish")
		copy(m.Body, "overwritten")
	}
	r.must(p.Flush(r.ctx), "flush")
	for _, d := range r.consumer(broker.ConsumerSpec{From: to, Batch: n}).take(n) {
		if d.Foreign || d.Corrupt || string(d.Body) != want[d.ID.Seq] || d.Key != "k"+strconv.FormatUint(d.ID.Seq, 10) {
			t.Fatalf("read %+v, want body %q", d, want[d.ID.Seq])
		}
	}
}

func TestHeadersTravelBesideTheEnvelope(t *testing.T) {
	r := newRig(t)
	to := r.topic(1, nil)
	m := r.message(to, 0)
	m.Headers, m.Body = map[string]string{"trace": "abc"}, nil
	r.must(r.publish(r.producer(broker.ProducerSpec{}), m).err, "publish")
	c := r.consumer(broker.ConsumerSpec{From: to})
	d := c.take(1)[0]
	if d.Foreign || d.Corrupt || d.ID != m.ID || len(d.Body) != 0 {
		t.Errorf("read %+v", d)
	}
}

func TestWindowBoundsWhatIsUnanswered(t *testing.T) {
	r := newRig(t)
	to := r.topic(1, nil)
	p := r.producer(broker.ProducerSpec{InFlight: 2, Linger: time.Minute})
	for range 2 {
		r.must(p.Publish(r.ctx, r.message(to, 0), func(broker.Receipt, error) {}), "publish")
	}
	ctx, cancel := context.WithTimeout(r.ctx, 50*time.Millisecond)
	defer cancel()
	err := p.Publish(ctx, r.message(to, 0), func(broker.Receipt, error) { t.Error("completed though it was refused") })
	r.wantClass("no room", err, contract.Timeout, contract.Rejected)
	if err := p.Flush(ctx); !errors.Is(err, context.DeadlineExceeded) || !strings.Contains(err.Error(), "2 unanswered") {
		t.Errorf("flush of a window that nobody empties: %v", err)
	}
}

func TestNoCompletionAfterAbandon(t *testing.T) {
	r := newRig(t)
	to := r.topic(1, nil)
	var late atomic.Int32
	p := r.producer(broker.ProducerSpec{Linger: 2 * time.Second})
	for range 10 {
		r.must(p.Publish(r.ctx, r.message(to, 0), func(broker.Receipt, error) { late.Add(1) }), "publish")
	}
	p.Abandon()
	<-p.(*producer).collected // the client has failed all that it held
	if late.Load() != 0 {
		t.Errorf("%d completions after an abandon", late.Load())
	}
	if d, err := r.Depth(r.ctx, to, ""); err != nil || d.End != 0 {
		t.Errorf("depth %+v, %v: what lingered was sent after the abandon", d, err)
	}
}

func TestCloseOutOfTimeAbandons(t *testing.T) {
	r := newRig(t)
	to := r.topic(1, nil)
	l := &link{}
	r.config.Dial = l.dial
	p := r.producer(broker.ProducerSpec{})
	l.mute.Store(true)
	r.must(p.Publish(r.ctx, r.message(to, 0), func(broker.Receipt, error) { t.Error("completed") }), "publish")
	ctx, cancel := context.WithTimeout(r.ctx, 100*time.Millisecond)
	defer cancel()
	if err := p.Close(ctx); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("close on a silent link: %v, want the deadline", err)
	}
	<-p.(*producer).collected
}

func TestIdempotentModeHasOneOpenRequest(t *testing.T) {
	r := newRig(t)
	r.producer(broker.ProducerSpec{Idempotent: true, Retries: 3})
	told := r.Settings()
	if told["producer.Net.MaxOpenRequests"] != "1" || told["producer.Idempotent"] != "true" || told["producer.Retry.Max"] != "3" {
		t.Errorf("settings in effect: %v", told)
	}
}

// An answer that is lost leaves a record that is stored all the same.
func TestLostAnswerIsUnknown(t *testing.T) {
	l := &link{}
	r := newRigWith(t, l.dial)
	to := r.topic(1, nil)
	p := r.producer(broker.ProducerSpec{})
	r.must(r.publish(p, r.message(to, 0)).err, "publish")
	l.lose.Store(1)
	r.wantClass("an answer that was lost", r.publish(p, r.message(to, 0)).err, contract.Closed, contract.Unknown)
	r.must(r.publish(p, r.message(to, 0)).err, "publish on a new connection")
	r.wantIDs(r.consumer(broker.ConsumerSpec{From: to, Batch: 3}).take(3), 0, 1, 2)
}

// With a retry the same loss is hidden, stored twice, and told.
func TestRetryIsTold(t *testing.T) {
	l := &link{}
	r := newRigWith(t, l.dial)
	to := r.topic(1, nil)
	var retried atomic.Int32
	p := r.producer(broker.ProducerSpec{Retries: 2, Notify: func(n broker.Notice) {
		if n.Kind == broker.Retried {
			retried.Add(1)
		}
	}})
	r.must(r.publish(p, r.message(to, 0)).err, "publish")
	l.lose.Store(1)
	got := r.publish(p, r.message(to, 0))
	r.must(got.err, "publish with a retry")
	if retried.Load() == 0 || got.receipt.Copies < 2 || got.receipt.Offset != 2 {
		t.Errorf("%d retries told, receipt %+v; want at least one, two copies, offset 2", retried.Load(), got.receipt)
	}
	r.wantIDs(r.consumer(broker.ConsumerSpec{From: to, Batch: 3}).take(3), 0, 1, 1)
}

func TestIdempotentRetryIsStoredOnce(t *testing.T) {
	l := &link{}
	r := newRigWith(t, l.dial)
	to := r.topic(1, nil)
	p := r.producer(broker.ProducerSpec{Idempotent: true, Retries: 3})
	r.must(r.publish(p, r.message(to, 0)).err, "publish")
	l.lose.Store(1)
	r.must(r.publish(p, r.message(to, 0)).err, "publish with a retry")
	c := r.consumer(broker.ConsumerSpec{From: to, Batch: 3})
	r.wantIDs(c.take(2), 0, 1)
	c.none()
}

// A connection that cannot be opened proves that nothing was sent.
func TestDialFailureIsRejected(t *testing.T) {
	l := &link{}
	r := newRigWith(t, l.dial)
	to := r.topic(1, nil)
	p := r.producer(broker.ProducerSpec{})
	r.must(r.publish(p, r.message(to, 0)).err, "publish")
	l.refuse.Store(true)
	l.cut()
	r.wantClass("the first on a dead link", r.publish(p, r.message(to, 0)).err, contract.Closed, contract.Unknown)
	r.wantClass("the next, without a connection", r.publish(p, r.message(to, 0)).err, contract.Closed, contract.Rejected)
	l.refuse.Store(false)
	r.must(r.publish(p, r.message(to, 0)).err, "publish after the heal")
}

func (r *rig) wantIDs(all []broker.Delivery, want ...uint64) {
	r.t.Helper()
	got := make([]uint64, len(all))
	for i, d := range all {
		got[i] = d.ID.Seq
	}
	if len(got) != len(want) {
		r.t.Fatalf("read ids %v, want %v", got, want)
	}
	for i := range want {
		if got[i] != want[i] {
			r.t.Fatalf("read ids %v, want %v", got, want)
		}
	}
}

func TestKeysGoWhereJavaPutsThem(t *testing.T) {
	// From Kafka's own client: toPositive(murmur2(key)) % partitions.
	p := newPartitioner("t")
	for key, want := range map[string]int32{"21": 0, "foobar": 6, "a-little-bit-long-string": 2, "abc": 7} {
		one := &pending{}
		one.fill(1, &msg.Message{Key: key, Partition: msg.AnyPartition}, nil)
		if got, err := p.Partition(&one.record, 10); err != nil || got != want {
			t.Errorf("key %q: partition %d, %v; want %d", key, got, err, want)
		}
	}
	one := &pending{}
	one.fill(1, &msg.Message{Key: "21", Partition: 7}, nil)
	if got, _ := p.Partition(&one.record, 10); got != 7 {
		t.Errorf("pinned to 7 went to %d", got)
	}
}

func TestPendingIsFilledAnew(t *testing.T) {
	p := &pending{}
	p.fill(1, &msg.Message{To: "a", Key: "k", Partition: 3, Body: bytes.Repeat([]byte("x"), 100), Headers: map[string]string{"h": "v"}}, nil)
	p.record.Offset = 99
	p.fill(1, &msg.Message{To: "b", Partition: msg.AnyPartition}, nil)
	if p.record.Topic != "b" || p.record.Key != nil || p.record.Offset != noOffset || len(p.record.Headers) != 1 {
		t.Errorf("left over from before: %+v", p.record)
	}
	if value, _ := p.record.Value.Encode(); value == nil || len(value) != 0 {
		t.Errorf("an empty body is %v, want empty and no tombstone", value)
	}
	if key := string(p.record.Headers[0].Key); key != msg.HeaderName {
		t.Errorf("header %q", key)
	}
}
