// SPDX-License-Identifier: Apache-2.0

// Package probe asks a broker, in its own protocol, whether a client could work with it.
//
// A port that accepts connections proves little: Kafka listens long before its broker has
// joined the quorum, and a frozen process still accepts. Each probe here is one
// conversation of a few bytes, without a client library, so that providers depend on none.
// A probe makes one try; the caller repeats it. The context bounds dialling and reading.
//
// Probes speak plain text without authentication, which is what the brokers started by
// the providers offer on loopback.
package probe
