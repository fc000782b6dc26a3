// SPDX-License-Identifier: Apache-2.0

package rabbitmq

import (
	"testing"
	"time"

	amqp "github.com/rabbitmq/amqp091-go"

	"github.com/seed-720a3c77/harness/broker"
	"github.com/seed-720a3c77/harness/msg"
)

const (
	benchBody     = 1024
	benchInFlight = 500
)

// TestAllocations: a publish adds the envelope and its place in the client's table of
// headers, a delivery adds what reading the envelope takes.
func TestAllocations(t *testing.T) {
	publish, receive := hotPaths()
	if got := testing.AllocsPerRun(100, publish); got > 2 {
		t.Errorf("a publish allocates %v times, want 2", got)
	}
	text := envelopeText()
	parse := testing.AllocsPerRun(100, func() { msg.ParseEnvelope(text) })
	if got := testing.AllocsPerRun(100, receive); got > parse {
		t.Errorf("a delivery allocates %v times, want %v", got, parse)
	}
}

func envelopeText() string {
	return msg.Seal(testRun, &msg.Message{Attempt: 1, Body: make([]byte, benchBody)}).String()
}

// hotPaths are the adapter's own parts, without the client.
func hotPaths() (publish, receive func()) {
	p := &producer{spec: broker.ProducerSpec{Run: testRun}, headers: amqp.Table{}, room: make(chan struct{}, 1)}
	o := newOutlet(nil, 1, benchInFlight, 0)
	o.answer = p.answer
	m := &msg.Message{To: "q", Attempt: 1, Body: make([]byte, benchBody)}
	acked := &frames{acked: true}
	done := func(broker.Receipt, error) {}
	c := &consumer{engine: &engine{}, spec: broker.ConsumerSpec{Run: testRun}}
	d := &amqp.Delivery{Headers: amqp.Table{msg.HeaderName: envelopeText()}, Body: make([]byte, benchBody)}
	into := make([]broker.Delivery, 1)
	publish = func() {
		p.room <- struct{}{}
		envelope := p.seal(m)
		_ = p.publishing(m)
		tag := o.admit(pending{done: done, envelope: envelope})
		o.prove(tag, acked)
		o.settle(tag)
	}
	return publish, func() { c.fill(&into[0], d) }
}

func BenchmarkAdapterAlone(b *testing.B) {
	publish, receive := hotPaths()
	b.Run("publish", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			publish()
		}
	})
	b.Run("receive", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			receive()
		}
	})
}

// BenchmarkPublish compares with a bare loop over the client, in the same settings.
func BenchmarkPublish(b *testing.B) {
	e, to := benchQueue(b)
	body := make([]byte, benchBody)
	b.Run("adapter", func(b *testing.B) {
		p, err := e.Producer(b.Context(), broker.ProducerSpec{Name: unique("bench"), Run: testRun, InFlight: benchInFlight})
		if err != nil {
			b.Fatal(err)
		}
		defer p.Abandon()
		m := &msg.Message{To: to, Attempt: 1, Body: body}
		b.ReportAllocs()
		for b.Loop() {
			p.Publish(b.Context(), m, func(broker.Receipt, error) {})
			m.ID.Seq++
		}
		p.Flush(b.Context())
	})
	b.Run("client", func(b *testing.B) { bareLoop(b, e, to, body) })
}

func bareLoop(b *testing.B, e *engine, to string, body []byte) {
	l, err := dial(b.Context(), e.config, unique("bare"), 10*time.Second)
	if err != nil {
		b.Fatal(err)
	}
	defer l.cut()
	channel, err := l.conn.Channel()
	if err != nil {
		b.Fatal(err)
	}
	channel.Confirm(false)
	room := make(chan struct{}, benchInFlight)
	confirms := channel.NotifyPublish(make(chan amqp.Confirmation, benchInFlight))
	go func() {
		for range confirms {
			<-room
		}
	}()
	headers := amqp.Table{msg.HeaderName: envelopeText()}
	b.ReportAllocs()
	for b.Loop() {
		room <- struct{}{}
		channel.PublishWithDeferredConfirm("", to, false, false, amqp.Publishing{Headers: headers, DeliveryMode: amqp.Persistent, Body: body})
	}
	for range benchInFlight {
		room <- struct{}{}
	}
}

// BenchmarkConsume receives and acks one by one.
func BenchmarkConsume(b *testing.B) {
	e, to := benchQueue(b)
	p, err := e.Producer(b.Context(), broker.ProducerSpec{Name: unique("bench"), Run: testRun})
	if err != nil {
		b.Fatal(err)
	}
	m := &msg.Message{To: to, Attempt: 1, Body: make([]byte, benchBody)}
	for range b.N {
		p.Publish(b.Context(), m, func(broker.Receipt, error) {})
	}
	if err := p.Close(b.Context()); err != nil {
		b.Fatal(err)
	}
	c, err := e.Consumer(b.Context(), broker.ConsumerSpec{Name: unique("bench"), Run: testRun, From: to, Batch: 100})
	if err != nil {
		b.Fatal(err)
	}
	defer c.Abandon()
	into, settle, results := make([]broker.Delivery, 100), make([]broker.Settlement, 100), make([]error, 100)
	b.ReportAllocs()
	b.ResetTimer()
	calls := 0
	for got := 0; got < b.N; calls++ {
		n, err := c.Receive(b.Context(), into, poll)
		if err != nil {
			b.Fatal(err)
		}
		for i := range n {
			settle[i] = broker.Settlement{Verb: broker.Ack, Token: into[i].Token}
		}
		c.Settle(b.Context(), settle[:n], results)
		got += n
	}
	b.ReportMetric(float64(b.N)/float64(calls), "msgs/receive")
}

func benchQueue(b *testing.B) (*engine, string) {
	b.Helper()
	e := open(b, Config{Queue: Classic})
	return e, queue(b, e, broker.Destination{})
}
