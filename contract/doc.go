// SPDX-License-Identifier: Apache-2.0

// Package contract says what is promised: by a broker through its Profile, by a
// workload through its Claims and Expectations. All of it is plain data.
//
// A Profile belongs to broker x client x version x configuration, never to a product: a
// quorum queue is not a classic one, LocalStack is not SQS. Capabilities are checked
// both ways by the conformance suite in broker/brokertest: what a profile can do must
// work, what it cannot must answer broker.ErrUnsupported.
//
// Facts are counted by the checkers whatever is claimed; a Claim decides which of them
// are violations. The zero value of Verdict, Class and Model is a bug, not a pass.
package contract
