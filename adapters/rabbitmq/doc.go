// SPDX-License-Identifier: Apache-2.0

// Package rabbitmq puts RabbitMQ behind the port, through rabbitmq/amqp091-go.
//
//	engine, err := rabbitmq.Open(ctx, rabbitmq.Config{Address: "127.0.0.1:5672", Queue: "quorum"})
//
// The profile is the one of the version that the server reports and of the queue type
// that was asked for. Nothing of the client is hidden, and nothing is repaired:
//
//   - Every producer and every consumer has a connection and a channel of its own. The
//     client's automatic recovery is off. A producer opens a new channel, and a new
//     connection if it must, at the next Publish; a consumer that lost its channel is dead.
//   - A publish is acked by a basic.ack frame and nacked by a basic.nack frame. What is
//     unanswered when the channel ends is unknown, and its answer is closed. A returned
//     message is returned although an ack follows. See window.go and outcome.go.
//   - The client hands confirms over in the order of the delivery tags: one late confirm
//     delays the answers of all later ones.
//   - basic.ack, nack and reject have no answer: a nil result is accepted only. A tag that
//     the channel does not know closes it (406) and everything unsettled on it comes back.
//     Tokens of another channel are sent as they are.
//   - Deliveries wait in the client's own buffer. When the connection or the channel ends,
//     the client drops what nobody has received yet, and the broker gives it out again.
//   - A publish may block without a deadline while the broker blocks publishers: the
//     client's writes know no context. Close and Abandon cut the socket underneath.
//
// What cannot be read back over AMQP is known of what this engine declared and of nothing
// else: an overflow policy (elsewhere a nack is unknown), a queue's consumer timeout.
// What the broker holds unacked can only be measured through the management API; without
// Config.Admin a Depth leaves InFlight Unmeasured.
//
// Public rules: https://www.rabbitmq.com/docs/confirms, /docs/consumers, /docs/quorum-queues,
// /docs/dlx, /docs/heartbeats. Read next: open.go, producer.go, consumer.go.
package rabbitmq
