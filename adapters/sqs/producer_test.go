// SPDX-License-Identifier: Apache-2.0

package sqs

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/seed-720a3c77/harness/broker"
	"github.com/seed-720a3c77/harness/contract"
)

type answers = map[string]func(call) (*http.Response, error)

// publishAll hands over messages of these bodies and closes.
func publishAll(t *testing.T, e *engine, spec broker.ProducerSpec, bodies ...string) *results {
	t.Helper()
	p, err := e.Producer(t.Context(), spec)
	if err != nil {
		t.Fatal(err)
	}
	r := &results{}
	for i, body := range bodies {
		if err := p.Publish(t.Context(), message("q", uint64(i), body), r.done(uint64(i))); err != nil {
			t.Fatal(err)
		}
	}
	if err := p.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	return r
}

func many(n int, body string) []string { return slices.Repeat([]string{body}, n) }

func TestBatches(t *testing.T) {
	half := strings.Repeat("x", maxBatchBytes/2)
	for _, c := range []struct {
		name   string
		spec   broker.ProducerSpec
		bodies []string
		want   []int
	}{
		{"one a request unless asked", broker.ProducerSpec{}, many(3, "b"), []int{1, 1, 1}},
		{"full batches, and the rest at the close", broker.ProducerSpec{Linger: time.Hour}, many(23, "b"), []int{10, 10, 3}},
		{"smaller batches", broker.ProducerSpec{Linger: time.Hour, BatchMax: 4}, many(9, "b"), []int{4, 4, 1}},
		{"no batch over the size", broker.ProducerSpec{Linger: time.Hour}, []string{half, "b", half, "b"}, []int{2, 2}},
		{"one that is too large goes alone", broker.ProducerSpec{Linger: time.Hour}, []string{half + half, "b"}, []int{1, 1}},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := &stub{answers: answers{"SendMessageBatch": accept(nil)}}
			r := publishAll(t, openStub(t, s, Config{Queue: FIFO}), c.spec, c.bodies...)
			if got := s.sizes("SendMessageBatch"); !slices.Equal(got, c.want) {
				t.Errorf("batches of %v, want %v", got, c.want)
			}
			for i := range c.bodies {
				if got := r.one(t, uint64(i)); got.err != nil {
					t.Errorf("message %d: %v", i, got.err)
				}
			}
		})
	}
}

// TestEveryEntryHasItsOwnAnswer: of a batch of three, the first is answered with success,
// the second with a failure, and the third not at all.
func TestEveryEntryHasItsOwnAnswer(t *testing.T) {
	s := &stub{answers: answers{"SendMessageBatch": func(c call) (*http.Response, error) {
		got := entriesOf(c)
		body := `{"Successful":[{"Id":"0","MessageId":"m","MD5OfMessageBody":"` + sum([]byte(got[0].MessageBody)) +
			`","MD5OfMessageAttributes":"` + sumAttributes(got[0]) + `"}],"Failed":[{"Id":"1","Code":"InvalidMessageContents"}]}`
		return reply(200, body), nil
	}}}
	r := publishAll(t, openStub(t, s, Config{}), broker.ProducerSpec{Linger: time.Hour}, "a", "b", "c")
	for i, want := range []contract.Class{contract.OK, contract.Rejected, contract.Unknown} {
		got := r.one(t, uint64(i))
		if _, class := broker.Classify(got.err, contract.OK); class != want {
			t.Errorf("entry %d: %v (%v), want %v", i, got.err, class, want)
		}
	}
	if id := r.one(t, 0).receipt.BrokerID; id != "m" {
		t.Errorf("receipt has %q, want the message id", id)
	}
}

func TestInFlightIsBounded(t *testing.T) {
	release := make(chan struct{})
	s := &stub{answers: answers{"SendMessageBatch": func(c call) (*http.Response, error) {
		<-release
		return accept(nil)(c)
	}}}
	p, err := openStub(t, s, Config{}).Producer(t.Context(), broker.ProducerSpec{InFlight: 2})
	if err != nil {
		t.Fatal(err)
	}
	var r results
	for i := range uint64(2) {
		if err := p.Publish(t.Context(), message("q", i, "b"), r.done(i)); err != nil {
			t.Fatal(err)
		}
	}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	err = p.Publish(ended, message("q", 2, "b"), r.done(2))
	if _, class := broker.Classify(err, contract.OK); class != contract.Rejected || !errors.Is(err, context.Canceled) {
		t.Errorf("publish without room: %v (%v), want it rejected with the context's error", err, class)
	}
	close(release)
	if err := p.Publish(t.Context(), message("q", 3, "b"), r.done(3)); err != nil {
		t.Fatal(err)
	}
	if err := p.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	for _, seq := range []uint64{0, 1, 3} {
		r.one(t, seq)
	}
	if len(r.all[2]) != 0 {
		t.Errorf("a publish that was refused has an answer: %v", r.all[2])
	}
}

// TestAbandonEndsEverything: no answer comes, and nothing waits for ever.
func TestAbandonEndsEverything(t *testing.T) {
	release := make(chan struct{})
	s := &stub{answers: answers{"SendMessageBatch": func(c call) (*http.Response, error) {
		<-release
		return accept(nil)(c)
	}}}
	p, err := openStub(t, s, Config{Queue: FIFO}).Producer(t.Context(), broker.ProducerSpec{})
	if err != nil {
		t.Fatal(err)
	}
	var r results
	for i := range uint64(5) {
		if err := p.Publish(t.Context(), message("q", i, "b"), r.done(i)); err != nil {
			t.Fatal(err)
		}
	}
	p.Abandon()
	close(release)
	if err := p.Flush(t.Context()); !errors.Is(err, broker.ErrClosed) {
		t.Errorf("flush after abandon: %v, want ErrClosed", err)
	}
	if err := p.Close(t.Context()); err != nil {
		t.Errorf("close after abandon: %v", err)
	}
	if len(r.all) != 0 {
		t.Errorf("answers after abandon: %v", r.all)
	}
}

func TestPublishToAMissingQueueIsRejected(t *testing.T) {
	s := &stub{}
	e := openStub(t, s, Config{})
	s.answers = answers{"GetQueueUrl": answer(400, `{"__type":"com.amazonaws.sqs#QueueDoesNotExist","message":"no"}`)}
	p, err := e.Producer(t.Context(), broker.ProducerSpec{})
	if err != nil {
		t.Fatal(err)
	}
	var r results
	err = p.Publish(t.Context(), message("q", 0, "b"), r.done(0))
	if _, class := broker.Classify(err, contract.OK); class != contract.Rejected || !errors.Is(err, broker.ErrNotFound) {
		t.Errorf("%v (%v), want rejected and ErrNotFound", err, class)
	}
}
