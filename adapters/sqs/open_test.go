// SPDX-License-Identifier: Apache-2.0

package sqs

import (
	"encoding/json"
	"errors"
	"fmt"
	"github.com/seed-720a3c77/harness/contract"
	"net"
	"net/http"
	"strings"
	"testing"

	"github.com/seed-720a3c77/harness/broker"
)

func TestOpenTakesTheProfileOfTheService(t *testing.T) {
	for _, c := range []struct {
		health, queue, want, note string
	}{
		{"", Standard, "sqs-standard", ""},
		{"", FIFO, "sqs-fifo", ""},
		{`{"version":"4.9.0"}`, Standard, "localstack-4.9-standard", ""},
		{`{"version":"4.9.2"}`, FIFO, "localstack-4.9-fifo", ""},
		{`{"version":"4.12.0"}`, FIFO, "localstack-4.9-fifo", "no profile for LocalStack 4.12.0: the nearest is localstack-4.9-fifo"},
		{"not json", Standard, "sqs-standard", ""},
	} {
		s := &stub{answers: answers{}}
		if c.health != "" {
			s.answers[""] = answer(200, c.health)
		}
		e := openStub(t, s, Config{Queue: c.queue})
		if got := e.Profile().Name; got != c.want {
			t.Errorf("health %q, queue %s: profile %s, want %s", c.health, c.queue, got, c.want)
		}
		if got := e.Settings()["profile-note"]; got != c.note {
			t.Errorf("health %q: note %q, want %q", c.health, got, c.note)
		}
	}
}

func TestOpenSaysWhy(t *testing.T) {
	closed, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	closed.Close()
	deny := &stub{answers: answers{"GetQueueUrl": answer(403, `{"__type":"InvalidClientTokenId","message":"no such key"}`)}}
	for _, c := range []struct {
		config Config
		is     error
		says   string
	}{
		{Config{Endpoint: "http://" + closed.Addr().String()}, broker.ErrUnreachable, closed.Addr().String()},
		{Config{Endpoint: "http://127.0.0.1:1", Transport: func(http.RoundTripper) http.RoundTripper { return deny }}, broker.ErrDenied, "no such key"},
		{Config{Endpoint: "127.0.0.1:4566"}, nil, "want http://host:port"},
		{Config{Endpoint: "http://127.0.0.1:1", Queue: "fifi"}, nil, `"fifi" (want standard or fifo)`},
		{Config{Endpoint: "https://sqs.eu-west-1.amazonaws.com"}, nil, "credentials are needed"},
	} {
		_, err := Open(t.Context(), c.config)
		if err == nil || !strings.Contains(err.Error(), c.says) || c.is != nil && !errors.Is(err, c.is) {
			t.Errorf("%s: %v, want %v with %q", c.config.Endpoint, err, c.is, c.says)
		}
	}
}

func TestSecretIsNeverShown(t *testing.T) {
	c := Config{Endpoint: "http://127.0.0.1:1", AccessKeyID: "id", SecretAccessKey: contract.NewSecret("hunter2")}
	encoded, err := json.Marshal(struct{ S contract.Secret }{c.SecretAccessKey})
	if err != nil {
		t.Fatal(err)
	}
	e := openStub(t, &stub{}, c)
	for _, shown := range []string{fmt.Sprint(c), fmt.Sprintf("%+v %#v", c, c.SecretAccessKey), string(encoded), fmt.Sprint(e.Settings())} {
		if strings.Contains(shown, "hunter2") {
			t.Errorf("shown: %s", shown)
		}
	}
}
