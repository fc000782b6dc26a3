// SPDX-License-Identifier: Apache-2.0

// Package profiles is the one list of the profiles that are known: what each broker,
// in each version and configuration and through one client, was found to do. It is plain
// data and imports only contract.
//
// The reference engine behaves as a profile says; an adapter reports the profile of the
// version that its server reports:
//
//	p, exact, err := profiles.For("rabbitmq", "4.0.5", "quorum")
//
// The figures were measured against RabbitMQ 3.10.8 and 4.0.5 (amqp091-go), Kafka 4.1.0
// (sarama) and LocalStack 4.9.0 (aws-sdk-go-v2), one node each. The rules of SQS itself
// are those of its public documentation and were not measured. Where a broker does
// something that has no field in contract.Profile, a Knob carries it; the knobs have
// named constants here. An adapter that talks to a broker with other settings (a shorter
// tick, another session timeout) changes its copy of the profile.
//
// A new profile is one function in its product's file and one line in All.
package profiles
