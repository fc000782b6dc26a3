// SPDX-License-Identifier: Apache-2.0

// Package kafka puts Apache Kafka behind the port, through IBM/sarama.
//
//	engine, err := kafka.Open(ctx, kafka.Config{Addresses: []string{"127.0.0.1:9092"}})
//
// Everything that decides what a guarantee is worth is set, never left to a default of
// the client, and shown by Settings: acks, retries, the open requests of a connection,
// the position a group starts from, sessions and heartbeats, long polls.
//
//   - Answers. An error is Rejected only where the record certainly reached no log: the
//     broker's refusal of the only attempt, or a connection that never opened. Every
//     other error after a send is Unknown. acks=0 is accepted-only, without an offset.
//   - Commits. A session's own Commit has no result, so a commit is an OffsetCommit
//     request to the group's coordinator, on the group's own connection, with the member
//     and generation that received the record. Fenced commits wrap broker.ErrStale.
//     As through a session, a position is never moved back by a commit, only by Seek.
//   - Rebalances never wait for a slow caller. What a lost partition still had in the
//     consumer's buffer is dropped; what Receive returned before stays with the caller,
//     whose commits are then fenced.
//   - Seek reads the partition anew inside the session, without a rebalance.
//   - Abandon cuts the sockets under the client: the broker sees a member that falls
//     silent, and waits for its session to end. Close leaves the group.
//
// The group protocol is the classic one; the client has no member of KIP-848. Start
// with open.go, then producer.go and consumer.go; classes are decided in class.go.
package kafka
