// SPDX-License-Identifier: Apache-2.0

package kafka

import (
	"context"
	"crypto/rand"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/IBM/sarama"

	"github.com/seed-720a3c77/harness/broker"
	"github.com/seed-720a3c77/harness/msg"
)

// The cost of the adapter beside the bare client, with the same settings:
//
//	HARNESS_KAFKA=127.0.0.1:9092 go test -bench . -benchmem -run '^$' ./adapters/kafka

func benchEngine(b *testing.B) (*engine, string) {
	b.Helper()
	address := os.Getenv("HARNESS_KAFKA")
	if address == "" {
		b.Fatal("set HARNESS_KAFKA to the address of a broker")
	}
	ctx := context.Background()
	opened, err := Open(ctx, Config{Addresses: strings.Split(address, ",")})
	if err != nil {
		b.Fatal(err)
	}
	e, name := opened.(*engine), "bench-"+rand.Text()[:10]
	if err := e.Declare(ctx, broker.Topology{Destinations: []broker.Destination{{Name: name}}}); err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() {
		e.Remove(ctx, name)
		e.Close(ctx)
	})
	return e, name
}

const bodySize = 1024

func BenchmarkPublish(b *testing.B) {
	e, to := benchEngine(b)
	ctx := context.Background()
	p, err := e.Producer(ctx, broker.ProducerSpec{Name: "p"})
	if err != nil {
		b.Fatal(err)
	}
	m := &msg.Message{To: to, Key: "k", Attempt: 1, Partition: msg.AnyPartition, Body: make([]byte, bodySize)}
	failed := false
	done := func(_ broker.Receipt, err error) { failed = failed || err != nil }
	b.SetBytes(bodySize)
	b.ReportAllocs()
	b.ResetTimer()
	for range b.N {
		m.ID.Seq++
		if err := p.Publish(ctx, m, done); err != nil {
			b.Fatal(err)
		}
	}
	if err := p.Close(ctx); err != nil || failed {
		b.Fatal(err, failed)
	}
}

func BenchmarkPublishBareClient(b *testing.B) {
	e, to := benchEngine(b)
	settings, err := e.producerSettings(broker.ProducerSpec{Name: "p"}, e.sockets)
	if err != nil {
		b.Fatal(err)
	}
	p, err := sarama.NewAsyncProducer(e.config.Addresses, settings)
	if err != nil {
		b.Fatal(err)
	}
	window, failed := make(chan struct{}, defaultInFlight), false
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		for range p.Successes() {
			<-window
		}
	}()
	go func() {
		for range p.Errors() {
			failed = true
		}
	}()
	value, key := sarama.ByteEncoder(make([]byte, bodySize)), sarama.StringEncoder("k")
	header := sarama.RecordHeader{Key: []byte(msg.HeaderName), Value: []byte("1;0;p0/1000;1;0;efb5af2e")}
	b.SetBytes(bodySize)
	b.ReportAllocs()
	b.ResetTimer()
	for range b.N {
		window <- struct{}{}
		p.Input() <- &sarama.ProducerMessage{Topic: to, Key: key, Value: value, Partition: msg.AnyPartition, Headers: []sarama.RecordHeader{header}}
	}
	p.AsyncClose()
	<-ended
	if failed {
		b.Fatal("failed")
	}
}

// fill stores n records for a consumer's benchmark.
func fill(b *testing.B, e *engine, to string, n int) {
	b.Helper()
	ctx := context.Background()
	p, err := e.Producer(ctx, broker.ProducerSpec{Name: "p"})
	if err != nil {
		b.Fatal(err)
	}
	m := &msg.Message{To: to, Key: "k", Attempt: 1, Partition: 0, Body: make([]byte, bodySize)}
	for range n {
		m.ID.Seq++
		if err := p.Publish(ctx, m, func(broker.Receipt, error) {}); err != nil {
			b.Fatal(err)
		}
	}
	if err := p.Close(ctx); err != nil {
		b.Fatal(err)
	}
}

func BenchmarkReceive(b *testing.B) {
	e, to := benchEngine(b)
	fill(b, e, to, b.N)
	ctx := context.Background()
	c, err := e.Consumer(ctx, broker.ConsumerSpec{Name: "c", From: to, Batch: 500})
	if err != nil {
		b.Fatal(err)
	}
	defer c.Close(ctx)
	into := make([]broker.Delivery, 500)
	b.SetBytes(bodySize)
	b.ReportAllocs()
	b.ResetTimer()
	for n := 0; n < b.N; {
		got, err := c.Receive(ctx, into, time.Second)
		if err != nil {
			b.Fatal(err)
		}
		n += got
	}
	b.StopTimer()
}

func BenchmarkReceiveBareClient(b *testing.B) {
	e, to := benchEngine(b)
	fill(b, e, to, b.N)
	settings, err := e.consumerSettings(broker.ConsumerSpec{Name: "c", From: to, Session: e.profile.Session.Floor}, &consumer{sockets: e.sockets})
	if err != nil {
		b.Fatal(err)
	}
	c, err := sarama.NewConsumer(e.config.Addresses, settings)
	if err != nil {
		b.Fatal(err)
	}
	defer c.Close()
	reader, err := c.ConsumePartition(to, 0, sarama.OffsetOldest)
	if err != nil {
		b.Fatal(err)
	}
	defer reader.AsyncClose()
	b.SetBytes(bodySize)
	b.ReportAllocs()
	b.ResetTimer()
	for n := 0; n < b.N; n++ {
		<-reader.Messages()
	}
	b.StopTimer()
}
