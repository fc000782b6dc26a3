// SPDX-License-Identifier: Apache-2.0

package kafka

import (
	"context"
	"errors"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/IBM/sarama"

	"github.com/seed-720a3c77/harness/broker"
	"github.com/seed-720a3c77/harness/contract"
)

func TestOpenNobody(t *testing.T) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	address := listener.Addr().String()
	listener.Close()
	_, err = Open(t.Context(), Config{Addresses: []string{address}, Timeout: 2 * time.Second})
	if !errors.Is(err, broker.ErrUnreachable) || !strings.Contains(err.Error(), address) || !strings.Contains(err.Error(), "connect") {
		t.Errorf("%v: want unreachable, the address and what was tried", err)
	}
}

func TestOpenSilence(t *testing.T) {
	listener, err := net.Listen("tcp", "127.0.0.1:0") // accepts, and says nothing
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	ctx, cancel := context.WithTimeout(t.Context(), 200*time.Millisecond)
	defer cancel()
	if _, err := Open(ctx, Config{Addresses: []string{listener.Addr().String()}}); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("%v, want the deadline", err)
	}
}

func TestOpenDenied(t *testing.T) {
	mock := sarama.NewMockBroker(t, 1)
	defer mock.Close()
	mock.SetHandlerByMap(map[string]sarama.MockResponse{
		"ApiVersionsRequest": sarama.NewMockApiVersionsResponse(t).SetApiKeys([]sarama.ApiVersionsResponseKey{
			{ApiKey: 3, MaxVersion: 12}, {ApiKey: 17, MaxVersion: 1}, {ApiKey: 18, MaxVersion: 4}, {ApiKey: 36, MaxVersion: 2},
		}),
		"SaslHandshakeRequest":    sarama.NewMockSaslHandshakeResponse(t).SetEnabledMechanisms([]string{"PLAIN"}),
		"SaslAuthenticateRequest": sarama.NewMockSaslAuthenticateResponse(t).SetError(sarama.ErrSASLAuthenticationFailed),
	})
	config := Config{Addresses: []string{mock.Addr()}, Timeout: 2 * time.Second, SASL: SASL{User: "u", Password: "the-secret"}}
	_, err := Open(t.Context(), config)
	if !errors.Is(err, broker.ErrDenied) || strings.Contains(err.Error(), "the-secret") {
		t.Errorf("%v: want denied, without the password", err)
	}
}

func TestOpenPicksTheProfile(t *testing.T) {
	r := newRig(t)
	p, told := r.Profile(), r.Settings()
	if p.Name != "kafka-4.1-sarama" || p.Nodes < 1 || p.Session.Floor < r.minSession {
		t.Errorf("profile %+v", p)
	}
	if told["broker.version"] == "" || told["client"] == "" || !strings.HasPrefix(told["profile"], p.Name) {
		t.Errorf("settings %v", told)
	}
}

func TestGivenProfileIsKept(t *testing.T) {
	r := newRig(t)
	config := r.config
	config.Profile = &contract.Profile{Name: "mine", Knobs: map[string]string{"k": "v"}}
	e, err := Open(r.ctx, config)
	r.must(err, "open")
	defer e.Close(r.ctx)
	p := e.Profile()
	if p.Name != "mine" || p.Knobs["k"] != "v" || p.Session.Floor == 0 {
		t.Errorf("profile %+v", p)
	}
	if len(config.Profile.Knobs) != 1 {
		t.Error("the caller's profile was changed")
	}
}

func TestNewerVersionTakesTheNearest(t *testing.T) {
	r := newRig(t)
	r.version = "9.9"
	r.must(r.pickProfile(), "pick")
	if told := r.tells["profile"]; !strings.Contains(told, "nearest to version 9.9") {
		t.Errorf("settings tell %q", told)
	}
}

func TestEngineCloseTakesEverythingAlong(t *testing.T) {
	r := newRig(t)
	to := r.topic(1, nil)
	p := r.producer(broker.ProducerSpec{})
	c := r.consumer(broker.ConsumerSpec{From: to, Group: to + "-g"})
	config := r.config
	e, err := Open(r.ctx, config)
	r.must(err, "open another engine")
	own, err := e.Producer(r.ctx, broker.ProducerSpec{Name: "own"})
	r.must(err, "producer")
	r.must(e.Close(r.ctx), "close")
	r.must(e.Close(r.ctx), "close again")
	if err := own.Publish(r.ctx, r.message(to, 0), func(broker.Receipt, error) {}); !errors.Is(err, broker.ErrClosed) {
		t.Errorf("publish after the engine's close: %v", err)
	}
	if _, err := e.Producer(r.ctx, broker.ProducerSpec{Name: "late"}); !errors.Is(err, broker.ErrClosed) {
		t.Errorf("producer of a closed engine: %v", err)
	}
	if _, err := e.Consumer(r.ctx, broker.ConsumerSpec{Name: "late", From: to}); !errors.Is(err, broker.ErrClosed) {
		t.Errorf("consumer of a closed engine: %v", err)
	}
	r.must(r.publish(p, r.message(to, 0)).err, "publish through the other engine")
	c.take(1)
}
