// SPDX-License-Identifier: Apache-2.0

package rabbitmq

import (
	"errors"
	"github.com/seed-720a3c77/harness/contract"
	"io"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/seed-720a3c77/harness/broker"
)

func TestUnacked(t *testing.T) {
	var status int
	var body, asked string
	api := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		user, password, _ := r.BasicAuth()
		asked = user + ":" + password + " " + r.URL.EscapedPath()
		w.WriteHeader(status)
		io.WriteString(w, body)
	}))
	defer api.Close()
	c := Config{Admin: api.URL + "/", User: "u", Password: contract.NewSecret("p"), VHost: "/"}
	for _, x := range []struct {
		status int
		body   string
		want   int64
		fails  bool
	}{
		{200, `{"messages_ready": 3, "messages_unacknowledged": 2}`, 2, false},
		{200, `{"name": "just declared"}`, broker.Unmeasured, false},
		{200, `not json`, broker.Unmeasured, true},
		{401, `{}`, broker.Unmeasured, true},
		{404, `{}`, broker.Unmeasured, true},
	} {
		status, body = x.status, x.body
		got, err := unacked(t.Context(), c, "a/b")
		if got != x.want || (err != nil) != x.fails {
			t.Errorf("%d %s: %d, %v; want %d", x.status, x.body, got, err, x.want)
		}
	}
	if want := "u:p /api/queues/%2F/a%2Fb"; asked != want {
		t.Errorf("asked %q, want %q", asked, want)
	}
}

func TestDepthOfAnExchangeIsUnmeasured(t *testing.T) {
	e := open(t, Config{})
	x := declare(t, e, broker.Destination{Name: unique("x"), Kind: broker.Exchange})
	if d, err := e.Depth(t.Context(), x, ""); err != nil || d.Ready != broker.Unmeasured {
		t.Errorf("%+v, %v; want nothing measured", d, err)
	}
}

func TestPurgeOfAMissingQueue(t *testing.T) {
	e := open(t, Config{})
	if err := e.Purge(t.Context(), unique("nowhere")); !errors.Is(err, broker.ErrNotFound) {
		t.Errorf("%v, want ErrNotFound", err)
	}
}

func TestNothingAfterClose(t *testing.T) {
	e := open(t, Config{})
	to := queue(t, open(t, Config{}), broker.Destination{})
	r, s := newReceiver(t, e, to, nil), newSender(t, e, nil)
	if err := e.Close(t.Context()); err != nil {
		t.Fatalf("close: %v", err)
	}
	_, received := r.Receive(t.Context(), make([]broker.Delivery, 1), poll)
	_, opened := e.Consumer(t.Context(), broker.ConsumerSpec{From: to})
	_, measured := e.Depth(t.Context(), to, "")
	for what, err := range map[string]error{
		"receive": received, "publish": s.try(to, ""), "consumer": opened, "depth": measured, "again": errors.Join(broker.ErrClosed, e.Close(t.Context())),
	} {
		if !errors.Is(err, broker.ErrClosed) {
			t.Errorf("%s after the engine's close: %v, want ErrClosed", what, err)
		}
	}
}
