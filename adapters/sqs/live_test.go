// SPDX-License-Identifier: Apache-2.0

package sqs

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/seed-720a3c77/harness/broker"
	"github.com/seed-720a3c77/harness/contract"
)

// declare makes a queue that the end of the test removes.
func declare(t *testing.T, e *engine, d broker.Destination) string {
	t.Helper()
	d.Name = "live-" + rand.Text()[:12]
	if err := e.Declare(t.Context(), broker.Topology{Destinations: []broker.Destination{d}}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { e.Remove(context.Background(), d.Name) })
	return d.Name
}

func consume(t *testing.T, e *engine, from string) broker.Consumer {
	t.Helper()
	c, err := e.Consumer(t.Context(), broker.ConsumerSpec{From: from})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// receive polls until n messages came; the limit is for a broken queue alone.
func receive(t *testing.T, c broker.Consumer, n int) (all []broker.Delivery) {
	t.Helper()
	for limit := time.Now().Add(time.Minute); len(all) < n; {
		into := make([]broker.Delivery, n-len(all))
		got, err := c.Receive(t.Context(), into, 5*time.Second)
		if err != nil {
			t.Fatal(err)
		}
		if all = append(all, into[:got]...); len(all) < n && time.Now().After(limit) {
			t.Fatalf("received %d of %d", len(all), n)
		}
	}
	return all
}

// publishTo publishes bodies through e and returns the answers.
func publishTo(t *testing.T, e *engine, to string, spec broker.ProducerSpec, bodies ...string) *results {
	t.Helper()
	p, err := e.Producer(t.Context(), spec)
	if err != nil {
		t.Fatal(err)
	}
	r := &results{}
	for i, body := range bodies {
		if err := p.Publish(t.Context(), message(to, uint64(i), body), r.done(uint64(i))); err != nil {
			t.Fatal(err)
		}
	}
	if err := p.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	return r
}

func ready(t *testing.T, e *engine, name string) int64 {
	t.Helper()
	d, err := e.Depth(t.Context(), name, "")
	if err != nil {
		t.Fatal(err)
	}
	return d.Ready
}

// TestLateDelete: a worker deletes after its lease ended and another has the message. On
// a standard queue that takes it from the other; a FIFO queue refuses.
func TestLateDelete(t *testing.T) {
	for _, queue := range []string{Standard, FIFO} {
		t.Run(queue, func(t *testing.T) {
			refused := queue == FIFO
			e := open(t, Config{Queue: queue})
			to := declare(t, e, broker.Destination{Lease: time.Second})
			publishTo(t, e, to, broker.ProducerSpec{}, "a")
			slow, other := consume(t, e, to), consume(t, e, to)
			late := receive(t, slow, 1)[0]
			if again := receive(t, other, 1)[0]; again.Count != 2 || again.BrokerID != late.BrokerID || again.Token == late.Token {
				t.Errorf("second delivery %+v of %+v", again, late)
			}
			results := make([]error, 1)
			slow.Settle(t.Context(), []broker.Settlement{{Verb: broker.Ack, Token: late.Token}}, results)
			if errors.Is(results[0], broker.ErrStale) != refused {
				t.Errorf("late delete: %v, want refused %t", results[0], refused)
			}
		})
	}
}

// TestPartOfABatchFails: a control character is refused, its neighbours are stored.
func TestPartOfABatchFails(t *testing.T) {
	e := open(t, Config{})
	to := declare(t, e, broker.Destination{})
	r := publishTo(t, e, to, broker.ProducerSpec{Linger: time.Hour}, "a", "b\x01", "c")
	for i, want := range []contract.Class{contract.OK, contract.Rejected, contract.OK} {
		got := r.one(t, uint64(i))
		if _, class := broker.Classify(got.err, contract.OK); class != want {
			t.Errorf("entry %d: %v (%v), want %v", i, got.err, class, want)
		}
	}
	if n := ready(t, e, to); n != 2 {
		t.Errorf("%d stored, want 2", n)
	}
}

// tamper changes the answers of one operation after the service applied it.
type tamper struct {
	next   http.RoundTripper
	op     string
	change func(body []byte) ([]byte, error)
}

func (f tamper) RoundTrip(r *http.Request) (*http.Response, error) {
	answer, err := f.next.RoundTrip(r)
	if err != nil || !strings.HasSuffix(r.Header.Get("X-Amz-Target"), f.op) {
		return answer, err
	}
	body, err := io.ReadAll(answer.Body)
	answer.Body.Close()
	if err != nil {
		return nil, err
	}
	body, err = f.change(body)
	answer.Body, answer.ContentLength = io.NopCloser(bytes.NewReader(body)), int64(len(body))
	answer.Header.Del("Content-Length")
	return answer, err
}

func tampering(op string, change func([]byte) ([]byte, error)) func(http.RoundTripper) http.RoundTripper {
	return func(next http.RoundTripper) http.RoundTripper { return tamper{next, op, change} }
}

// TestLostEntry: the answer to a batch leaves one entry out. It is unknown, and here it
// is stored.
func TestLostEntry(t *testing.T) {
	e := open(t, Config{Transport: tampering("SendMessageBatch", func(body []byte) ([]byte, error) {
		var out map[string][]json.RawMessage
		if err := json.Unmarshal(body, &out); err != nil {
			return nil, err
		}
		out["Successful"] = append(out["Successful"][:1], out["Successful"][2:]...)
		return json.Marshal(out)
	})})
	to := declare(t, e, broker.Destination{})
	r := publishTo(t, e, to, broker.ProducerSpec{Linger: time.Hour}, "a", "b", "c")
	for i, want := range []contract.Class{contract.OK, contract.Unknown, contract.OK} {
		got := r.one(t, uint64(i))
		if _, class := broker.Classify(got.err, contract.OK); class != want {
			t.Errorf("entry %d: %v (%v), want %v", i, got.err, class, want)
		}
	}
	if n := ready(t, e, to); n != 3 {
		t.Errorf("%d stored, want 3", n)
	}
}

// TestLostAnswer: a send is applied and its answer is lost. Without retries it is unknown
// and stored once. With one it is acked, and stored twice unless the queue deduplicates.
func TestLostAnswer(t *testing.T) {
	for _, c := range []struct {
		queue   string
		retries int
		class   contract.Class
		copies  int
		stored  int64
	}{
		{Standard, 0, contract.Unknown, 0, 1},
		{Standard, 1, contract.OK, 2, 2},
		{FIFO, 0, contract.Unknown, 0, 1},
		{FIFO, 1, contract.OK, 2, 1},
	} {
		var lost atomic.Bool
		e := open(t, Config{Queue: c.queue, Transport: tampering("SendMessageBatch", func(body []byte) ([]byte, error) {
			if lost.Swap(true) {
				return body, nil
			}
			return nil, io.ErrUnexpectedEOF
		})})
		to := declare(t, e, broker.Destination{})
		var notices []broker.Notice
		spec := broker.ProducerSpec{Retries: c.retries, Notify: func(n broker.Notice) { notices = append(notices, n) }}
		got := publishTo(t, e, to, spec, "a").one(t, 0)
		if _, class := broker.Classify(got.err, contract.OK); class != c.class || got.receipt.Copies != c.copies {
			t.Errorf("%s with %d retries: %v (%v), %d copies; want %v, %d", c.queue, c.retries, got.err, class, got.receipt.Copies, c.class, c.copies)
		}
		if n := ready(t, e, to); n != c.stored {
			t.Errorf("%s with %d retries: %d stored, want %d", c.queue, c.retries, n, c.stored)
		}
		if len(notices) != c.retries {
			t.Errorf("%s with %d retries: notices %v", c.queue, c.retries, notices)
		}
	}
}

// TestLostDelete: a delete is applied and its answer is lost.
func TestLostDelete(t *testing.T) {
	e := open(t, Config{Transport: tampering("DeleteMessageBatch", func([]byte) ([]byte, error) {
		return nil, io.ErrUnexpectedEOF
	})})
	to := declare(t, e, broker.Destination{})
	publishTo(t, e, to, broker.ProducerSpec{}, "a")
	c := consume(t, e, to)
	results := make([]error, 1)
	c.Settle(t.Context(), []broker.Settlement{{Verb: broker.Ack, Token: receive(t, c, 1)[0].Token}}, results)
	if _, class := broker.Classify(results[0], contract.OK); class != contract.Unknown {
		t.Errorf("%v (%v), want unknown", results[0], class)
	}
	if d, err := e.Depth(t.Context(), to, ""); err != nil || d.Ready+d.InFlight != 0 {
		t.Errorf("depth %+v, %v; want the message deleted", d, err)
	}
}

// TestAbandonCutsAPoll: the consumer is gone at once, and what it held stays held.
func TestAbandonCutsAPoll(t *testing.T) {
	e := open(t, Config{})
	to := declare(t, e, broker.Destination{Lease: 60 * time.Second})
	publishTo(t, e, to, broker.ProducerSpec{}, "a")
	c := consume(t, e, to)
	receive(t, c, 1)
	ended := make(chan error)
	go func() {
		_, err := c.Receive(context.Background(), make([]broker.Delivery, 1), 20*time.Second)
		ended <- err
	}()
	c.Abandon()
	if err := <-ended; !errors.Is(err, broker.ErrClosed) {
		t.Errorf("poll under way at an abandon: %v, want ErrClosed", err)
	}
	if d, err := e.Depth(t.Context(), to, ""); err != nil || d.InFlight != 1 {
		t.Errorf("depth %+v, %v; want 1 in flight", d, err)
	}
}

// TestFIFOKeepsTheOrderOfAPipeline: many publishes of one key without waiting.
func TestFIFOKeepsTheOrderOfAPipeline(t *testing.T) {
	e := open(t, Config{Queue: FIFO})
	to := declare(t, e, broker.Destination{})
	publishTo(t, e, to, broker.ProducerSpec{Linger: 5 * time.Millisecond}, many(45, "b")...)
	c := consume(t, e, to)
	for next := uint64(0); next < 45; {
		batch := receive(t, c, 5)
		settlements := make([]broker.Settlement, len(batch))
		for i, d := range batch {
			if d.ID.Seq != next {
				t.Fatalf("received %v, want number %d", d.ID, next)
			}
			settlements[i] = broker.Settlement{Verb: broker.Ack, Token: d.Token}
			next++
		}
		c.Settle(t.Context(), settlements, make([]error, len(batch)))
	}
}
