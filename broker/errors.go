// SPDX-License-Identifier: Apache-2.0

package broker

import (
	"context"
	"errors"
	"fmt"

	"github.com/seed-720a3c77/harness/contract"
)

var (
	// ErrUnsupported: the engine cannot do this, and its Profile says so.
	ErrUnsupported = errors.New("not supported by this engine")
	// ErrExists: a destination or group of this name is there already; it is never reused.
	ErrExists = errors.New("already exists")
	// ErrNotFound: no such destination.
	ErrNotFound = errors.New("no such destination")
	// ErrClosed: this producer, consumer or engine was closed or abandoned here.
	ErrClosed = errors.New("closed")
	// ErrStale: the ownership token is no longer current (fenced commit, expired handle, unknown tag).
	ErrStale = errors.New("ownership token is stale")
	// ErrUnreachable: the broker does not answer at its address.
	ErrUnreachable = errors.New("broker is not reachable")
	// ErrDenied: the broker refused the credentials or the permission.
	ErrDenied = errors.New("access denied by the broker")
)

// Error is how an engine reports that an attempt was not plainly acked: what the client
// said and what that proves. Publish completions and settle results carry it.
type Error struct {
	Op     string // "publish", "ack", "commit"
	Answer contract.Answer
	Class  contract.Class
	Code   string // the broker's own code, such as "KError 10" or "406"
	Err    error
}

// Error writes operation, answer, class, code and cause.
func (e *Error) Error() string {
	text := fmt.Sprintf("%s: %s (%s)", e.Op, e.Answer, e.Class)
	if e.Code != "" {
		text += " " + e.Code
	}
	if e.Err != nil {
		text += ": " + e.Err.Error()
	}
	return text
}

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Err }

// Classify turns the error of a publish or settle into its two fields. success is what
// nil proves under the profile. An error that says nothing of itself is unknown: a wrong
// "rejected" makes false phantoms, a needless "unknown" only weakens the test.
func Classify(err error, success contract.Class) (contract.Answer, contract.Class) {
	switch {
	case err == nil && success == contract.OK:
		return contract.Acked, contract.OK
	case err == nil:
		return contract.None, success
	}
	return classify(err)
}

// classify is of an error. It is apart from Classify because the target of errors.As escapes,
// which would cost every success an allocation.
func classify(err error) (contract.Answer, contract.Class) {
	var own *Error
	switch {
	case errors.As(err, &own):
		return own.Answer, own.Class
	case errors.Is(err, ErrUnsupported), errors.Is(err, ErrNotFound):
		return contract.Refused, contract.Rejected
	case errors.Is(err, context.DeadlineExceeded):
		return contract.Timeout, contract.Unknown
	default:
		return contract.Closed, contract.Unknown
	}
}
