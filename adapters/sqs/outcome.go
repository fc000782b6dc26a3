// SPDX-License-Identifier: Apache-2.0

package sqs

import (
	"context"
	"errors"
	"fmt"
	"net"
	"strconv"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/sqs/types"
	"github.com/aws/smithy-go"
	smithyhttp "github.com/aws/smithy-go/transport/http"

	"github.com/seed-720a3c77/harness/broker"
	"github.com/seed-720a3c77/harness/contract"
)

// errMissing: the answer to a batch names an entry neither among its successes nor among
// its failures.
var errMissing = errors.New("the answer does not mention this entry")

// outcome says what the error of a whole request proves. Only an answer of the service
// that blames the request rejects, or a connection that could not be made, and only at the
// first attempt: an earlier one may have been applied although its answer was lost.
func outcome(op string, err error, attempts int32) error {
	var api smithy.APIError
	var answered *smithyhttp.ResponseError
	e := &broker.Error{Op: op, Answer: contract.Closed, Class: contract.Unknown, Err: explain(err)}
	switch {
	case err == nil:
		return nil
	case errors.As(err, &api):
		e.Answer, e.Code = contract.Refused, api.ErrorCode()
		blamed := errors.As(err, &answered) && answered.HTTPStatusCode() >= 400 && answered.HTTPStatusCode() < 500
		if blamed && attempts <= 1 && !own(e.Code) {
			e.Class = contract.Rejected
		}
	case undialled(err):
		if attempts <= 1 {
			e.Class = contract.Rejected
		}
	case timedOut(err):
		e.Answer = contract.Timeout
	}
	return e
}

// undialled tells that no connection was made, so that nothing of the request left.
func undialled(err error) bool {
	var dial *net.OpError
	return errors.As(err, &dial) && dial.Op == "dial"
}

// failedEntry is the outcome of one entry that the service refused.
func failedEntry(op string, f types.BatchResultErrorEntry, attempts int32) error {
	code := deref(f.Code)
	e := &broker.Error{Op: op, Answer: contract.Refused, Class: contract.Rejected, Code: code}
	e.Err = sentinel(code, deref(f.Message), errors.New(deref(f.Message)))
	if attempts > 1 || own(code) {
		e.Class = contract.Unknown
	}
	return e
}

// entryError is the outcome of an entry that is not among the successes of its batch.
func entryError(op string, failed []types.BatchResultErrorEntry, id string, attempts int32) error {
	for _, f := range failed {
		if deref(f.Id) == id {
			return failedEntry(op, f, attempts)
		}
	}
	return &broker.Error{Op: op, Answer: contract.None, Class: contract.Unknown, Err: errMissing}
}

// entryID names the i-th entry of a batch.
func entryID(i int) *string { return aws.String(strconv.Itoa(i)) }

// notSent is the outcome of a publish that failed before a request carried it.
func notSent(op string, err error) error {
	return &broker.Error{Op: op, Answer: contract.Refused, Class: contract.Rejected, Err: err}
}

// own tells the codes with which the service blames itself or its load, and those that the
// client makes up for an answer that is none of the service: they say nothing
// about whether a request was applied.
// https://docs.aws.amazon.com/AWSSimpleQueueService/latest/APIReference/CommonErrors.html
func own(code string) bool {
	switch plain(code) {
	case "", "UnknownError", "InternalError", "InternalFailure", "ServiceUnavailable", "RequestThrottled", "Throttling",
		"KmsThrottled", "RequestTimeout":
		return true
	}
	return false
}

// plain is a code without what the older protocol and the newer one add to it.
func plain(code string) string {
	return strings.TrimSuffix(strings.TrimPrefix(code, "AWS.SimpleQueueService."), "Exception")
}

// explain adds the port's sentinel to an error of the service.
func explain(err error) error {
	var api smithy.APIError
	switch {
	case errors.As(err, &api):
		return sentinel(api.ErrorCode(), api.ErrorMessage(), err)
	case undialled(err):
		return fmt.Errorf("%w: %w", broker.ErrUnreachable, err)
	}
	return err
}

func sentinel(code, message string, err error) error {
	switch plain(code) {
	case "QueueDoesNotExist", "NonExistentQueue":
		return fmt.Errorf("%w: %w", broker.ErrNotFound, err)
	case "ReceiptHandleIsInvalid", "MessageNotInflight":
		return fmt.Errorf("%w: %w", broker.ErrStale, err)
	case "InvalidParameterValue":
		if strings.Contains(message, "receipt handle has expired") {
			return fmt.Errorf("%w: %w", broker.ErrStale, err)
		}
	case "AccessDenied", "InvalidClientTokenId", "UnrecognizedClient", "SignatureDoesNotMatch",
		"InvalidSecurity", "InvalidAccessKeyId", "MissingAuthenticationToken":
		return fmt.Errorf("%w: %w", broker.ErrDenied, err)
	}
	return err
}

func timedOut(err error) bool {
	var timeout net.Error
	return errors.Is(err, context.DeadlineExceeded) || errors.As(err, &timeout) && timeout.Timeout()
}

// unsupported says what was asked for and that SQS, or this kind of queue, has no such thing.
func unsupported(format string, args ...any) error {
	return fmt.Errorf("sqs: %s: %w", fmt.Sprintf(format, args...), broker.ErrUnsupported)
}

func deref(s *string) string {
	if s == nil {
		return ""
	}
	return *s
}
