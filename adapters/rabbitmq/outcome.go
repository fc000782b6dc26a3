// SPDX-License-Identifier: Apache-2.0

package rabbitmq

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	amqp "github.com/rabbitmq/amqp091-go"

	"github.com/seed-720a3c77/harness/broker"
	"github.com/seed-720a3c77/harness/contract"
)

// errUnasked is the answer of a publish without confirms: handed over, nothing proven.
var errUnasked error = &broker.Error{
	Op: "publish", Answer: contract.None, Class: contract.AcceptedOnly,
	Err: errors.New("no confirm was asked for"),
}

// nacked is a basic.nack frame. Only a plain reject-publish overflow of a classic queue
// proves that nothing was stored: elsewhere one of several queues may have taken it.
// https://www.rabbitmq.com/docs/confirms#server-sent-nacks
func nacked(rejects bool) error {
	class := contract.Unknown
	if rejects {
		class = contract.Rejected
	}
	return &broker.Error{Op: "publish", Answer: contract.Nacked, Class: class, Err: errors.New("basic.nack")}
}

// returned is a basic.return frame: no queue was found, so nothing was stored.
func returned(r amqp.Return) error {
	return &broker.Error{
		Op: "publish", Answer: contract.Returned, Class: contract.Rejected,
		Code: strconv.Itoa(int(r.ReplyCode)), Err: errors.New(r.ReplyText),
	}
}

// lost is a publish that was unanswered when its channel ended; cause is nil if this side
// closed it.
func lost(cause *amqp.Error) error {
	err := &broker.Error{Op: "publish", Answer: contract.Closed, Class: contract.Unknown, Code: code(cause)}
	if cause != nil {
		err.Err = cause
	}
	return err
}

// refused is a publish that the broker certainly threw away with its channel.
func refused(cause *amqp.Error) error {
	return &broker.Error{
		Op: "publish", Answer: contract.Refused, Class: contract.Rejected,
		Code: code(cause), Err: portError(cause),
	}
}

func overdue(timeout time.Duration) error {
	return &broker.Error{
		Op: "publish", Answer: contract.Timeout, Class: contract.Unknown,
		Err: fmt.Errorf("no confirm within %v: %w", timeout, context.DeadlineExceeded),
	}
}

// notSent is an operation that never reached the client's socket.
func notSent(op string, err error) error {
	answer := contract.Closed
	switch {
	case errors.Is(err, broker.ErrClosed):
		answer = contract.Refused
	case errors.Is(err, context.DeadlineExceeded):
		answer = contract.Timeout
	}
	return &broker.Error{Op: op, Answer: answer, Class: contract.Rejected, Err: err}
}

// unsent is an error of the client's own send. It answers ErrClosed before it writes the
// last frame, and only then nothing can have been applied.
func unsent(op string, err error) error {
	class := contract.Unknown
	if errors.Is(err, amqp.ErrClosed) {
		class = contract.Rejected
	}
	var said *amqp.Error
	errors.As(err, &said)
	return &broker.Error{Op: op, Answer: contract.Closed, Class: class, Code: code(said), Err: err}
}

func code(e *amqp.Error) string {
	if e == nil {
		return ""
	}
	return strconv.Itoa(e.Code)
}

// blames tells whether a publish to exchange may be the one for which the broker closed
// the channel. A missing or forbidden exchange is named; a refused property or size is not.
func blames(cause *amqp.Error, exchange string) bool {
	if cause == nil || !cause.Server {
		return false
	}
	switch cause.Code {
	case amqp.NotFound, amqp.AccessRefused:
		return exchange != "" && strings.Contains(cause.Reason, "'"+exchange+"'")
	case amqp.PreconditionFailed, amqp.ContentTooLarge:
		return true
	}
	return false
}
