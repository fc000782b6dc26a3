// SPDX-License-Identifier: Apache-2.0

package kafka

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/IBM/sarama"

	"github.com/seed-720a3c77/harness/broker"
)

func TestConfigRefusals(t *testing.T) {
	some := []string{"127.0.0.1:9092"}
	for name, c := range map[string]struct {
		config Config
		want   string // part of the line; empty is accepted
	}{
		"nothing":           {Config{}, "an address is wanted"},
		"an empty address":  {Config{Addresses: []string{""}}, "an address is wanted"},
		"an address":        {Config{Addresses: some}, ""},
		"user and password": {Config{Addresses: some, SASL: SASL{User: "u", Password: "p"}}, ""},
		"SCRAM":             {Config{Addresses: some, SASL: SASL{User: "u", Mechanism: "SCRAM-SHA-512"}}, ""},
		"unknown mechanism": {Config{Addresses: some, SASL: SASL{User: "u", Mechanism: "SCRAM"}}, `unknown SASL mechanism "SCRAM": want PLAIN, SCRAM-SHA-256, SCRAM-SHA-512`},
		"password alone":    {Config{Addresses: some, SASL: SASL{Password: "p"}}, "SASL needs a user"},
	} {
		_, err := c.config.checked()
		if refused := err != nil; refused != (c.want != "") || refused && !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", name, err, c.want)
		}
	}
}

func TestSASLIsNeverShown(t *testing.T) {
	config := Config{Addresses: []string{"b:9092"}, SASL: SASL{User: "the-user", Password: "the-secret"}}
	data, err := json.Marshal(config.SASL)
	if err != nil {
		t.Fatal(err)
	}
	shown := fmt.Sprintf("%v %+v %#v %s %q %x", config, config, config, config.SASL, config.SASL, config.SASL) + string(data)
	if strings.Contains(shown, "the-secret") || strings.Contains(shown, "the-user") {
		t.Errorf("credentials are shown: %s", shown)
	}
	if !strings.Contains(shown, "PLAIN") {
		t.Errorf("the mechanism is not shown: %s", shown)
	}
}

// offline is an engine without a broker.
func offline() *engine {
	e := newEngine(Config{Addresses: []string{"127.0.0.1:1"}, Timeout: 5 * time.Second})
	e.minSession = 6 * time.Second
	return e
}

func TestProducerRefusals(t *testing.T) {
	for name, c := range map[string]struct {
		spec        broker.ProducerSpec
		want        string
		unsupported bool
	}{
		"nothing":                       {broker.ProducerSpec{}, "", false},
		"acks 1":                        {broker.ProducerSpec{Acks: "1"}, "", false},
		"unknown acks":                  {broker.ProducerSpec{Acks: "2"}, `acks "2": want 0, 1 or all`, false},
		"idempotent":                    {broker.ProducerSpec{Idempotent: true, Retries: 1}, "", false},
		"idempotent without retries":    {broker.ProducerSpec{Idempotent: true}, "idempotent needs retries: 1 or more", false},
		"idempotent with acks 1":        {broker.ProducerSpec{Idempotent: true, Retries: 1, Acks: "1"}, "idempotent needs acks: all", false},
		"no confirms":                   {broker.ProducerSpec{NoConfirms: true}, "without confirms", true},
		"mandatory":                     {broker.ProducerSpec{Mandatory: true}, "mandatory", true},
		"negative retries":              {broker.ProducerSpec{Retries: -1}, "cannot be negative", false},
		"transaction":                   {broker.ProducerSpec{TransactionID: "t", Idempotent: true, Retries: 1}, "", false},
		"batch, linger, time-out":       {broker.ProducerSpec{BatchMax: 10, Linger: time.Millisecond, Timeout: time.Second}, "", false},
		"a time-out of less than 1 ms ": {broker.ProducerSpec{Timeout: time.Microsecond}, "", false},
	} {
		settings, err := offline().producerSettings(c.spec, nil)
		checkRefusal(t, name, err, c.want, c.unsupported)
		if err == nil {
			checkValid(t, name, settings)
		}
	}
}

