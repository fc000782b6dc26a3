// SPDX-License-Identifier: Apache-2.0

package inmem

import (
	"strings"
	"testing"
	"time"

	"github.com/seed-720a3c77/harness/broker"
	"github.com/seed-720a3c77/harness/contract"
	"github.com/seed-720a3c77/harness/contract/profiles"
)

func TestDeclareRefuses(t *testing.T) {
	for _, c := range []struct {
		profile, want string
		d             broker.Destination
	}{
		{"kafka", "ok", broker.Destination{Partitions: 12}},
		{"kafka", "ok", broker.Destination{MaxDeliveries: -1}},
		{"kafka", "unsupported", broker.Destination{DeadLetter: "dead"}},
		{"kafka", "unsupported", broker.Destination{Lease: time.Second}},
		{"kafka", "unsupported", broker.Destination{Kind: broker.Exchange}},
		{"sqs", "ok", broker.Destination{Lease: 5 * time.Second, Delay: time.Second}},
		{"sqs", "unsupported", broker.Destination{Lease: 1500 * time.Millisecond}},
		{"sqs", "unsupported", broker.Destination{Partitions: 2}},
		{"sqs", "unsupported", broker.Destination{FIFO: true}},
		{"sqs", "unsupported", broker.Destination{MaxDeliveries: 3}},
		{"sqs", "unsupported", broker.Destination{TTL: time.Second}},
		{"sqs", "unsupported", broker.Destination{MaxLength: 3}},
		{"sqs", "unsupported", broker.Destination{Native: map[string]string{"a": "b"}}},
		{"sqs", "ok", broker.Destination{Native: map[string]string{messageRetention: "60"}}},
		{"sqs", "unsupported", broker.Destination{Native: map[string]string{messageRetention: "59"}}},
		{"localstack", "unsupported", broker.Destination{Native: map[string]string{messageRetention: "60"}}},
		{"sqs-fifo", "ok", broker.Destination{FIFO: true, DedupWindow: time.Minute}},
		{"sqs-fifo", "unsupported", broker.Destination{Delay: time.Second}},
		{"rabbitmq", "ok", broker.Destination{MaxDeliveries: 3, Lease: 3 * time.Second}},
		{"rabbitmq", "not-found", broker.Destination{Kind: broker.Exchange, Bindings: map[string]string{"no-such": ""}}},
		{"rabbitmq-classic", "unsupported", broker.Destination{MaxDeliveries: 3}},
		{"rabbitmq-3.10-quorum", "unsupported", broker.Destination{Lease: 3 * time.Second}},
	} {
		s := newScript(t, c.profile, Options{})
		c.d.Name = "q"
		fine := broker.Destination{Name: "fine"}
		if got := outcome(s.m.Declare(0, broker.Topology{Destinations: []broker.Destination{fine, c.d}})); got != c.want {
			t.Errorf("%s: declare %+v: %s, want %s", c.profile, c.d, got, c.want)
		}
		if half := s.m.model.has("fine"); half != (c.want == "ok") {
			t.Errorf("%s: declare %+v: the other destination is there: %t", c.profile, c.d, half)
		}
	}
}

func TestConsumerRefuses(t *testing.T) {
	for _, c := range []struct {
		profile, want string
		spec          broker.ConsumerSpec
	}{
		{"kafka", "ok", broker.ConsumerSpec{Session: 6 * time.Second, StaticID: "s", AutoCommit: time.Second}},
		{"kafka", "refused", broker.ConsumerSpec{Session: time.Second}},
		{"kafka", "unsupported", broker.ConsumerSpec{Group: "g", Strategy: "no-such"}},
		{"kafka", "unsupported", broker.ConsumerSpec{AutoAck: true}},
		{"kafka", "unsupported", broker.ConsumerSpec{Exclusive: true}},
		{"kafka", "not-found", broker.ConsumerSpec{From: "no-such"}},
		{"sqs", "unsupported", broker.ConsumerSpec{AutoCommit: time.Second}},
		{"sqs", "unsupported", broker.ConsumerSpec{StaticID: "s"}},
		{"sqs", "unsupported", broker.ConsumerSpec{Start: broker.Latest}},
		{"rabbitmq", "ok", broker.ConsumerSpec{AutoAck: true}},
		{"rabbitmq", "not-found", broker.ConsumerSpec{From: "x"}},
	} {
		s := newScript(t, c.profile, Options{}, broker.Destination{Name: "q"})
		if c.profile == "rabbitmq" {
			if err := s.m.Declare(0, broker.Topology{Destinations: []broker.Destination{{Name: "x", Kind: broker.Exchange}}}); err != nil {
				t.Fatal(err)
			}
		}
		if c.spec.From == "" {
			c.spec.From = "q"
		}
		if _, err := s.m.OpenConsumer(0, c.spec); outcome(err) != c.want {
			t.Errorf("%s: consumer %+v: %v, want %s", c.profile, c.spec, err, c.want)
		}
	}
}

