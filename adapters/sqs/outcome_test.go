// SPDX-License-Identifier: Apache-2.0

package sqs

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/seed-720a3c77/harness/broker"
	"github.com/seed-720a3c77/harness/contract"
)

// fails makes the transport fail.
func fails(err error) func(call) (*http.Response, error) {
	return func(call) (*http.Response, error) { return nil, err }
}

// inTurn answers the first attempt with the first answer, and so on.
func inTurn(all ...func(call) (*http.Response, error)) func(call) (*http.Response, error) {
	return func(c call) (*http.Response, error) {
		next := all[0]
		if len(all) > 1 {
			all = all[1:]
		}
		return next(c)
	}
}

func TestOutcomeOfASend(t *testing.T) {
	refusal := answer(400, `{"__type":"com.amazonaws.sqs#InvalidParameterValue","message":"no"}`)
	for _, c := range []struct {
		name    string
		retries int
		answer  func(call) (*http.Response, error)
		say     contract.Answer
		class   contract.Class
		code    string
		is      error
	}{
		{"success", 0, accept(nil), contract.Acked, contract.OK, "", nil},
		{"refused", 0, refusal, contract.Refused, contract.Rejected, "InvalidParameterValue", nil},
		{"no queue", 0, answer(400, `{"__type":"com.amazonaws.sqs#QueueDoesNotExist","message":"no"}`), contract.Refused, contract.Rejected, "QueueDoesNotExist", broker.ErrNotFound},
		{"denied", 0, answer(403, `{"__type":"AccessDeniedException","message":"no"}`), contract.Refused, contract.Rejected, "AccessDeniedException", broker.ErrDenied},
		{"throttled", 0, answer(400, `{"__type":"ThrottlingException","message":"slow"}`), contract.Refused, contract.Unknown, "ThrottlingException", nil},
		{"fault of the service", 0, answer(500, `{"__type":"InternalFailure","message":"oh"}`), contract.Refused, contract.Unknown, "InternalFailure", nil},
		{"no error code", 0, answer(400, `<html>`), contract.Closed, contract.Unknown, "", nil},
		{"from a proxy", 0, answer(503, `<html>`), contract.Closed, contract.Unknown, "", nil},
		{"torn answer", 0, answer(200, `{"Successful":[`), contract.Closed, contract.Unknown, "", nil},
		{"closed", 0, fails(io.EOF), contract.Closed, contract.Unknown, "", nil},
		{"reset", 0, fails(syscall.ECONNRESET), contract.Closed, contract.Unknown, "", nil},
		{"no connection", 0, fails(&net.OpError{Op: "dial", Err: syscall.ECONNREFUSED}), contract.Closed, contract.Rejected, "", broker.ErrUnreachable},
		{"no connection after an attempt without an answer", 1, inTurn(fails(syscall.ECONNRESET), fails(&net.OpError{Op: "dial", Err: syscall.ECONNREFUSED})), contract.Closed, contract.Unknown, "", broker.ErrUnreachable},
		{"deadline", 0, fails(context.DeadlineExceeded), contract.Timeout, contract.Unknown, "", nil},
		{"failed entry", 0, answer(200, `{"Failed":[{"Id":"0","Code":"InvalidMessageContents","Message":"no","SenderFault":false}]}`), contract.Refused, contract.Rejected, "InvalidMessageContents", nil},
		{"failed entry by the service", 0, answer(200, `{"Failed":[{"Id":"0","Code":"InternalError","Message":"oh","SenderFault":false}]}`), contract.Refused, contract.Unknown, "InternalError", nil},
		{"missing entry", 0, answer(200, `{"Successful":[],"Failed":[]}`), contract.None, contract.Unknown, "", errMissing},
		{"refused after an attempt without an answer", 1, inTurn(fails(syscall.ECONNRESET), refusal), contract.Refused, contract.Unknown, "InvalidParameterValue", nil},
		{"success at the second attempt", 1, inTurn(fails(syscall.ECONNRESET), accept(nil)), contract.Acked, contract.OK, "", nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := &stub{answers: map[string]func(call) (*http.Response, error){"SendMessageBatch": c.answer}}
			got := sendOne(t, openStub(t, s, Config{}), broker.ProducerSpec{Retries: c.retries})
			say, class := broker.Classify(got.err, contract.OK)
			if say != c.say || class != c.class {
				t.Errorf("%v (%v), want %v (%v): %v", say, class, c.say, c.class, got.err)
			}
			var own *broker.Error
			if errors.As(got.err, &own) && own.Code != c.code {
				t.Errorf("code %q, want %q", own.Code, c.code)
			}
			if c.is != nil && !errors.Is(got.err, c.is) {
				t.Errorf("%v is not %v", got.err, c.is)
			}
			if sent := len(s.sizes("SendMessageBatch")); sent != 1+c.retries {
				t.Errorf("%d attempts, want %d", sent, 1+c.retries)
			}
			if got.err == nil && got.receipt.Copies != 1+c.retries {
				t.Errorf("receipt says %d attempts, want %d", got.receipt.Copies, 1+c.retries)
			}
		})
	}
}