func TestConsumerRefusals(t *testing.T) {
	long := 6 * time.Second
	for name, c := range map[string]struct {
		spec        broker.ConsumerSpec
		want        string
		unsupported bool
	}{
		"a group":              {broker.ConsumerSpec{From: "t", Group: "g", Session: long}, "", false},
		"an audit":             {broker.ConsumerSpec{From: "t", Session: long}, "", false},
		"cooperative":          {broker.ConsumerSpec{From: "t", Group: "g", Session: long, Strategy: "cooperative-sticky"}, "", false},
		"auto-commit, latest":  {broker.ConsumerSpec{From: "t", Group: "g", Session: long, AutoCommit: time.Second, Start: broker.Latest}, "", false},
		"nowhere":              {broker.ConsumerSpec{Group: "g", Session: long}, "a destination to read from", false},
		"auto ack":             {broker.ConsumerSpec{From: "t", Group: "g", Session: long, AutoAck: true}, "auto ack", true},
		"exclusive":            {broker.ConsumerSpec{From: "t", Group: "g", Session: long, Exclusive: true}, "exclusive", true},
		"short session":        {broker.ConsumerSpec{From: "t", Group: "g", Session: time.Second}, "session 1s is below the broker's group.min.session.timeout.ms of 6s", false},
		"unknown strategy":     {broker.ConsumerSpec{From: "t", Group: "g", Session: long, Strategy: "fair"}, `strategy "fair": want range, roundrobin, sticky, cooperative-sticky`, false},
		"unknown start":        {broker.ConsumerSpec{From: "t", Group: "g", Session: long, Start: "middle"}, `start "middle"`, false},
		"unknown isolation":    {broker.ConsumerSpec{From: "t", Group: "g", Session: long, Isolation: "none"}, `isolation "none"`, false},
		"auto-commit, alone":   {broker.ConsumerSpec{From: "t", Session: long, AutoCommit: time.Second}, "need a group", false},
		"negative batch":       {broker.ConsumerSpec{From: "t", Group: "g", Session: long, Batch: -1}, "cannot be negative", false},
		"static and isolation": {broker.ConsumerSpec{From: "t", Group: "g", Session: long, StaticID: "s", Isolation: "uncommitted"}, "", false},
	} {
		settings, err := offline().consumerSettings(c.spec, &consumer{})
		checkRefusal(t, name, err, c.want, c.unsupported)
		if err == nil {
			checkValid(t, name, settings)
		}
	}
}

func checkRefusal(t *testing.T, name string, err error, want string, unsupported bool) {
	t.Helper()
	if refused := err != nil; refused != (want != "") || refused && !strings.Contains(err.Error(), want) {
		t.Errorf("%s: %v, want %q", name, err, want)
	}
	if errors.Is(err, broker.ErrUnsupported) != unsupported {
		t.Errorf("%s: %v, unsupported is %t", name, err, unsupported)
	}
}

// checkValid asks the client itself. Only a transaction of a real run needs more.
func checkValid(t *testing.T, name string, settings *sarama.Config) {
	t.Helper()
	settings.Net.Proxy.Dialer = newSockets(nil, time.Second)
	if err := settings.Validate(); err != nil {
		t.Errorf("%s: the client refuses what was accepted: %v", name, err)
	}
}

func TestHeartbeatFitsTheSession(t *testing.T) {
	for session, want := range map[time.Duration]time.Duration{
		300 * time.Millisecond: 100 * time.Millisecond,
		time.Second:            300 * time.Millisecond,
		30 * time.Second:       300 * time.Millisecond,
		time.Millisecond:       time.Millisecond,
	} {
		if got := heartbeat(session); got != want {
			t.Errorf("session %v: heartbeat %v, want %v", session, got, want)
		}
	}
}
