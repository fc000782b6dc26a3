// SPDX-License-Identifier: Apache-2.0

// Package broker is the port between the runner and an engine. It was drawn from three
// unlike brokers at once: a log (Kafka), a lease queue (SQS) and a push queue (RabbitMQ).
//
// The port is wide and honest. There are no optional interfaces, because everything is
// wrapped by the recorder and by request faults. What an engine cannot do answers
// ErrUnsupported, and its Profile said so before.
//
//	runner -> recorder -> request faults -> Engine (inmem/drive or an adapter)
//
// One vocabulary for ownership: every Delivery carries a Token, and a Settlement hands
// the token back. A token is never checked on this side of the port; what a broker does
// with a stale one is part of what is tested.
//
//	term here        Kafka (sarama)               SQS              RabbitMQ
//	destination      topic                        queue            queue or exchange
//	Token            generation, member, offset   receipt handle   connection epoch, channel, delivery tag
//	Commit           offset commit                -                -
//	Ack              -                            DeleteMessage    basic.ack
//	Requeue          -                            visibility to 0  basic.nack or reject, requeue
//	Reject           -                            -                basic.reject, no requeue
//	Extend           -                            ChangeMessageVisibility  -
//	Abandon          sockets cut                  polls dropped    sockets cut
//
// See broker/brokertest for the conformance suite that every engine passes.
package broker