// sendOne publishes one message and returns its answer.
func sendOne(t *testing.T, e *engine, spec broker.ProducerSpec) result {
	t.Helper()
	p, err := e.Producer(t.Context(), spec)
	if err != nil {
		t.Fatal(err)
	}
	var r results
	if err := p.Publish(t.Context(), message("q", 0, "body"), r.done(0)); err != nil {
		t.Fatal(err)
	}
	if err := p.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	return r.one(t, 0)
}

func TestOutcomeOfASettle(t *testing.T) {
	for _, c := range []struct {
		name   string
		answer func(call) (*http.Response, error)
		class  contract.Class
		is     error
	}{
		{"success", accept(nil), contract.OK, nil},
		{"bad handle", answer(200, `{"Failed":[{"Id":"0","Code":"ReceiptHandleIsInvalid","Message":"no","SenderFault":true}]}`), contract.Rejected, broker.ErrStale},
		{"expired handle", answer(200, `{"Failed":[{"Id":"0","Code":"InvalidParameterValueException","Message":"The receipt handle has expired","SenderFault":true}]}`), contract.Rejected, broker.ErrStale},
		{"missing entry", answer(200, `{}`), contract.Unknown, errMissing},
		{"closed", fails(io.EOF), contract.Unknown, io.EOF},
	} {
		for verb, op := range map[broker.Verb]string{broker.Ack: "DeleteMessageBatch", broker.Extend: "ChangeMessageVisibilityBatch"} {
			t.Run(c.name+" "+verb.String(), func(t *testing.T) {
				s := &stub{answers: map[string]func(call) (*http.Response, error){op: c.answer}}
				consumer, err := openStub(t, s, Config{}).Consumer(t.Context(), broker.ConsumerSpec{From: "q"})
				if err != nil {
					t.Fatal(err)
				}
				results := make([]error, 1)
				consumer.Settle(t.Context(), []broker.Settlement{{Verb: verb, Token: broker.Token{Handle: "h"}, Delay: time.Second}}, results)
				if _, class := broker.Classify(results[0], contract.OK); class != c.class || !errors.Is(results[0], c.is) {
					t.Errorf("%v (%v), want %v and %v", results[0], class, c.class, c.is)
				}
			})
		}
	}
}

func TestTimeoutBoundsEachAttempt(t *testing.T) {
	var attempts atomic.Int32
	e := openStub(t, &stub{}, Config{})
	e.config.Transport = func(http.RoundTripper) http.RoundTripper {
		return roundTrip(func(r *http.Request) (*http.Response, error) {
			attempts.Add(1)
			<-r.Context().Done()
			return nil, r.Context().Err()
		})
	}
	got := sendOne(t, e, broker.ProducerSpec{Timeout: 20 * time.Millisecond, Retries: 1})
	if say, class := broker.Classify(got.err, contract.OK); say != contract.Timeout || class != contract.Unknown {
		t.Errorf("%v (%v), want timeout (unknown): %v", say, class, got.err)
	}
	if attempts.Load() != 2 {
		t.Errorf("%d attempts, want 2", attempts.Load())
	}
}

type roundTrip func(*http.Request) (*http.Response, error)

func (f roundTrip) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }
