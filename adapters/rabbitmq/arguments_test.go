// SPDX-License-Identifier: Apache-2.0

package rabbitmq

import (
	"errors"
	"reflect"
	"testing"
	"time"

	amqp "github.com/rabbitmq/amqp091-go"

	"github.com/seed-720a3c77/harness/broker"
	"github.com/seed-720a3c77/harness/contract/profiles"
)

// unconnected is an engine that was never opened.
func unconnected(t *testing.T, version, queue string) *engine {
	t.Helper()
	profile, _, err := profiles.For("rabbitmq", version, queue)
	if err != nil {
		t.Fatal(err)
	}
	return &engine{config: Config{Queue: queue}, profile: profile, known: map[string]facts{}}
}

func TestQueueArguments(t *testing.T) {
	for _, c := range []struct {
		version, queue string
		d              broker.Destination
		want           amqp.Table
	}{
		{"3.10.8", Quorum, broker.Destination{}, amqp.Table{}},
		{"3.10.8", Quorum, broker.Destination{MaxDeliveries: 3}, amqp.Table{"x-delivery-limit": int64(2)}},
		{"3.10.8", Quorum, broker.Destination{MaxDeliveries: -1}, amqp.Table{}},
		{"4.0.5", Quorum, broker.Destination{MaxDeliveries: -1}, amqp.Table{"x-delivery-limit": int64(-1)}},
		{"4.0.5", Classic, broker.Destination{MaxDeliveries: -1}, amqp.Table{}},
		{"4.0.5", Classic, broker.Destination{Lease: 2 * time.Second}, amqp.Table{"x-consumer-timeout": int64(2000)}},
		{"3.10.8", Classic, broker.Destination{DeadLetter: "dead"}, amqp.Table{"x-dead-letter-exchange": "", "x-dead-letter-routing-key": "dead"}},
		{"3.10.8", Classic, broker.Destination{MaxLength: 3, Overflow: "reject-publish"}, amqp.Table{"x-max-length": int64(3), "x-overflow": "reject-publish"}},
		{"3.10.8", Classic, broker.Destination{TTL: time.Microsecond}, amqp.Table{"x-message-ttl": int64(1)}},
		{"3.10.8", Classic, broker.Destination{Native: map[string]string{"x-max-priority": "10", "x-single-active-consumer": "true", "x-note": "a"}},
			amqp.Table{"x-max-priority": int64(10), "x-single-active-consumer": true, "x-note": "a"}},
	} {
		c.want["x-queue-type"] = c.queue
		if got := unconnected(t, c.version, c.queue).arguments(c.d); !reflect.DeepEqual(got, c.want) {
			t.Errorf("%s %s %+v: %v, want %v", c.version, c.queue, c.d, got, c.want)
		}
	}
}

func TestRefusedDestinations(t *testing.T) {
	for _, c := range []struct {
		version, queue string
		d              broker.Destination
	}{
		{"4.0.5", Classic, broker.Destination{MaxDeliveries: 3}},
		{"3.10.8", Quorum, broker.Destination{Lease: time.Minute}},
		{"4.0.5", Quorum, broker.Destination{Overflow: "reject-publish-dlx"}},
		{"4.0.5", Quorum, broker.Destination{Partitions: 2}},
		{"4.0.5", Quorum, broker.Destination{FIFO: true}},
		{"4.0.5", Quorum, broker.Destination{Delay: time.Second}},
		{"4.0.5", Quorum, broker.Destination{DedupWindow: time.Second}},
		{"4.0.5", Quorum, broker.Destination{Bindings: map[string]string{"q": ""}}},
		{"4.0.5", Quorum, broker.Destination{Kind: broker.Exchange, TTL: time.Second}},
		{"4.0.5", Quorum, broker.Destination{Kind: "topic"}},
	} {
		if err := unconnected(t, c.version, c.queue).refuse(c.d); !errors.Is(err, broker.ErrUnsupported) {
			t.Errorf("%s %s %+v: %v, want ErrUnsupported", c.version, c.queue, c.d, err)
		}
	}
}

func TestOnlyPlainRejectPublishOfAClassicQueueProves(t *testing.T) {
	for _, c := range []struct {
		queue, overflow string
		want            bool
	}{
		{Classic, "reject-publish", true},
		{Classic, "reject-publish-dlx", false},
		{Classic, "drop-head", false},
		{Classic, "", false},
		{Quorum, "reject-publish", false},
	} {
		d := broker.Destination{MaxLength: 3, Overflow: c.overflow}
		if got := unconnected(t, "3.10.8", c.queue).factsFrom(d).rejects; got != c.want {
			t.Errorf("%s %q: a nack proves rejection: %t", c.queue, c.overflow, got)
		}
	}
}
