// SPDX-License-Identifier: Apache-2.0

package msg

import "time"

// AnyPartition leaves the partition to the key.
const AnyPartition int32 = -1

// Message is what a producer hands to the port. Zero fields mean "not asked for"; what
// an engine cannot do with a field that is set is broker.ErrUnsupported.
type Message struct {
	// To is the destination: a topic, a queue, or an exchange.
	To string
	// ID, Attempt (from 1) and Intended travel in the envelope. Intended is the offset
	// from the start of the run at which an open-loop schedule wanted the message sent.
	ID       ID
	Attempt  uint16
	Intended time.Duration
	// Key is the ordering key: the record key of a log, the message group of a FIFO queue.
	Key string
	// Route is the routing key of an exchange; empty means the destination itself.
	Route string
	// Dedup is the deduplication id of a FIFO queue; empty means the id's text.
	Dedup string
	// Partition is AnyPartition unless the workload pins it. On queues it is ignored.
	Partition int32
	Body      []byte
	// Delay and TTL are zero unless set; whole milliseconds survive every broker.
	Delay, TTL time.Duration
	// Priority is 0 (lowest) to 255.
	Priority uint8
	// Transient asks a broker that tells them apart not to store the message on disk.
	Transient bool
	// Headers are the workload's own; the envelope is added beside them.
	Headers map[string]string
}
