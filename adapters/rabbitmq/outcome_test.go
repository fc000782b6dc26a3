// SPDX-License-Identifier: Apache-2.0

package rabbitmq

import (
	"context"
	"errors"
	"testing"
	"time"

	amqp "github.com/rabbitmq/amqp091-go"

	"github.com/seed-720a3c77/harness/broker"
	"github.com/seed-720a3c77/harness/contract"
)

func TestOutcomes(t *testing.T) {
	missing := &amqp.Error{Code: amqp.NotFound, Reason: "NOT_FOUND - no exchange 'x' in vhost '/'", Server: true}
	for _, c := range []struct {
		what   string
		err    error
		answer contract.Answer
		class  contract.Class
	}{
		{"basic.ack", nil, contract.Acked, contract.OK},
		{"basic.nack", nacked(false), contract.Nacked, contract.Unknown},
		{"basic.nack of reject-publish", nacked(true), contract.Nacked, contract.Rejected},
		{"basic.return", returned(amqp.Return{ReplyCode: 312, ReplyText: "NO_ROUTE"}), contract.Returned, contract.Rejected},
		{"no confirm asked for", errUnasked, contract.None, contract.AcceptedOnly},
		{"connection lost", lost(&amqp.Error{Code: amqp.FrameError, Reason: "EOF"}), contract.Closed, contract.Unknown},
		{"closed here", lost(nil), contract.Closed, contract.Unknown},
		{"thrown away with the channel", refused(missing), contract.Refused, contract.Rejected},
		{"no confirm in time", overdue(time.Second), contract.Timeout, contract.Unknown},
		{"client knew it was closed", unsent("publish", amqp.ErrClosed), contract.Closed, contract.Rejected},
		{"write failed", unsent("publish", errors.New("broken pipe")), contract.Closed, contract.Unknown},
		{"producer was closed", notSent("publish", broker.ErrClosed), contract.Refused, contract.Rejected},
		{"no room in time", notSent("publish", context.DeadlineExceeded), contract.Timeout, contract.Rejected},
		{"no connection", notSent("publish", broker.ErrUnreachable), contract.Closed, contract.Rejected},
		{"cannot do", unsupported("a delay"), contract.Refused, contract.Rejected},
	} {
		answer, class := broker.Classify(c.err, contract.OK)
		if answer != c.answer || class != c.class {
			t.Errorf("%s: %v, %v; want %v, %v", c.what, answer, class, c.answer, c.class)
		}
	}
	if err := refused(missing); !errors.Is(err, broker.ErrNotFound) {
		t.Errorf("%v is not ErrNotFound", err)
	}
}

func TestBlames(t *testing.T) {
	for _, c := range []struct {
		code     int
		reason   string
		server   bool
		exchange string
		want     bool
	}{
		{amqp.NotFound, "NOT_FOUND - no exchange 'x' in vhost '/'", true, "x", true},
		{amqp.NotFound, "NOT_FOUND - no exchange 'x' in vhost '/'", true, "y", false},
		{amqp.NotFound, "NOT_FOUND - no exchange 'x' in vhost '/'", true, "", false},
		{amqp.NotFound, "NOT_FOUND - no exchange 'x' in vhost '/'", false, "x", false},
		{amqp.AccessRefused, "ACCESS_REFUSED - access to exchange 'x' refused", true, "x", true},
		{amqp.PreconditionFailed, "PRECONDITION_FAILED - message size 9 is larger than 8", true, "", true},
		{amqp.ConnectionForced, "CONNECTION_FORCED - shutdown", true, "x", false},
		{amqp.FrameError, "EOF", false, "x", false},
	} {
		if got := blames(&amqp.Error{Code: c.code, Reason: c.reason, Server: c.server}, c.exchange); got != c.want {
			t.Errorf("blames(%d %q server %t, %q) = %t", c.code, c.reason, c.server, c.exchange, got)
		}
	}
	if blames(nil, "x") {
		t.Error("a close from this side blames a publish")
	}
}