func TestGroupsDoNotMixProtocols(t *testing.T) {
	s := newScript(t, "kafka", Options{}, broker.Destination{Name: "q"})
	s.run("open A strategy=range")
	_, err := s.m.OpenConsumer(0, broker.ConsumerSpec{Name: "B", From: "q", Group: "g", Strategy: cooperativeSticky})
	if outcome(err) != "refused" {
		t.Errorf("eager and cooperative in one group: %v", err)
	}
}

func TestProducerRefuses(t *testing.T) {
	for _, c := range []struct {
		profile, want string
		spec          broker.ProducerSpec
	}{
		{"kafka", "ok", broker.ProducerSpec{Acks: "0"}},
		{"kafka", "ok", broker.ProducerSpec{Acks: "1", Idempotent: true}},
		{"kafka", "unsupported", broker.ProducerSpec{Acks: "2"}},
		{"kafka", "unsupported", broker.ProducerSpec{Mandatory: true}},
		{"kafka", "unsupported", broker.ProducerSpec{NoConfirms: true}},
		{"kafka", "ok", broker.ProducerSpec{TransactionID: "t"}},
		{"kafka", "unsupported", broker.ProducerSpec{TransactionID: "t", Acks: "1"}},
		{"sqs", "unsupported", broker.ProducerSpec{TransactionID: "t"}},
		{"sqs", "ok", broker.ProducerSpec{Acks: "all"}},
		{"sqs", "unsupported", broker.ProducerSpec{Acks: "0"}},
		{"sqs", "unsupported", broker.ProducerSpec{Idempotent: true}},
		{"rabbitmq", "ok", broker.ProducerSpec{Mandatory: true, NoConfirms: true}},
	} {
		s := newScript(t, c.profile, Options{})
		if _, err := s.m.OpenProducer(0, c.spec); outcome(err) != c.want {
			t.Errorf("%s: producer %+v: %v, want %s", c.profile, c.spec, err, c.want)
		}
	}
}

func TestNewRefusesAProfileThatMakesNoSense(t *testing.T) {
	for knob, value := range map[string]string{
		profiles.MaxBody: "much", profiles.ClaimStart: "soon", profiles.CommitBackward: "maybe", profiles.ClientBuffer: "-1",
	} {
		p, _ := profiles.Named("kafka")
		p.Knobs[knob] = value
		if _, err := New(p, Options{}); err == nil || !strings.Contains(err.Error(), knob) {
			t.Errorf("knob %s=%s: %v", knob, value, err)
		}
	}
	if _, err := New(contract.Profile{Name: "empty"}, Options{}); err == nil {
		t.Error("a profile without a model was accepted")
	}
}

func TestTooLarge(t *testing.T) {
	p, _ := profiles.Named("kafka")
	p.Knobs[profiles.MaxBody] = "3"
	s := newScriptOf(t, p, Options{}, broker.Destination{Name: "q"})
	s.run(`
		send a1 = refused     # its body has four bytes
		depth q = 0/0/0`)
}

// TestUnprovenPublishes: what nobody confirms is accepted only, stored or not.
func TestUnprovenPublishes(t *testing.T) {
	for profile, spec := range map[string]broker.ProducerSpec{
		"kafka": {Acks: "0"}, "rabbitmq": {NoConfirms: true},
	} {
		s := newScript(t, profile, Options{}, broker.Destination{Name: "q"})
		producer, err := s.m.OpenProducer(0, spec)
		if err != nil {
			t.Fatal(err)
		}
		for _, to := range []string{"q", "no-such"} {
			m := s.message("a1")
			m.To = to
			_, err := s.m.Publish(0, producer, 0, m)
			if answer, class := broker.Classify(err, contract.OK); answer != contract.None || class != contract.AcceptedOnly {
				t.Errorf("%s: publish to %s: %v, %v", profile, to, answer, class)
			}
		}
	}
}
