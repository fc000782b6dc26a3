// SPDX-License-Identifier: Apache-2.0

package kafka

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"strconv"

	"github.com/IBM/sarama"
	"github.com/eapache/go-resiliency/breaker"

	"github.com/seed-720a3c77/harness/broker"
	"github.com/seed-720a3c77/harness/contract"
)

// refusesPublish tells whether a broker answers with this code only when it appended
// nothing. Codes that are missing here may come after an append, or say nothing about
// it: REQUEST_TIMED_OUT, NOT_ENOUGH_REPLICAS_AFTER_APPEND, NOT_LEADER_OR_FOLLOWER (the
// leader may have moved while the append waited for acks), UNKNOWN_SERVER_ERROR,
// KAFKA_STORAGE_ERROR, NETWORK_EXCEPTION.
// https://kafka.apache.org/protocol#protocol_error_codes
func refusesPublish(code sarama.KError) bool {
	switch code {
	case sarama.ErrInvalidMessage, sarama.ErrUnknownTopicOrPartition, sarama.ErrInvalidMessageSize,
		sarama.ErrLeaderNotAvailable, sarama.ErrMessageSizeTooLarge, sarama.ErrInvalidTopic,
		sarama.ErrMessageSetSizeTooLarge, sarama.ErrNotEnoughReplicas, sarama.ErrInvalidRequiredAcks,
		sarama.ErrTopicAuthorizationFailed, sarama.ErrClusterAuthorizationFailed, sarama.ErrInvalidTimestamp,
		sarama.ErrUnsupportedVersion, sarama.ErrInvalidRequest, sarama.ErrUnsupportedForMessageFormat,
		sarama.ErrPolicyViolation, sarama.ErrOutOfOrderSequenceNumber, sarama.ErrInvalidProducerEpoch,
		sarama.ErrInvalidTxnState, sarama.ErrInvalidProducerIDMapping, sarama.ErrConcurrentTransactions,
		sarama.ErrTransactionalIDAuthorizationFailed, sarama.ErrUnknownProducerID,
		sarama.ErrUnsupportedCompressionType, sarama.ErrInvalidRecord, sarama.ErrThrottlingQuotaExceeded,
		sarama.ErrProducerFenced:
		return true
	}
	return false
}

// fencesCommit tells the codes of a commit by somebody who no longer is, or not now, the
// member of that generation.
func fencesCommit(code sarama.KError) bool {
	switch code {
	case sarama.ErrIllegalGeneration, sarama.ErrUnknownMemberId, sarama.ErrRebalanceInProgress, sarama.ErrFencedInstancedId:
		return true
	}
	return false
}

// refusesCommit tells whether a coordinator answers with this code only when it stored
// no position.
func refusesCommit(code sarama.KError) bool {
	switch code {
	case sarama.ErrOffsetMetadataTooLarge, sarama.ErrInvalidCommitOffsetSize, sarama.ErrInvalidGroupId,
		sarama.ErrGroupAuthorizationFailed, sarama.ErrTopicAuthorizationFailed, sarama.ErrUnknownTopicOrPartition,
		sarama.ErrConsumerCoordinatorNotAvailable, sarama.ErrNotCoordinatorForConsumer, sarama.ErrOffsetsLoadInProgress,
		sarama.ErrUnsupportedVersion, sarama.ErrInvalidRequest, sarama.ErrGroupIDNotFound, sarama.ErrStaleBrokerEpoch:
		return true
	}
	return fencesCommit(code)
}

// publishError classes what the client said about a record. hidden tells that the client
// may have made an earlier attempt, of which nothing is known.
func publishError(err error, hidden bool) *broker.Error {
	e := &broker.Error{Op: "publish", Answer: answerOf(err), Class: contract.Unknown, Code: codeOf(err), Err: reached(err)}
	var code sarama.KError
	refused := errors.As(err, &code) && refusesPublish(code)
	if !hidden && (refused || neverSent(err)) {
		e.Class = contract.Rejected
	}
	return e
}

// commitError classes what a coordinator or the connection to it said about a commit.
func commitError(err error) *broker.Error {
	e := &broker.Error{Op: "commit", Answer: answerOf(err), Class: contract.Unknown, Code: codeOf(err), Err: reached(err)}
	var code sarama.KError
	known := errors.As(err, &code)
	if known && refusesCommit(code) || neverSent(err) {
		e.Class = contract.Rejected
	}
	if known && fencesCommit(code) {
		e.Err = fmt.Errorf("%w: %w", broker.ErrStale, err)
	}
	return e
}

// answerOf is what happened, whatever it proves.
func answerOf(err error) contract.Answer {
	var code sarama.KError
	var network net.Error
	var config sarama.ConfigurationError
	var packet sarama.PacketEncodingError
	switch {
	case errors.As(err, &code) && code == sarama.ErrRequestTimedOut, errors.Is(err, context.DeadlineExceeded):
		return contract.Timeout
	case errors.As(err, &code), errors.As(err, &config), errors.As(err, &packet):
		return contract.Refused
	case errors.Is(err, sarama.ErrInvalidPartition), errors.Is(err, sarama.ErrTransactionNotReady), errors.Is(err, broker.ErrUnsupported):
		return contract.Refused
	case errors.As(err, &network) && network.Timeout():
		return contract.Timeout
	default:
		return contract.Closed
	}
}

// codeOf is the broker's own code.
func codeOf(err error) string {
	var code sarama.KError
	if !errors.As(err, &code) {
		return ""
	}
	return "KError " + strconv.Itoa(int(code))
}

// neverSent tells that an error proves that this attempt wrote nothing: the client
// refused the record, had no connection, or could not open one.
func neverSent(err error) bool {
	var config sarama.ConfigurationError
	var packet sarama.PacketEncodingError
	var network *net.OpError
	for _, own := range []error{
		sarama.ErrInvalidPartition, sarama.ErrTransactionNotReady, sarama.ErrOutOfBrokers, sarama.ErrClosedClient,
		sarama.ErrNotConnected, sarama.ErrBrokerNotFound, breaker.ErrBreakerOpen, broker.ErrUnsupported,
	} {
		if errors.Is(err, own) {
			return true
		}
	}
	return errors.As(err, &config) || errors.As(err, &packet) || errors.As(err, &network) && network.Op == "dial"
}

// reached adds to a client's error the port's word for it.
func reached(err error) error {
	var network *net.OpError
	switch {
	case err == nil:
		return nil
	case errors.Is(err, sarama.ErrSASLAuthenticationFailed), errors.Is(err, sarama.ErrTopicAuthorizationFailed),
		errors.Is(err, sarama.ErrGroupAuthorizationFailed), errors.Is(err, sarama.ErrClusterAuthorizationFailed),
		errors.Is(err, sarama.ErrTransactionalIDAuthorizationFailed), errors.Is(err, sarama.ErrUnsupportedSASLMechanism),
		errors.Is(err, sarama.ErrIllegalSASLState):
		return fmt.Errorf("%w: %w", broker.ErrDenied, err)
	case errors.Is(err, sarama.ErrUnknownTopicOrPartition):
		return fmt.Errorf("%w: %w", broker.ErrNotFound, err)
	case errors.Is(err, sarama.ErrOutOfBrokers), errors.Is(err, io.EOF), errors.As(err, &network):
		return fmt.Errorf("%w: %w", broker.ErrUnreachable, err)
	default:
		return err
	}
}
