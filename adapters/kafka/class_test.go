// SPDX-License-Identifier: Apache-2.0

package kafka

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"syscall"
	"testing"

	"github.com/IBM/sarama"
	"github.com/eapache/go-resiliency/breaker"

	"github.com/seed-720a3c77/harness/broker"
	"github.com/seed-720a3c77/harness/contract"
)

// What a broker answers before it appends, and after it did or may have.
var (
	beforeAppend = []sarama.KError{2, 3, 4, 5, 10, 17, 18, 19, 21, 29, 31, 32, 35, 42, 43, 44, 45, 47, 48, 49, 51, 53, 59, 76, 87, 89, 90}
	mayBeStored  = []sarama.KError{-1, 6, 7, 8, 9, 13, 20, 41, 46, 50, 52, 55, 56, 57, 74, 75, 77}
)

func TestPublishClassOfEveryCode(t *testing.T) {
	want := map[sarama.KError]contract.Class{}
	for _, code := range beforeAppend {
		want[code] = contract.Rejected
	}
	for _, code := range mayBeStored {
		want[code] = contract.Unknown
	}
	for code := sarama.KError(-1); code < 100; code++ {
		if code == sarama.ErrNoError {
			continue
		}
		expect := contract.Unknown // what is not known to be refused is unknown
		if class, listed := want[code]; listed {
			expect = class
		}
		got := publishError(code, false)
		if got.Class != expect || got.Code != fmt.Sprintf("KError %d", int16(code)) {
			t.Errorf("code %d: %v %q, want %v", code, got.Class, got.Code, expect)
		}
		if hidden := publishError(code, true); hidden.Class != contract.Unknown {
			t.Errorf("code %d after hidden retries: %v, want unknown", code, hidden.Class)
		}
	}
}

type slow struct{ error }

func (slow) Timeout() bool   { return true }
func (slow) Temporary() bool { return true }

func TestPublishErrors(t *testing.T) {
	dial := &net.OpError{Op: "dial", Err: os.NewSyscallError("connect", syscall.ECONNREFUSED)}
	for name, c := range map[string]struct {
		err    error
		answer contract.Answer
		class  contract.Class
	}{
		"too large for the broker":   {sarama.ErrMessageSizeTooLarge, contract.Refused, contract.Rejected},
		"too large for the client":   {sarama.ConfigurationError("larger than"), contract.Refused, contract.Rejected},
		"too few after the append":   {sarama.ErrNotEnoughReplicasAfterAppend, contract.Refused, contract.Unknown},
		"the broker's time-out":      {sarama.ErrRequestTimedOut, contract.Timeout, contract.Unknown},
		"no such partition":          {sarama.ErrInvalidPartition, contract.Refused, contract.Rejected},
		"cannot be encoded":          {sarama.PacketEncodingError{Info: "too long"}, contract.Refused, contract.Rejected},
		"outside a transaction":      {sarama.ErrTransactionNotReady, contract.Refused, contract.Rejected},
		"connection refused":         {dial, contract.Closed, contract.Rejected},
		"no broker left":             {fmt.Errorf("%w: %w", sarama.ErrOutOfBrokers, dial), contract.Closed, contract.Rejected},
		"breaker open":               {breaker.ErrBreakerOpen, contract.Closed, contract.Rejected},
		"end of file":                {io.EOF, contract.Closed, contract.Unknown},
		"reset":                      {&net.OpError{Op: "read", Err: syscall.ECONNRESET}, contract.Closed, contract.Unknown},
		"write failed":               {&net.OpError{Op: "write", Err: syscall.EPIPE}, contract.Closed, contract.Unknown},
		"read time-out":              {&net.OpError{Op: "read", Err: slow{errors.New("i/o timeout")}}, contract.Timeout, contract.Unknown},
		"deadline":                   {context.DeadlineExceeded, contract.Timeout, contract.Unknown},
		"shutting down":              {sarama.ErrShuttingDown, contract.Closed, contract.Unknown},
		"incomplete answer":          {sarama.ErrIncompleteResponse, contract.Closed, contract.Unknown},
		"retry buffer overflow":      {sarama.ErrProducerRetryBufferOverflow, contract.Closed, contract.Unknown},
		"something else":             {errors.New("?"), contract.Closed, contract.Unknown},
		"wrapped by the client":      {&sarama.ProducerError{Msg: &sarama.ProducerMessage{}, Err: sarama.ErrMessageSizeTooLarge}, contract.Refused, contract.Rejected},
		"wrapped network error":      {sarama.Wrap(sarama.ErrOutOfBrokers, dial), contract.Closed, contract.Rejected},
		"an engine that cannot":      {broker.ErrUnsupported, contract.Refused, contract.Rejected},
		"the leader moved":           {sarama.ErrNotLeaderForPartition, contract.Refused, contract.Unknown},
		"out of order sequence":      {sarama.ErrOutOfOrderSequenceNumber, contract.Refused, contract.Rejected},
		"fenced":                     {sarama.ErrProducerFenced, contract.Refused, contract.Rejected},
		"unknown server error":       {sarama.ErrUnknown, contract.Refused, contract.Unknown},
		"not authorised":             {sarama.ErrTopicAuthorizationFailed, contract.Refused, contract.Rejected},
		"the client has no such key": {sarama.ErrBrokerNotFound, contract.Closed, contract.Rejected},
	} {
		t.Run(name, func(t *testing.T) {
			got := publishError(c.err, false)
			if got.Answer != c.answer || got.Class != c.class {
				t.Errorf("%v, %v; want %v, %v", got.Answer, got.Class, c.answer, c.class)
			}
			if !errors.Is(got, c.err) {
				t.Errorf("%v does not wrap its cause", got)
			}
			if publishError(c.err, true).Class != contract.Unknown {
				t.Error("after hidden retries it is not unknown")
			}
		})
	}
}

