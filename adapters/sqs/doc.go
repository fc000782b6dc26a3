// SPDX-License-Identifier: Apache-2.0

// Package sqs puts Amazon SQS, or LocalStack in its place, behind the port, through
// aws-sdk-go-v2/service/sqs.
//
//	engine, err := sqs.Open(ctx, sqs.Config{Endpoint: "http://127.0.0.1:4566", Queue: "fifo"})
//
// The profile is LocalStack's of the version that the endpoint reports, or that of SQS
// itself. Nothing of the client is hidden, and nothing is repaired:
//
//   - Credentials and region are given, never looked up in the SDK's default chain.
//   - The SDK's retries are off. A producer that asks for them gets them, and its receipts
//     count the attempts.
//   - Sends, deletes and visibility changes are batch requests, and every entry has its
//     own result. An entry that the answer does not mention is unknown. Only an error of
//     the service (a failed entry, a 4xx) rejects; see outcome.go.
//   - A receive is one long poll, and it is never cancelled: a cancelled poll would swallow
//     the next message for one visibility timeout. Waits are rounded up to whole seconds.
//   - A delivery's lease is the queue's visibility timeout, and it may have begun when the
//     request was sent: Delivery.Requested is the age of that.
//   - A FIFO queue is named with the suffix .fifo on the wire only. Batches of a FIFO
//     producer are sent one after the other, those of a standard one side by side. A message
//     without a key is a message group of its own.
//   - Every producer and consumer has its own sockets, so that Abandon can cut them. Leases
//     are not touched: nobody tells SQS that a consumer died.
//
// Public rules: https://docs.aws.amazon.com/AWSSimpleQueueService/latest/SQSDeveloperGuide/
// (visibility timeout, dead-letter queues, FIFO queues, long polling). Read next: open.go,
// producer.go, consumer.go.
package sqs