func TestCommitErrors(t *testing.T) {
	for name, c := range map[string]struct {
		err    error
		answer contract.Answer
		class  contract.Class
		stale  bool
	}{
		"illegal generation":     {sarama.ErrIllegalGeneration, contract.Refused, contract.Rejected, true},
		"unknown member":         {sarama.ErrUnknownMemberId, contract.Refused, contract.Rejected, true},
		"rebalance":              {sarama.ErrRebalanceInProgress, contract.Refused, contract.Rejected, true},
		"fenced static member":   {sarama.ErrFencedInstancedId, contract.Refused, contract.Rejected, true},
		"not the coordinator":    {sarama.ErrNotCoordinatorForConsumer, contract.Refused, contract.Rejected, false},
		"coordinator is loading": {sarama.ErrOffsetsLoadInProgress, contract.Refused, contract.Rejected, false},
		"metadata too large":     {sarama.ErrOffsetMetadataTooLarge, contract.Refused, contract.Rejected, false},
		"no permission":          {sarama.ErrGroupAuthorizationFailed, contract.Refused, contract.Rejected, false},
		"the broker's time-out":  {sarama.ErrRequestTimedOut, contract.Timeout, contract.Unknown, false},
		"server error":           {sarama.ErrUnknown, contract.Refused, contract.Unknown, false},
		"end of file":            {io.EOF, contract.Closed, contract.Unknown, false},
		"deadline":               {context.DeadlineExceeded, contract.Timeout, contract.Unknown, false},
		"no connection":          {sarama.ErrNotConnected, contract.Closed, contract.Rejected, false},
		"no answer for it":       {sarama.ErrIncompleteResponse, contract.Closed, contract.Unknown, false},
	} {
		t.Run(name, func(t *testing.T) {
			got := commitError(c.err)
			if got.Answer != c.answer || got.Class != c.class || errors.Is(got, broker.ErrStale) != c.stale {
				t.Errorf("%v, %v, stale %t; want %v, %v, %t", got.Answer, got.Class, errors.Is(got, broker.ErrStale), c.answer, c.class, c.stale)
			}
		})
	}
}

func TestErrorsCarryThePortsWord(t *testing.T) {
	for _, c := range []struct{ err, want error }{
		{sarama.ErrSASLAuthenticationFailed, broker.ErrDenied},
		{sarama.ErrTopicAuthorizationFailed, broker.ErrDenied},
		{sarama.ErrUnknownTopicOrPartition, broker.ErrNotFound},
		{sarama.ErrOutOfBrokers, broker.ErrUnreachable},
		{&net.OpError{Op: "dial", Err: syscall.ECONNREFUSED}, broker.ErrUnreachable},
	} {
		if got := reached(c.err); !errors.Is(got, c.want) || !errors.Is(got, c.err) {
			t.Errorf("%v became %v, want it to wrap %v too", c.err, got, c.want)
		}
	}
	if reached(nil) != nil {
		t.Error("no error became one")
	}
}
